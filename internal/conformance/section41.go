package conformance

import (
	"net/http"
	"strings"
)

func createChecks() []Check {
	return []Check{
		{
			ID: "4.1.1-names-are-keys", Section: "4.1",
			Sentence: "Discover field names from the schema endpoint; use name … as keys in fields.",
			Does:     "make an item from the schema alone and create a task with it",
			run: func(c *C) {
				item := c.example(c.schema(c.Workflow))
				for name := range item {
					if value, given := c.Item[name]; given {
						item[name] = value
					}
				}
				c.status(c.create(item), http.StatusOK)
			},
		}, {
			ID: "4.1.2-draft", Section: "4.1", Sentence: "any other status (DRAFT, …) yields 422 with a message saying the workflow must be ACTIVE or PAUSED",
			Does: "create a task in a DRAFT workflow", needs: []need{needDraft},
			run: func(c *C) { c.notAccepting(c.DraftWorkflow, "DRAFT") },
		}, {
			ID: "4.1.2-completed", Section: "4.1", Sentence: "any other status (… COMPLETED …) yields 422 with a message saying the workflow must be ACTIVE or PAUSED",
			Does: "create a task in a COMPLETED workflow", needs: []need{needCompleted},
			run: func(c *C) { c.notAccepting(c.CompletedWorkflow, "COMPLETED") },
		}, {
			ID: "4.1.2-archived", Section: "4.1", Sentence: "any other status (… ARCHIVED …) yields 422 with a message saying the workflow must be ACTIVE or PAUSED",
			Does: "create a task in an ARCHIVED workflow", needs: []need{needArchived},
			run: func(c *C) { c.notAccepting(c.ArchivedWorkflow, "ARCHIVED") },
		}, {
			ID: "4.1.3-file-fields", Section: "4.1", Sentence: "If has_file_upload_fields is true, this endpoint yields 422; the ZIP flow must be used.",
			Does: "create a task by JSON in every workflow given that has file upload fields", needs: []need{needAnyUploads},
			run: func(c *C) {
				for _, id := range []int64{c.FileWorkflow, c.FolderWorkflow, c.MixedWorkflow} {
					if id > 0 {
						a := c.post(in(id, "/tasks"), batch(c.example(c.schema(id))))
						c.refused(a, http.StatusUnprocessableEntity, "validation_error")
					}
				}
			},
		}, {
			ID: "4.1.4-partial-success", Section: "4.1", Sentence: "the response is 200 when at least one task was created",
			Does: "create one good item and two bad ones",
			run: func(c *C) {
				a := c.create(bad(), c.item(), bad())
				c.status(a, http.StatusOK)
				c.equal(a, "length of task_ids", 1, len(numbers(a.object(c)["task_ids"])))
			},
		}, {
			ID: "4.1.4-counts", Section: "4.1", Sentence: "the caller must inspect success_count and error_count (tasks created; tasks that failed)",
			Does: "create two good items and three bad ones",
			run: func(c *C) {
				a := c.create(c.item(), bad(), bad(), c.item(), bad())
				v := a.object(c)
				c.equal(a, "success_count", 2, v["success_count"])
				c.equal(a, "error_count", 3, v["error_count"])
			},
		}, {
			ID: "4.1.4-index", Section: "4.1", Sentence: "errors[].index is the zero-based position in the sent array.",
			Does: "create five items, of which those at 1 and 4 are bad",
			run: func(c *C) {
				a := c.create(c.item(), bad(), c.item(), c.item(), bad())
				wrong := map[int64]bool{}
				for _, e := range objects(a.object(c)["errors"]) {
					wrong[number(e["index"])] = true
				}
				if len(wrong) != 2 || !wrong[1] || !wrong[4] {
					c.fail(a, "errors with index 1 and 4 only", "errors %s", show(a.object(c)["errors"]))
				}
			},
		}, {
			ID: "4.1.4-task-ids", Section: "4.1", Sentence: "task_ids | array of integer | ids of created tasks",
			Does: "create a bad and a good item and GET what task_ids names",
			run: func(c *C) {
				a := c.create(bad(), c.item())
				for _, id := range numbers(a.object(c)["task_ids"]) {
					c.status(c.get(c.taskPath(id)), http.StatusOK)
				}
			},
		}, {
			ID: "4.1.4-all-fail", Section: "4.1", Sentence: "When every task fails, the response is 422 instead of 200.",
			Does: "create two bad items",
			run:  func(c *C) { c.refused(c.create(bad(), bad()), http.StatusUnprocessableEntity, "validation_error") },
		}, {
			ID: "4.1.5-title", Section: "4.1", Sentence: "Using a field title instead of a name yields an unknown-field error item",
			Does: "create a good item and one with a field's title as a key",
			run: func(c *C) {
				f := c.find("a field whose title is nobody's name", func(f field, all []field) bool {
					for _, other := range all {
						if other.Name == f.Title {
							return false
						}
					}
					return f.Title != ""
				})
				a := c.create(c.item(), plus(c.item(), f.Title))
				c.status(a, http.StatusOK)
				c.itemError(a, 1, f.Title)
			},
		}, {
			ID: "4.1.5-missing", Section: "4.1", Sentence: "a missing required column yields an error item naming the missing field",
			Does: "create a good item and one without a required field",
			run: func(c *C) {
				f := c.find("a required field", func(f field, _ []field) bool { return f.Required })
				item := c.item()
				delete(item, f.Name)
				a := c.create(c.item(), item)
				c.status(a, http.StatusOK)
				c.itemError(a, 1, f.Name)
			},
		}, {
			ID: "4.1.6-first-steps", Section: "4.1",
			Sentence: "A tester can verify an integration by: GET /health without a key; GET the workflow; GET the schema; create one task, then GET it by the returned id.",
			Does:     "these five calls",
			run: func(c *C) {
				c.status(c.get("/health", anonymous()), http.StatusOK)
				c.status(c.get(in(c.Workflow, "")), http.StatusOK)
				c.status(c.get(in(c.Workflow, "/schema")), http.StatusOK)
				c.status(c.get(c.taskPath(c.created(1)[0])), http.StatusOK)
			},
		}, {
			ID: "4.1.6-wrong-id", Section: "4.1", Sentence: "GET the workflow (404 means wrong id or wrong organization)",
			Does: "GET a workflow that does not exist",
			run:  func(c *C) { c.refused(c.get(in(nobody, "")), http.StatusNotFound, "not_found") },
		},
	}
}

// nobody is an id that nothing has.
const nobody = 9_007_199_254_740_991

// notAccepting ends the check unless a creation is refused for the workflow's
// status.
func (c *C) notAccepting(workflow int64, status string) {
	c.inStatus(workflow, status)
	a := c.post(in(workflow, "/tasks"), batch(fields{"anything": "x"}))
	c.refused(a, http.StatusUnprocessableEntity, "validation_error")
	message, _ := a.object(c)["message"].(string)
	if !strings.Contains(message, "ACTIVE") || !strings.Contains(message, "PAUSED") {
		c.fail(a, "a message saying that the workflow must be ACTIVE or PAUSED", "%q", message)
	}
}
