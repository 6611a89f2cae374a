package form

import (
	"bytes"
	"encoding/json"
	"slices"
)

// An example shows what a value looks like. What rules can ask for, in a draft without any bound, would otherwise be
// written out, however large.
const (
	// maxExample is the largest example, in bytes of its JSON.
	maxExample = 8 << 10
	// maxExamples is the largest size of all examples of one form.
	maxExamples = 512 << 10
)

// SchemaEntry describes one seeded field to integrators (spec 2: field schema entry).
type SchemaEntry struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Type        string `json:"type"`
	Required    bool   `json:"required"`
	Description string `json:"description"`
	// FormatHint is a []string exactly when the set of values is closed, else a short string.
	FormatHint any `json:"format_hint"`
	// JSONSchema is a JSON Schema 2020-12 fragment for a value that is not null. The rules that it cannot say, such
	// as counts of words, are not in it.
	JSONSchema json.RawMessage `json:"json_schema"`
	// Example passes CheckSeed together with the other examples; null when no value within maxExample was found that
	// does, or the examples before it have taken up maxExamples.
	Example json.RawMessage `json:"example"`
}

// Schema describes the seeded fields in form order, as the schema endpoint shows them (spec 2).
func (f *Form) Schema() []SchemaEntry {
	entries := []SchemaEntry{}
	examples := Values{}
	env := newEnv(examples, f.static) // finds what the loop adds to examples
	room := maxExamples
	f.each(Seeded, func(i int, field *Field) {
		k := f.compiled[i].kind
		schema := k.schema()
		if field.Description != "" {
			schema["description"] = field.Description
		}
		example := f.example(i, env, room)
		examples[field.Name] = example
		room -= len(example)
		entries = append(entries, SchemaEntry{
			Name: field.Name, Title: field.label(), Type: string(field.Type), Required: field.Required,
			Description: field.Description, FormatHint: k.hint(), JSONSchema: marshal(schema), Example: example,
		})
	})
	return entries
}

// example finds a value that fits beside the known ones and into the room: the kind's own, or the placeholder.
func (f *Form) example(i int, env *env, room int) json.RawMessage {
	field := &f.fields[i]
	candidates := []json.RawMessage{marshal(f.compiled[i].kind.example(env.find)), marshal(field.Placeholder)}
	if other := field.Rules.EqualsField; other != "" {
		if raw, ok := env.raw(other); ok {
			candidates = append([]json.RawMessage{raw}, candidates...)
		}
	}
	for _, raw := range candidates {
		if len(raw) > min(maxExample, room) {
			continue
		}
		a := f.read(i, raw, false)
		if a.fault == "" && !f.unanswered(i, &a.value) && len(f.validate(i, &a, env.find, NewBudget())) == 0 {
			return raw
		}
	}
	return json.RawMessage("null")
}

// repeated is an example with the least number of items, all alike; nil beyond maxExample.
func repeated(one any, least *int) any {
	n := max(1, limit(least, 1))
	if n > maxExample/len(marshal(one)) {
		return nil
	}
	return slices.Repeat([]any{one}, n)
}

// marshal encodes what this package made itself, without escaping <, > and &.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
