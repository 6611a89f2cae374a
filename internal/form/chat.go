package form

import "slices"

// The roles of a message (spec 2, Message object).
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

var roles = []string{roleSystem, roleUser, roleAssistant, roleTool}

// chatKind is chat: an array of messages as spec 2 has them, further keys allowed:
//
//	role          one of system, user, assistant, tool
//	content       a text, an array of parts (objects with a "type"; a "text" part has a "text"), or null; only an
//	              assistant message with tool calls may go without
//	tool_call_id  a text
//	tool_calls    an array of flat {"id"?, "name", "arguments"?} or nested {"id"?, "type":"function", "function":{"name",
//	              "arguments"?}} calls; arguments are an object or a text
//	thinking      an array of objects
//
// null stands for an absent key. rules.min_items and max_items bound the messages; rules.last_role is the last one's.
type chatKind struct{ rules Rules }

func newChat(f *Field) kind { return chatKind{f.Rules} }

func (k chatKind) check(v *value, c *check) {
	if v.shape != array {
		c.expect("an array of messages", v)
		return
	}
	c.count(len(v.items), k.rules.MinItems, k.rules.MaxItems, "message", "messages")
	last := ""
	for i := range v.items {
		if c.full() {
			return
		}
		last = message(&v.items[i], c.item(i))
	}
	if k.rules.LastRole != "" && last != k.rules.LastRole {
		c.fail("the last message must have the role %s, got %s", quote(k.rules.LastRole), quote(last))
	}
}

// message checks one message and returns its role.
func message(m *value, c *check) string {
	if m.shape != object {
		c.expect(`a message: an object with "role" and "content"`, m)
		return ""
	}
	role, _ := m.get("role")
	if role.shape != text || !slices.Contains(roles, role.text) {
		c.at("role").expect("the role "+list(roles), &role)
		return ""
	}
	calls, _ := m.get("tool_calls")
	toolCalls(&calls, c.at("tool_calls"))
	if body, _ := m.get("content"); body.shape != null {
		content(&body, c.at("content"))
	} else if role.text != roleAssistant || len(calls.items) == 0 {
		c.at("content").fail("content is missing; only an assistant message with tool_calls may go without")
	}
	if id, _ := m.get("tool_call_id"); id.shape != null && id.shape != text {
		c.at("tool_call_id").expect("a text", &id)
	}
	thinking, _ := m.get("thinking")
	if thinking.shape != null && thinking.shape != array {
		c.at("thinking").expect("an array of objects", &thinking)
	}
	for i := range thinking.items {
		if block := &thinking.items[i]; block.shape != object {
			c.at("thinking").item(i).expect("an object", block)
		}
	}
	return role.text
}

func content(v *value, c *check) {
	switch v.shape {
	case text:
	case array:
		for i := range v.items {
			part, at := &v.items[i], c.item(i)
			typ, _ := part.get("type")
			if part.shape != object || typ.shape != text || typ.text == "" {
				at.expect(`a content part: an object with a "type"`, part)
				continue
			}
			if body, _ := part.get("text"); typ.text == "text" && body.shape != text {
				at.at("text").expect("the text of the part", &body)
			}
		}
	case null, boolean, number, object:
		c.expect("a text, an array of content parts or null", v)
	}
}

func toolCalls(v *value, c *check) {
	if v.shape != null && v.shape != array {
		c.expect("an array of tool calls", v)
	}
	for i := range v.items {
		call, at := v.items[i], c.item(i)
		if call.shape != object {
			at.expect(`a tool call: an object with a "name"`, &call)
			continue
		}
		if id, _ := call.get("id"); id.shape != null && id.shape != text {
			at.at("id").expect("a text", &id)
		}
		if function, nested := call.get("function"); nested && function.shape != null {
			if typ, _ := call.get("type"); typ.shape != null && typ.text != "function" {
				at.at("type").expect(`"function"`, &typ)
			}
			call, at = function, at.at("function")
		}
		if name, _ := call.get("name"); name.shape != text || name.text == "" {
			at.at("name").expect("the name of the tool", &name)
		}
		if args, _ := call.get("arguments"); args.shape != null && args.shape != object && args.shape != text {
			at.at("arguments").expect("an object or a JSON-encoded text", &args)
		}
	}
}

func (k chatKind) define(d *definition) {
	d.bounds("items", k.rules.MinItems, k.rules.MaxItems)
	if r := k.rules.LastRole; r != "" && !slices.Contains(roles, r) {
		d.fail("/rules/last_role", "%s is not a role; expected %s", quote(r), list(roles))
	}
}

func (k chatKind) hint() any {
	s := "array of messages" + span(k.rules.MinItems, k.rules.MaxItems, "messages")
	if k.rules.LastRole != "" {
		s += ", the last one from " + k.rules.LastRole
	}
	return s
}

func (k chatKind) schema() fragment {
	object := fragment{"type": "object"}
	message := fragment{
		"type": "object", "required": []string{"role"},
		"properties": fragment{
			"role":         fragment{"type": "string", "enum": roles},
			"content":      fragment{"type": []string{"string", "array", "null"}, "items": object},
			"tool_call_id": fragment{"type": []string{"string", "null"}},
			"tool_calls":   fragment{"type": []string{"array", "null"}, "items": object},
			"thinking":     fragment{"type": []string{"array", "null"}, "items": object},
		},
	}
	return fragment{"type": "array", "items": message}.set("minItems", k.rules.MinItems).set("maxItems", k.rules.MaxItems)
}

func (k chatKind) example(lookup) any {
	n := max(1, limit(k.rules.MinItems, min(2, limit(k.rules.MaxItems, 2))))
	if n > maxExample {
		return nil
	}
	messages := []any{}
	for i := range n {
		role := []string{roleUser, roleAssistant}[i%2]
		if i == n-1 && k.rules.LastRole != "" {
			role = k.rules.LastRole
		}
		messages = append(messages, map[string]string{"role": role, "content": "Hello"})
	}
	return messages
}
