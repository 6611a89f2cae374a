package conformance

import (
	"fmt"
	"net/http"
)

// noUpload is a UUID that no upload has.
const noUpload = "00000000-0000-4000-8000-000000000000"

// endpoint is a row of the table of section 4.
type endpoint struct {
	method string
	path   string
	body   any
}

// endpoints are those that need a key, on a workflow.
func endpoints(workflow int64) []endpoint {
	return []endpoint{
		{http.MethodGet, in(workflow, ""), nil},
		{http.MethodGet, in(workflow, "/schema"), nil},
		{http.MethodPost, in(workflow, "/tasks"), batch(bad())},
		{http.MethodGet, in(workflow, "/tasks"), nil},
		{http.MethodGet, in(workflow, "/tasks/1"), nil},
		{http.MethodPost, in(workflow, "/tasks/upload"), map[string]any{}},
		{http.MethodPost, in(workflow, "/tasks/upload/"+noUpload+"/confirm"), nil},
		{http.MethodGet, in(workflow, "/tasks/upload/"+noUpload), nil},
	}
}

// Those of the table that create or upload are proven by the checks of 4.1 and
// 4.2, which could not go on without them.
func endpointChecks() []Check {
	return []Check{
		{
			ID: "4-health", Section: "4", Sentence: "GET /health | no auth, no body | object with status equal to ok",
			Does: "GET /health without a key",
			run: func(c *C) {
				a := c.get("/health", anonymous())
				c.status(a, http.StatusOK)
				c.equal(a, "status", "ok", a.object(c)["status"])
			},
		}, {
			ID: "4-workflow", Section: "4", Sentence: "GET /workflows/{workflow_id} | workflow metadata (name, status); Successful GETs … return 200",
			Does: "GET every workflow given",
			run: func(c *C) {
				for _, id := range c.own() {
					c.status(c.get(in(id, "")), http.StatusOK)
				}
			},
		}, {
			ID: "4-schema", Section: "4", Sentence: "GET /workflows/{workflow_id}/schema; Successful GETs … return 200",
			Does: "GET the schema of every workflow given",
			run: func(c *C) {
				for _, id := range c.own() {
					a := c.get(in(id, "/schema"))
					c.status(a, http.StatusOK)
					c.has(a, "", a.object(c), "fields", array)
				}
			},
		}, {
			ID: "4-create", Section: "4", Sentence: "POST /workflows/{workflow_id}/tasks | task creation result; 200",
			Does: "create two tasks",
			run: func(c *C) {
				a := c.create(c.items(2)...)
				c.status(a, http.StatusOK)
				v := a.object(c)
				c.equal(a, "success_count", 2, v["success_count"])
				c.equal(a, "error_count", 0, v["error_count"])
				c.equal(a, "length of task_ids", 2, len(numbers(v["task_ids"])))
			},
		}, {
			ID: "4-list", Section: "4", Sentence: "GET /workflows/{workflow_id}/tasks | task list page; Successful GETs … return 200",
			Does: "create a task and find it in the list",
			run: func(c *C) {
				id := c.created(1)[0]
				if found, last := c.listed(id, "?limit=200"); !found {
					c.fail(last, fmt.Sprintf("task %d in the list", id), "ids %v", c.ids(last))
				}
			},
		}, {
			ID: "4-task", Section: "4", Sentence: "GET /workflows/{workflow_id}/tasks/{task_id} | task status; Successful GETs … return 200",
			Does: "create two tasks and GET each",
			run: func(c *C) {
				for _, id := range c.created(2) {
					a := c.get(c.taskPath(id))
					c.status(a, http.StatusOK)
					c.equal(a, "id", id, a.object(c)["id"])
				}
			},
		}, {
			ID: "4-foreign", Section: "4",
			Sentence: "Every {workflow_id} must belong to the key's organization, otherwise the response is 404.",
			Does:     "call all eight endpoints with a workflow of another organization", needs: []need{needForeign},
			run: func(c *C) {
				for _, e := range endpoints(c.ForeignWorkflow) {
					c.refused(c.do(e.method, e.path, e.body), http.StatusNotFound, "not_found")
				}
			},
		},
	}
}
