package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// in is a path of a workflow.
func in(workflow int64, rest string) string { return fmt.Sprintf("/workflows/%d%s", workflow, rest) }

// tasks is the path of the tasks of the workflow under test.
func (c *C) tasks(rest string) string { return in(c.Workflow, "/tasks"+rest) }

// taskPath is the path of one of them.
func (c *C) taskPath(id int64) string { return c.tasks(fmt.Sprintf("/%d", id)) }

// fields are the values of one task.
type fields = map[string]any

// batch is the body of a creation.
func batch(items ...fields) map[string]any {
	tasks := make([]any, len(items))
	for i, f := range items {
		tasks[i] = map[string]any{"fields": f}
	}
	return map[string]any{"tasks": tasks}
}

// unknownField is a name that no form has.
const unknownField = "conformance_no_such_field"

// bad is an item that fails in every workflow.
func bad() fields { return fields{unknownField: "x"} }

// item are the fields of a task that can be created.
func (c *C) item() fields {
	if c.Item == nil {
		c.Item = c.example(c.schema(c.Workflow))
		c.runner.target.Item = c.Item
	}
	return maps.Clone(c.Item)
}

// in returns values with one for the field.
func (f field) in(values fields, value any) fields {
	out := maps.Clone(values)
	out[f.Name] = value
	return out
}

// items are n of them.
func (c *C) items(n int) []fields { return slices.Repeat([]fields{c.item()}, n) }

// create sends a creation.
func (c *C) create(items ...fields) *answer { return c.post(c.tasks(""), batch(items...)) }

// created makes n tasks and returns their ids.
func (c *C) created(n int) []int64 {
	a := c.create(c.items(n)...)
	c.status(a, http.StatusOK)
	ids := numbers(a.object(c)["task_ids"])
	if len(ids) != n {
		c.fail(a, fmt.Sprintf("%d task_ids", n), "%d", len(ids))
	}
	return ids
}

// field is one entry of a schema.
type field struct {
	Name, Title, Type string
	Required          bool
	Hint, Example     any
}

// options are the values of a closed set.
func (f field) options() []any {
	list, _ := f.Hint.([]any)
	return list
}

func (f field) file() bool { return f.Type == "file_upload" }

// schema returns the fields that a workflow's tasks take.
func (c *C) schema(workflow int64) []field {
	a := c.get(in(workflow, "/schema"))
	c.status(a, http.StatusOK)
	return entries(a.object(c))
}

func entries(schema map[string]any) []field {
	var out []field
	for _, e := range objects(schema["fields"]) {
		f := field{Hint: e["format_hint"], Example: e["example"]}
		f.Name, _ = e["name"].(string)
		f.Title, _ = e["title"].(string)
		f.Type, _ = e["type"].(string)
		f.Required, _ = e["required"].(bool)
		out = append(out, f)
	}
	return out
}

// example makes values from what the schema says: its examples, the first of
// a closed set, or a text. Files are left to the caller.
func (c *C) example(schema []field) fields {
	out := fields{}
	for _, f := range schema {
		switch {
		case f.file():
		case f.Example != nil:
			out[f.Name] = f.Example
		case len(f.options()) > 0:
			out[f.Name] = f.options()[0]
		case f.Required:
			out[f.Name] = "conformance"
		}
	}
	return out
}

// find returns the first field of the workflow under test that suits; the
// check is skipped when there is none.
func (c *C) find(what string, suits func(field, []field) bool) field {
	schema := c.schema(c.Workflow)
	for _, f := range schema {
		if suits(f, schema) {
			return f
		}
	}
	c.skip("needs --workflow with %s", what)
	return field{}
}
