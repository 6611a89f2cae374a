package conformance

import (
	"fmt"
	"net/http"
	"slices"
)

func taskChecks() []Check {
	return []Check{
		{
			ID: "4.4-other-workflow", Section: "4.4",
			Sentence: "a task id existing in another workflow, even of the same organization, returns 404",
			Does:     "create a task and GET it under every other workflow given",
			run: func(c *C) {
				id := c.created(1)[0]
				asked := false
				for _, workflow := range slices.Concat(c.own()[1:], []int64{c.ForeignWorkflow}) {
					if workflow > 0 && workflow != c.Workflow {
						asked = true
						c.refused(c.get(in(workflow, fmt.Sprintf("/tasks/%d", id))), http.StatusNotFound, "not_found")
					}
				}
				if !asked {
					c.skip("needs another workflow, such as --paused-workflow")
				}
			},
		}, {
			ID: "4.4-unknown", Section: "4.4", Sentence: "A task is always looked up within the workflow_id of the path",
			Does: "GET a task that does not exist",
			run:  func(c *C) { c.refused(c.get(c.taskPath(nobody)), http.StatusNotFound, "not_found") },
		},
	}
}
