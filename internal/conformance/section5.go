package conformance

import (
	"net/http"
	"strings"
)

func authChecks() []Check {
	return []Check{
		{
			ID: "5.1-every-endpoint", Section: "5", Sentence: "Every endpoint except GET /health needs an organization-scoped API key.",
			Does: "call all eight other endpoints without a key",
			run: func(c *C) {
				for _, e := range endpoints(c.Workflow) {
					c.status(c.do(e.method, e.path, e.body, anonymous()), http.StatusUnauthorized)
				}
			},
		}, {
			ID: "5.2-bearer", Section: "5", Sentence: "The key is sent either as header Authorization: Bearer <API_KEY> …",
			Does: "GET the workflow with it",
			run: func(c *C) {
				c.status(c.get(in(c.Workflow, ""), header("Authorization", "Bearer "+c.Key)), http.StatusOK)
			},
		}, {
			ID: "5.2-x-api-key", Section: "5", Sentence: "… or as header X-API-Key: <API_KEY>. Both are accepted.",
			Does: "GET the workflow with it",
			run: func(c *C) {
				c.status(c.get(in(c.Workflow, ""), anonymous(), header("X-API-Key", c.Key)), http.StatusOK)
			},
		}, {
			ID: "5.3-missing", Section: "5", Sentence: "A request without a key returns 401 with error missing_api_key.",
			Does: "GET the workflow without a key",
			run: func(c *C) {
				c.refused(c.get(in(c.Workflow, ""), anonymous()), http.StatusUnauthorized, "missing_api_key")
			},
		}, {
			ID: "5.3-wrong-prefix", Section: "5", Sentence: "A key with the wrong prefix … returns 401 with error invalid_api_key.",
			Does: "GET the workflow with sk_live_ and the key's own digits",
			run: func(c *C) {
				c.invalid("sk_live_" + strings.TrimPrefix(c.Key, "pk_live_"))
			},
		}, {
			ID: "5.3-unknown", Section: "5", Sentence: "A key [that is] unknown … returns 401 with error invalid_api_key.",
			Does: "GET the workflow with a key that nobody was given",
			run:  func(c *C) { c.invalid("pk_live_" + strings.Repeat("0f", 20)) },
		}, {
			ID: "5.3-expired", Section: "5", Sentence: "A key [that is] expired … returns 401 with error invalid_api_key.",
			Does: "GET the workflow with an expired key", needs: []need{needExpired},
			run: func(c *C) { c.invalid(c.ExpiredKey) },
		}, {
			ID: "5.3-revoked", Section: "5", Sentence: "A key [that is] revoked … returns 401 with error invalid_api_key.",
			Does: "GET the workflow with a revoked key", needs: []need{needRevoked},
			run: func(c *C) { c.invalid(c.RevokedKey) },
		}, {
			ID: "5.4-own-organization", Section: "5", Sentence: "A key can reach only workflows in its own organization; others return 404.",
			Does: "GET the workflow of another organization", needs: []need{needForeign},
			run: func(c *C) { c.refused(c.get(in(c.ForeignWorkflow, "")), http.StatusNotFound, "not_found") },
		}, {
			ID: "5.6-zip", Section: "5",
			Sentence: "If that user is removed, the three ZIP-upload endpoints (init, confirm, status) return 422",
			Does:     "init an upload with a good key; init, confirm and poll with the key of a removed creator",
			needs:    []need{needFile, needRemoved},
			run: func(c *C) {
				id := c.begin(c.FileWorkflow, nil).id
				for _, a := range []*answer{
					c.post(in(c.FileWorkflow, "/tasks/upload"), map[string]any{}, key(c.RemovedCreatorKey)),
					c.post(in(c.FileWorkflow, "/tasks/upload/"+id+"/confirm"), nil, key(c.RemovedCreatorKey)),
					c.get(in(c.FileWorkflow, "/tasks/upload/"+id), key(c.RemovedCreatorKey)),
				} {
					c.refused(a, http.StatusUnprocessableEntity, "validation_error")
				}
			},
		}, {
			ID: "5.6-json", Section: "5", Sentence: "JSON task creation, listing and single-task status keep working.",
			Does: "create, list and GET with the key of a removed creator", needs: []need{needRemoved},
			run: func(c *C) {
				a := c.post(c.tasks(""), batch(c.item()), key(c.RemovedCreatorKey))
				c.status(a, http.StatusOK)
				c.status(c.get(c.tasks("?limit=1"), key(c.RemovedCreatorKey)), http.StatusOK)
				for _, id := range numbers(a.object(c)["task_ids"]) {
					c.status(c.get(c.taskPath(id), key(c.RemovedCreatorKey)), http.StatusOK)
				}
			},
		},
	}
}

// invalid ends the check unless the key is refused, in either header.
func (c *C) invalid(value string) {
	c.refused(c.get(in(c.Workflow, ""), key(value)), http.StatusUnauthorized, "invalid_api_key")
	c.refused(c.get(in(c.Workflow, ""), anonymous(), header("X-API-Key", value)), http.StatusUnauthorized, "invalid_api_key")
}
