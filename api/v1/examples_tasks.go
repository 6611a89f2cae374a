package v1

import (
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/seeding"
)

func exampleFields(name, value string) any {
	return map[string]any{"fields": map[string]any{name: value}}
}

var createRequests = []example{
	{"two_tasks", "Two tasks of a workflow with the field `question`", map[string]any{"tasks": []any{
		exampleFields("question", "What is 6 times 7?"), exampleFields("question", "What is 7 times 8?"),
	}}},
	{"with_a_mistake", "The second item has a misspelt name: the first one is created all the same", map[string]any{"tasks": []any{
		exampleFields("question", "What is 6 times 7?"), exampleFields("qestion", "What is 7 times 8?"),
	}}},
}

// exampleErrors are those of an item with a misspelt name.
func exampleErrors(index int) []seeding.ItemError {
	return []seeding.ItemError{
		{Index: index, FieldName: "qestion", Message: `unknown field "qestion"; expected "question"`},
		{Index: index, FieldName: "question", Message: `field "question" is required and missing`},
	}
}

var createAnswers = examples{
	200: {
		{"all_created", "Every item became a task", Result{
			SuccessCount: 2, Errors: []seeding.ItemError{}, TaskIDs: []int64{exampleTask, exampleTask + 1},
		}},
		{"some_created", "One item did not: look at error_count", Result{
			SuccessCount: 1, ErrorCount: 1, Errors: exampleErrors(1), TaskIDs: []int64{exampleTask},
		}},
	},
	422: {
		{"every_task_failed", "No item became a task", FailedResult{
			Error: string(fault.Validation),
			Message: `none of the 1 tasks could be created: every one has an error, the first is: tasks[0]: ` +
				`unknown field "qestion"; expected "question"`,
			Result: Result{ErrorCount: 1, Errors: exampleErrors(0), TaskIDs: []int64{}},
		}},
		failure("body_does_not_fit", "The body is not what the schema says", fault.Validation, `the body must have "tasks"`),
		failure("too_many_tasks", "More than 5,000 items", fault.Validation,
			"tasks must have 1 to 5000 items, got more; send them in several requests"),
		failure("workflow_takes_no_tasks", "The workflow is neither ACTIVE nor PAUSED", fault.Validation,
			"the workflow is COMPLETED; it must be ACTIVE or PAUSED to take tasks"),
		failure("needs_zip_upload", "The workflow has file upload fields", fault.Validation,
			"workflow 12 has file upload fields (has_file_upload_fields); create its tasks by ZIP upload"),
	},
	500: {failure("created_perhaps", "Nobody knows whether the tasks were created, and there is no Idempotency-Key", fault.Internal, maybeCreated)},
	503: {failure("published_meanwhile", "New versions of the workflow are published faster than the batch is checked", fault.Unavailable,
		"workflow 12 is being published over and over; try again")},
}.with(largeBody, theKey, otherBody, absentWorkflow, keyed)

func exampleStatus(id int64) Task {
	return Task{
		ID: id, Status: "pending", NodeSummary: NodeSummary{Total: 2, InProgress: 1, Pending: 1},
		CreatedAt: exampleTime, UpdatedAt: exampleTime,
	}
}

var taskAnswers = examples{
	200: {{"waiting", "A task that nobody has claimed yet", exampleStatus(exampleTask)}},
	404: {
		failure("no_such_task", "No such task in this workflow", fault.NotFound, "task 3456 not found in workflow 12"),
		failure("task_id_is_no_id", "The id in the path is none", fault.NotFound, "nothing found: task_id in the path: invalid integer"),
	},
}.with(keyed)

var listAnswers = examples{
	200: {
		{"first_page", "There is more: send next_cursor", TaskPage{
			Tasks: []Task{exampleStatus(exampleTask + 1)}, NextCursor: new(exampleCursor), HasMore: true,
		}},
		{"last_page", "Nothing comes after it", TaskPage{Tasks: []Task{exampleStatus(exampleTask)}}},
	},
	400: {
		failure("bad_limit", "limit is out of range", fault.InvalidRequest, `limit must be an integer from 1 to 200, got "500"`),
		failure("bad_status", "There is no such status", fault.InvalidRequest,
			`status must be one of pending, in_progress, finished, failed, paused, escalated, quarantined, got "done"`),
		failure("bad_cursor", "The cursor is none, or another list's", fault.InvalidRequest,
			"cursor does not belong to this list: send the next_cursor of the page before with the same path and status, or leave it out to start over"),
		failure("given_twice", "A parameter is given twice", fault.InvalidRequest, "limit is given 2 times; give it once"),
	},
}.with(absentWorkflow, keyed)
