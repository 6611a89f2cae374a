package conformance

import (
	"encoding/json"
	"net/http"
	"strings"
)

func resourceMutations(t Target) []mutation {
	return []mutation{
		{name: "a workflow without a name", breaks: []string{"2-workflow-name"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.in(t.Workflow) {
				c.edit(func(v map[string]any) { delete(v, "name") })
			}
		}},
		{name: "a schema entry whose hint is null", breaks: []string{"2-schema-entry"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") {
				c.edit(func(v map[string]any) {
					for _, f := range objects(v["fields"]) {
						if f["type"] != "select" {
							f["format_hint"] = nil
						}
					}
				})
			}
		}},
		{name: "booleans that are texts", breaks: []string{"2-schema-booleans"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") {
				c.edit(func(v map[string]any) {
					if v["has_file_upload_fields"] == true {
						v["has_file_upload_fields"] = "true"
					}
				})
			}
		}},
		{name: "a mixed workflow said to have files only", breaks: []string{"2-schema-booleans-true"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.in(t.MixedWorkflow) {
				c.edit(func(v map[string]any) { v["has_only_file_upload_fields"] = true })
			}
		}},
		{name: "an option that is none", breaks: []string{"2-select-options"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") {
				c.edit(func(v map[string]any) {
					for _, f := range objects(v["fields"]) {
						if list, ok := f["format_hint"].([]any); ok {
							f["format_hint"] = append(list, "geometry")
						}
					}
				})
			}
		}},
		{name: "an item without fields is taken", breaks: []string{"2-fields-required"}, answer: func(c *call) {
			if c.creates() && string(c.sent) == `{"tasks":[{}]}` {
				c.result()
			}
		}},
		{name: "an unknown field is not named", breaks: []string{"2-unknown-field"}, answer: func(c *call) {
			if items := c.items(); c.creates() && len(items) == 2 && len(items[1]) == 3 && items[1][unknownField] != nil {
				unname(c)
			}
		}},
		{name: "counts that are texts", breaks: []string{"2-result-types"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "-x" {
				c.edit(func(v map[string]any) { v["success_count"] = "1" })
			}
		}},
		{name: "errors null when there are none", breaks: []string{"2-result-arrays"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "-" && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { v["errors"] = nil })
			}
		}},
		{name: "an error item without a message", breaks: []string{"2-error-item"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "-x" {
				c.edit(func(v map[string]any) { delete(objects(v["errors"])[0], "message") })
			}
		}},
		{name: "a task id that is a text", breaks: []string{"2-task-fields"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/*") && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { v["id"] = string(v["id"].(json.Number)) })
			}
		}},
		{name: "times without a zone", breaks: []string{"2-task-times"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/*") && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { v["updated_at"] = strings.TrimSuffix(v["updated_at"].(string), "Z") })
			}
		}},
		{name: "list elements without a summary", breaks: []string{"2-list-element"}, answer: func(c *call) {
			if c.lists() && c.query.Get("limit") == "20" && !c.query.Has("status") {
				c.edit(func(v map[string]any) { delete(objects(v["tasks"])[0], "node_summary") })
			}
		}},
		{name: "has_more that is a text", breaks: []string{"2-page-fields"}, answer: func(c *call) {
			if c.lists() && c.query.Get("limit") == "1" && !c.query.Has("cursor") {
				c.edit(func(v map[string]any) {
					if v["has_more"] == true {
						v["has_more"] = "true"
					}
				})
			}
		}},
		{name: "a short key", breaks: []string{"2-key-format"}, target: func(t *Target) { t.RevokedKey = "pk_live_00ff" }, alone: []string{"2-key", "5.3"}},
		{name: "uploads expire in another zone", breaks: []string{"2-upload-fields"}, answer: func(c *call) {
			if c.inits() && c.status == http.StatusAccepted && string(c.sent) == "{}" {
				c.edit(func(v map[string]any) { v["expires_at"] = elsewhere(v["expires_at"], 0) })
			}
		}},
	}
}

// unname hides which field the errors are about.
func unname(c *call) {
	c.edit(func(v map[string]any) {
		for _, e := range objects(v["errors"]) {
			e["field_name"] = ""
		}
	})
}

func stateMutations(t Target) []mutation {
	summary := func(change func(s map[string]any)) func(*call) {
		return func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/*") && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { change(v["node_summary"].(map[string]any)) })
			}
		}
	}
	return []mutation{
		{name: "a workflow status of its own", breaks: []string{"3-workflow-statuses"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.in(t.Workflow) && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { v["status"] = "RUNNING" })
			}
		}},
		{name: "a task status of its own", breaks: []string{"3-task-statuses"}, answer: func(c *call) {
			if c.lists() && c.query.Get("limit") == "50" {
				c.edit(func(v map[string]any) { objects(v["tasks"])[0]["status"] = "open" })
			}
		}},
		{name: "na nodes in the total", breaks: []string{"3-buckets"}, answer: summary(func(s map[string]any) { s["total"] = number(s["total"]) + 1 })},
		{name: "new tasks with finished nodes", breaks: []string{"3-buckets-new"}, answer: summary(func(s map[string]any) {
			s["total"], s["finished"] = number(s["total"])+1, 1
		})},
		{name: "PAUSED takes no tasks", breaks: []string{"3-paused-accepts"}, answer: func(c *call) {
			if c.creates() && c.in(t.PausedWorkflow) {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}},
	}
}

func endpointMutations(t Target) []mutation {
	return []mutation{
		{name: "health is fine", breaks: []string{"4-health"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/health") && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { v["status"] = "fine" })
			}
		}},
		{name: "a workflow with 203", breaks: []string{"4-workflow", "9-statuses"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.in(t.FolderWorkflow) {
				c.status = http.StatusNonAuthoritativeInfo
			}
		}},
		{name: "a schema without fields", breaks: []string{"4-schema"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.in(t.CompletedWorkflow) {
				c.edit(func(v map[string]any) { delete(v, "fields") })
			}
		}},
		{name: "errors without an error", breaks: []string{"4-create"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "--" && c.r.Header.Get("Idempotency-Key") == "" {
				c.edit(func(v map[string]any) {
					if isNumber(v["success_count"], 2) {
						v["error_count"] = 1
					}
				})
			}
		}},
		{name: "the newest task is not listed", breaks: []string{"4-list"}, answer: func(c *call) {
			if c.lists() && c.query.Get("limit") == "200" && !c.query.Has("status") {
				c.edit(func(v map[string]any) { objects(v["tasks"])[0]["id"] = 0 })
			}
		}},
		{name: "another task's id", breaks: []string{"4-task"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/tasks/*") && c.status == http.StatusOK {
				c.edit(func(v map[string]any) { v["id"] = number(v["id"]) + 1 })
			}
		}},
		{name: "foreign schemas are shown", breaks: []string{"4-foreign"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.in(t.ForeignWorkflow) {
				c.say(http.StatusOK, map[string]any{})
			}
		}},
	}
}
