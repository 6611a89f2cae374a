package conformance

import (
	"net/http"
)

func createMutations(t Target) []mutation {
	return []mutation{
		{name: "a schema entry that is no field", breaks: []string{"4.1.1-names-are-keys"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.in(t.Workflow) && c.status == http.StatusOK {
				c.edit(func(v map[string]any) {
					v["fields"] = append(v["fields"].([]any), map[string]any{
						"name": "made_up", "title": "Made up", "type": "short_text", "required": false, "description": "",
						"format_hint": "text", "json_schema": map[string]any{}, "example": "x",
					})
				})
			}
		}},
		{name: "DRAFT refused without a reason", breaks: []string{"4.1.2-draft"}, answer: func(c *call) {
			if c.creates() && c.in(t.DraftWorkflow) {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}},
		{name: "COMPLETED takes tasks", breaks: []string{"4.1.2-completed"}, answer: func(c *call) {
			if c.creates() && c.in(t.CompletedWorkflow) {
				c.result()
			}
		}},
		{name: "ARCHIVED is a conflict", breaks: []string{"4.1.2-archived"}, answer: func(c *call) {
			if c.creates() && c.in(t.ArchivedWorkflow) {
				c.refuse(http.StatusConflict, "api_error")
			}
		}},
		{name: "tasks by JSON despite files", breaks: []string{"4.1.3-file-fields"}, answer: func(c *call) {
			if c.creates() && c.in(t.FolderWorkflow) {
				c.result()
			}
		}},
		{name: "some bad items fail all", breaks: []string{"4.1.4-partial-success"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "x-x" {
				c.edit(func(v map[string]any) { v["error"], v["message"] = "validation_error", "some failed" })
				c.status = http.StatusUnprocessableEntity
			}
		}},
		{name: "one error too few", breaks: []string{"4.1.4-counts"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "-xx-x" {
				c.edit(func(v map[string]any) { v["error_count"] = 2 })
			}
		}},
		{name: "positions from one", breaks: []string{"4.1.4-index"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "-x--x" {
				c.edit(func(v map[string]any) {
					for _, e := range objects(v["errors"]) {
						e["index"] = number(e["index"]) + 1
					}
				})
			}
		}},
		{name: "ids of no tasks", breaks: []string{"4.1.4-task-ids"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "x-" {
				c.edit(func(v map[string]any) { v["task_ids"] = []any{nobody - 1} })
			}
		}},
		{name: "200 when every task fails", breaks: []string{"4.1.4-all-fail"}, answer: func(c *call) {
			if c.creates() && c.wrong() == "xx" {
				c.status = http.StatusOK
			}
		}},
		{name: "a title is not named", breaks: []string{"4.1.5-title"}, answer: func(c *call) {
			if items := c.items(); c.creates() && len(items) == 2 && items[1]["The question"] != nil {
				unname(c)
			}
		}},
		{name: "a missing field is not named", breaks: []string{"4.1.5-missing"}, answer: func(c *call) {
			if items := c.items(); c.creates() && len(items) == 2 && items[1]["question"] == nil && items[1]["topic"] != nil {
				unname(c)
			}
		}},
		{name: "health wants a key", breaks: []string{"4-health", "4.1.6-first-steps", "9-statuses"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/health") && c.key() == "" {
				c.refuse(http.StatusUnauthorized, "missing_api_key")
			}
		}, alone: []string{"4", "9-statuses"}},
		{name: "a workflow that is not there", breaks: []string{"4.1.6-wrong-id", "7-404-workflow"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*") && c.in(nobody) {
				c.say(http.StatusOK, map[string]any{})
			}
		}, alone: []string{"4", "7"}},
	}
}
