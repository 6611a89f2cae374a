package conformance

import (
	"net/http"
	"slices"
)

var (
	workflowStatuses = []string{"DRAFT", "ACTIVE", "PAUSED", "COMPLETED", "ARCHIVED", "PENDING_ACTIVATION"}
	taskStatuses     = []string{"pending", "in_progress", "finished", "failed", "paused", "escalated", "quarantined"}
	uploadStatuses   = []string{"pending", "processing", "completed", "failed", "cancelled"}
	terminal         = []string{"completed", "failed", "cancelled"}
)

func stateChecks() []Check {
	return []Check{
		{
			ID: "3-workflow-statuses", Section: "3",
			Sentence: "Workflow statuses: DRAFT, ACTIVE, PAUSED, COMPLETED, ARCHIVED, PENDING_ACTIVATION.",
			Does:     "GET every workflow given",
			run: func(c *C) {
				for _, id := range c.own() {
					c.oneOf(c.get(in(id, "")), workflowStatuses)
				}
			},
		}, {
			ID: "3-task-statuses", Section: "3",
			Sentence: "Task statuses: pending, in_progress, finished, failed, paused, escalated, quarantined.",
			Does:     "create a task, GET it, and list tasks",
			run: func(c *C) {
				c.oneOf(c.get(c.taskPath(c.created(1)[0])), taskStatuses)
				a := c.get(c.tasks("?limit=50"))
				for _, t := range objects(a.object(c)["tasks"]) {
					if s, _ := t["status"].(string); !slices.Contains(taskStatuses, s) {
						c.fail(a, "a task status", "%s", show(t["status"]))
					}
				}
			},
		}, {
			ID: "3-buckets", Section: "3",
			Sentence: "finished, in_progress, pending … nodes with status na are excluded from every count, including total",
			Does:     "create a task, GET it, list tasks: total = finished + in_progress + pending",
			run: func(c *C) {
				a := c.get(c.taskPath(c.created(1)[0]))
				c.buckets(a, a.object(c))
				a = c.get(c.tasks("?limit=50"))
				for _, t := range objects(a.object(c)["tasks"]) {
					c.buckets(a, t)
				}
			},
		}, {
			ID: "3-buckets-new", Section: "3", Sentence: "in_progress | available, claimed, submitted, escalated, quarantined",
			Does: "create a task and GET it: it has nodes, and none is finished",
			run: func(c *C) {
				a := c.get(c.taskPath(c.created(1)[0]))
				s, _ := a.object(c)["node_summary"].(map[string]any)
				c.equal(a, "node_summary.finished", 0, s["finished"])
				if number(s["total"]) < 1 {
					c.fail(a, "a node_summary.total of 1 or more", "%s", show(s["total"]))
				}
			},
		}, {
			ID: "3-paused-accepts", Section: "3", Sentence: "Task creation through the API is accepted only in ACTIVE or PAUSED.",
			Does: "create a task in a PAUSED workflow", needs: []need{needPaused},
			run: func(c *C) {
				c.inStatus(c.PausedWorkflow, "PAUSED")
				a := c.post(in(c.PausedWorkflow, "/tasks"), batch(c.example(c.schema(c.PausedWorkflow))))
				c.status(a, http.StatusOK)
			},
		},
	}
}

// oneOf ends the check unless the answer's status is one of them.
func (c *C) oneOf(a *answer, statuses []string) {
	if s, _ := a.object(c)["status"].(string); !slices.Contains(statuses, s) {
		c.fail(a, "a status of "+show(statuses), "%s", show(a.object(c)["status"]))
	}
}

// inStatus skips the check unless the workflow is in the status that its flag
// promises.
func (c *C) inStatus(workflow int64, want string) {
	a := c.get(in(workflow, ""))
	if got := a.object(c)["status"]; got != want {
		c.skip("workflow %d is %v, not %s", workflow, got, want)
	}
}

func (c *C) buckets(a *answer, t map[string]any) {
	s, _ := t["node_summary"].(map[string]any)
	total, finished, running, waiting := number(s["total"]), number(s["finished"]), number(s["in_progress"]), number(s["pending"])
	if min(total, finished, running, waiting) < 0 {
		return // that all four are there is another check's matter
	}
	if total != finished+running+waiting {
		c.fail(a, "total = finished + in_progress + pending", "node_summary %s of task %s", show(s), show(t["id"]))
	}
}
