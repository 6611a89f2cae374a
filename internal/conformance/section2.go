package conformance

import (
	"maps"
	"net/http"
	"regexp"
)

func resourceChecks() []Check {
	return []Check{
		{
			ID: "2-workflow-name", Section: "2", Sentence: "name | string | returned by the workflow metadata endpoint",
			Does: "GET the workflow",
			run: func(c *C) {
				a := c.get(in(c.Workflow, ""))
				c.has(a, "", a.object(c), "name", text)
			},
		}, {
			ID: "2-schema-entry", Section: "2", Sentence: "Field schema entry: name string, title string, format_hint string/list",
			Does: "GET the schema and look at every entry",
			run: func(c *C) {
				a := c.get(in(c.Workflow, "/schema"))
				list := objects(a.object(c)["fields"])
				if len(list) == 0 {
					c.skip("needs --workflow with a field that is given at creation")
				}
				for _, e := range list {
					c.has(a, "fields[]", e, "name", text)
					c.has(a, "fields[]", e, "title", text)
					c.has(a, "fields[]", e, "format_hint", textOrList)
				}
			},
		}, {
			ID: "2-schema-booleans", Section: "2",
			Sentence: "The schema response also carries two booleans: has_file_upload_fields and has_only_file_upload_fields.",
			Does:     "GET the schema of every workflow given",
			run: func(c *C) {
				for _, id := range c.own() {
					a := c.get(in(id, "/schema"))
					c.has(a, "", a.object(c), "has_file_upload_fields", boolean)
					c.has(a, "", a.object(c), "has_only_file_upload_fields", boolean)
				}
			},
		}, {
			ID: "2-schema-booleans-true", Section: "2",
			Sentence: "has_file_upload_fields, has_only_file_upload_fields (workflow level)",
			Does:     "compare both with the types of the fields, for every workflow given",
			run:      checkBooleans,
		}, {
			ID: "2-select-options", Section: "2", Sentence: "format_hint … for select fields, lists the valid options",
			Does: "find a select field, create a task with each option, and one with another value",
			run:  checkOptions,
		}, {
			ID: "2-fields-required", Section: "2", Sentence: "fields | object | yes | maps field name to value",
			Does: "create with an item without fields, and with fields that are no object",
			run: func(c *C) {
				for _, doc := range []string{`{"tasks":[{}]}`, `{"tasks":[{"fields":[]}]}`, `{"tasks":[{"fields":"x"}]}`} {
					c.refused(c.post(c.tasks(""), []byte(doc)), http.StatusUnprocessableEntity, "validation_error")
				}
			},
		}, {
			ID: "2-unknown-field", Section: "2", Sentence: "unknown field names … produce per-item errors",
			Does: "create a good item and one with an unknown field",
			run: func(c *C) {
				a := c.create(c.item(), plus(c.item(), unknownField))
				c.status(a, http.StatusOK)
				c.itemError(a, 1, unknownField)
			},
		}, {
			ID: "2-result-types", Section: "2",
			Sentence: "success_count integer, error_count integer, errors array of error item, task_ids array of integer",
			Does:     "create a good and a bad item",
			run: func(c *C) {
				a := c.create(c.item(), bad())
				v := a.object(c)
				c.has(a, "", v, "success_count", integer)
				c.has(a, "", v, "error_count", integer)
				c.has(a, "", v, "errors", array)
				c.has(a, "", v, "task_ids", array)
				for _, id := range numbers(v["task_ids"]) {
					if id < 0 {
						c.fail(a, "integers in task_ids", "%s", show(v["task_ids"]))
					}
				}
			},
		}, {
			ID: "2-result-arrays", Section: "2", Sentence: "errors | array; task_ids | array",
			Does: "create a good item alone, and a bad item alone: an empty array is an array, too",
			run: func(c *C) {
				for _, item := range []fields{c.item(), bad()} {
					a := c.create(item)
					c.has(a, "", a.object(c), "errors", array)
					c.has(a, "", a.object(c), "task_ids", array)
				}
			},
		}, {
			ID: "2-error-item", Section: "2",
			Sentence: "Error item: index (integer, zero-based …), field_name (string), message (string).",
			Does:     "create a good and a bad item",
			run: func(c *C) {
				a := c.create(c.item(), bad())
				list := objects(a.object(c)["errors"])
				if len(list) == 0 {
					c.fail(a, "an error item", "none")
				}
				for _, e := range list {
					c.has(a, "errors[]", e, "index", integer)
					c.has(a, "errors[]", e, "field_name", text)
					c.has(a, "errors[]", e, "message", text)
				}
			},
		}, {
			ID: "2-task-fields", Section: "2",
			Sentence: "Task status: id integer, status string, node_summary object of integers total, finished, in_progress, pending",
			Does:     "create a task and GET it",
			run: func(c *C) {
				a := c.get(c.taskPath(c.created(1)[0]))
				c.taskFields(a, "", a.object(c))
			},
		}, {
			ID: "2-task-times", Section: "2", Sentence: "created_at, updated_at | string | ISO 8601 UTC timestamp",
			Does: "create a task, GET it and list it",
			run: func(c *C) {
				id := c.created(1)[0]
				a := c.get(c.taskPath(id))
				c.taskTimes(a, "", a.object(c))
				a = c.get(c.tasks("?limit=5"))
				for _, t := range objects(a.object(c)["tasks"]) {
					c.taskTimes(a, "tasks[]", t)
				}
			},
		}, {
			ID: "2-list-element", Section: "2", Sentence: "Task status (… each element of the list response)",
			Does: "create a task and list: every element is a task status",
			run: func(c *C) {
				c.created(1)
				a := c.get(c.tasks("?limit=20"))
				for _, t := range objects(a.object(c)["tasks"]) {
					c.taskFields(a, "tasks[]", t)
				}
			},
		}, {
			ID: "2-page-fields", Section: "2", Sentence: "tasks array; next_cursor string or null; has_more boolean",
			Does: "list a page",
			run: func(c *C) {
				a := c.get(c.tasks("?limit=1"))
				v := a.object(c)
				c.has(a, "", v, "tasks", array)
				c.has(a, "", v, "next_cursor", textOrNull)
				c.has(a, "", v, "has_more", boolean)
			},
		}, {
			ID: "2-key-format", Section: "2",
			Sentence: "value | literal prefix pk_live_ followed by 40 hexadecimal characters (48 characters in all)",
			Does:     "look at the keys given",
			run: func(c *C) {
				form := regexp.MustCompile(`^pk_live_[0-9a-fA-F]{40}$`)
				for _, k := range []string{c.Key, c.RevokedKey, c.ExpiredKey, c.RemovedCreatorKey, c.SpareKey} {
					if k != "" && !form.MatchString(k) {
						c.fail(nil, "pk_live_ and 40 hexadecimal characters", "a key of %d characters in another form", len(k))
					}
				}
			},
		},
	}
}

