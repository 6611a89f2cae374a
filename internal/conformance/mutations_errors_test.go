package conformance

import (
	"fmt"
	"net/http"
	"strings"
)

func errorMutations(t Target) []mutation {
	anonymousSchema := func(c *call) bool {
		return c.is(http.MethodGet, "/workflows/*/schema") && c.key() == "" && c.status == http.StatusUnauthorized
	}
	return []mutation{
		{name: "a body that breaks the schema is malformed", breaks: []string{"7-422-schema"}, answer: func(c *call) {
			if c.creates() && string(c.sent) == `{"tasks":[7]}` {
				c.refuse(http.StatusBadRequest, "invalid_request")
			}
		}},
		{name: "schemas of workflows that are none", breaks: []string{"7-404-workflow"}, answer: func(c *call) {
			if c.is(http.MethodGet, "/workflows/*/schema") && c.in(nobody) && c.status == http.StatusNotFound {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}},
		{name: "a third key in errors", breaks: []string{"7-error-shape"}, answer: func(c *call) {
			if c.status == http.StatusNotFound {
				c.edit(func(v map[string]any) { v["details"] = []any{} })
			}
		}},
		{name: "errors as text", breaks: []string{"7-error-json"}, answer: func(c *call) {
			if c.status == http.StatusUnauthorized {
				c.header.Set("Content-Type", "text/plain")
			}
		}},
		{name: "a wait with every error", breaks: []string{"7-retry-after-only"}, answer: func(c *call) {
			if c.status == http.StatusNotFound {
				c.edit(func(v map[string]any) { v["retry_after"] = 1 })
			}
		}},
		{name: "a code of its own", breaks: []string{"7-codes"}, answer: func(c *call) {
			if anonymousSchema(c) && c.in(t.Workflow) {
				c.refuse(http.StatusUnauthorized, "who_are_you")
			}
		}},
		{name: "unauthorized for a missing key", breaks: []string{"7-table"}, answer: func(c *call) {
			if anonymousSchema(c) && c.in(t.Workflow) {
				c.refuse(http.StatusUnauthorized, "unauthorized")
			}
		}},
	}
}

func limitMutations(Target) []mutation {
	many := func(c *call, n int) bool { return len(c.sent) > 10_000 && len(c.sent) < maxBody && len(c.items()) == n }
	return []mutation{
		{name: "4,999 tasks at most", breaks: []string{"8-tasks-5000"}, answer: func(c *call) {
			if c.creates() && many(c, maxTasks) {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}, alone: []string{"8-tasks"}},
		{name: "5,001 tasks", breaks: []string{"8-tasks-5001"}, answer: func(c *call) {
			if c.creates() && many(c, maxTasks+1) {
				c.result()
			}
		}, alone: []string{"8-tasks"}},
		{name: "no task is fine", breaks: []string{"8-tasks-0"}, answer: func(c *call) {
			if c.creates() && string(c.sent) == `{"tasks":[]}` {
				c.result()
			}
		}},
		{name: "32 MB are too much", breaks: []string{"8-body-32mb"}, answer: func(c *call) {
			if len(c.sent) == maxBody {
				c.refuse(http.StatusRequestEntityTooLarge, "payload_too_large")
			}
		}, alone: []string{"8-body"}},
		{name: "32 MB and a byte", breaks: []string{"8-body-over"}, answer: func(c *call) {
			if c.creates() && len(c.sent) > maxBody {
				c.result()
			}
		}, alone: []string{"8-body"}},
		{name: "any init", breaks: []string{"8-body-over-upload"}, answer: func(c *call) {
			if c.inits() && len(c.sent) > maxBody {
				c.say(http.StatusAccepted, map[string]any{})
			}
		}, alone: []string{"8-body"}},
		{name: "an init of no task", breaks: []string{"8-upload-tasks"}, answer: func(c *call) {
			if c.inits() && string(c.sent) == `{"tasks":[]}` {
				c.say(http.StatusAccepted, map[string]any{})
			}
		}, alone: []string{"8-upload"}},
		{name: "an init of 4,999 tasks at most", breaks: []string{"8-upload-5000"}, answer: func(c *call) {
			if c.inits() && many(c, maxTasks) {
				c.refuse(http.StatusUnprocessableEntity, "validation_error")
			}
		}, alone: []string{"8-upload"}},
		{name: "pages of less than nothing", breaks: []string{"8-page-size"}, answer: func(c *call) {
			if c.lists() && c.query.Get("limit") == "-1" {
				c.say(http.StatusOK, map[string]any{"tasks": []any{}, "has_more": false, "next_cursor": nil})
			}
		}},
	}
}

func documentMutations(Target) []mutation {
	described := func(change func(v map[string]any)) func(*call) {
		return func(c *call) {
			if c.is(http.MethodGet, "/openapi.json") {
				c.edit(change)
			}
		}
	}
	page := func(path string, change func(c *call)) func(*call) {
		return func(c *call) {
			if c.is(http.MethodGet, path) {
				change(c)
			}
		}
	}
	return []mutation{
		{name: "a server without a version", breaks: []string{"9-prefix"}, answer: described(func(v map[string]any) {
			v["servers"] = []any{map[string]any{"url": "http://taskloom.test/api"}}
		})},
		{name: "Swagger 2.0", breaks: []string{"9-openapi"}, answer: described(func(v map[string]any) { v["openapi"] = "2.0" })},
		{name: "an operation that is not described", breaks: []string{"9-paths"}, answer: described(func(v map[string]any) {
			delete(v["paths"].(map[string]any), "/workflows/{workflow_id}/tasks/upload/{upload_id}/confirm")
		})},
		{name: "one scheme", breaks: []string{"9-schemes"}, answer: described(func(v map[string]any) {
			schemes := v["components"].(map[string]any)["securitySchemes"].(map[string]any)
			for name, s := range schemes {
				if fmt.Sprint(s.(map[string]any)["type"]) == "apiKey" {
					delete(schemes, name)
				}
			}
		})},
		{name: "a status that is not described", breaks: []string{"9-statuses"}, answer: described(func(v map[string]any) {
			get := v["paths"].(map[string]any)["/workflows/{workflow_id}/tasks/{task_id}"].(map[string]any)["get"].(map[string]any)
			delete(get["responses"].(map[string]any), "304")
		})},
		{name: "docs of another sort", breaks: []string{"9-docs"}, answer: page("/docs", func(c *call) { c.body = []byte("<p>Read the source.</p>") })},
		{name: "redoc as text", breaks: []string{"9-redoc"}, answer: page("/redoc", func(c *call) { c.header.Set("Content-Type", "text/plain") })},
		{name: "no 3.0 for generators", breaks: []string{"x-openapi-3.0"}, answer: page("/openapi-3.0.json", func(c *call) {
			c.body = []byte(strings.Replace(string(c.body), `"3.0.`, `"3.1.`, 1))
		})},
	}
}