// plus is f with one more field.
func plus(f fields, name string) fields {
	out := maps.Clone(f)
	out[name] = "x"
	return out
}

func (c *C) taskFields(a *answer, where string, t map[string]any) {
	c.has(a, where, t, "id", integer)
	c.has(a, where, t, "status", text)
	c.has(a, where, t, "node_summary", object)
	summary, _ := t["node_summary"].(map[string]any)
	for _, name := range []string{"total", "finished", "in_progress", "pending"} {
		c.has(a, "node_summary", summary, name, integer)
	}
}

func (c *C) taskTimes(a *answer, where string, t map[string]any) {
	c.has(a, where, t, "created_at", timestamp)
	c.has(a, where, t, "updated_at", timestamp)
}

func checkBooleans(c *C) {
	typed := false
	for _, id := range c.own() {
		a := c.get(in(id, "/schema"))
		v := a.object(c)
		files, others := 0, 0
		for _, f := range entries(v) {
			typed = typed || f.Type != ""
			if f.file() {
				files++
			} else {
				others++
			}
		}
		if !typed {
			c.skip("the schema's entries carry no type to compare with")
		}
		c.equal(a, "has_file_upload_fields", files > 0, v["has_file_upload_fields"])
		c.equal(a, "has_only_file_upload_fields", files > 0 && others == 0, v["has_only_file_upload_fields"])
	}
}

func checkOptions(c *C) {
	f := c.find("a select field", func(f field, _ []field) bool { return f.Type == "select" })
	if len(f.options()) == 0 {
		c.fail(c.get(in(c.Workflow, "/schema")), "a list as format_hint of the select field "+f.Name, "%s", show(f.Hint))
	}
	var items []fields
	for _, option := range f.options() {
		items = append(items, f.in(c.item(), option))
	}
	a := c.create(append(items, f.in(c.item(), "conformance: no such option"))...)
	c.status(a, http.StatusOK)
	c.equal(a, "success_count", len(items), a.object(c)["success_count"])
	c.itemError(a, len(items), f.Name)
}

// itemError ends the check unless the result has an error for that item that
// names the field.
func (c *C) itemError(a *answer, index int, fieldName string) {
	for _, e := range objects(a.object(c)["errors"]) {
		if number(e["index"]) == int64(index) && e["field_name"] == fieldName {
			return
		}
	}
	c.fail(a, "an error item with index "+show(index)+" and field_name "+fieldName, "errors %s", show(a.object(c)["errors"]))
}

// ids are the ids of a page.
func (c *C) ids(a *answer) []int64 {
	var out []int64
	for _, t := range objects(a.object(c)["tasks"]) {
		out = append(out, number(t["id"]))
	}
	return out
}
