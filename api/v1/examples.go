package v1

import (
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
)

// example is one answer of an operation, under a name. What it says is what the
// server says: a test provokes every one and compares.
type example struct {
	name, summary string
	body          any
}

// failure is an example of an error answer.
func failure(name, summary string, kind fault.Kind, message string) example {
	return example{name: name, summary: summary, body: Error{Error: string(kind), Message: message}}
}

// examples are an operation's answers by status.
type examples map[int][]example

// with returns the examples with others added to them.
func (e examples) with(others ...examples) examples {
	sum := examples{}
	for _, part := range append([]examples{e}, others...) {
		for status, list := range part {
			sum[status] = append(slices.Clone(sum[status]), list...)
		}
	}
	return sum
}

// answers has the examples of each operation, by its id.
var answers = map[string]examples{
	"getHealth": examples{200: {{"up", "The service answers", Health{Status: "ok"}}}}.with(tooMany),

	"getWorkflow":       workflowAnswers,
	"getWorkflowSchema": schemaAnswers,
	"createTasks":       createAnswers,
	"listTasks":         listAnswers,
	"getTask":           taskAnswers,

	"initUpload":    initAnswers,
	"confirmUpload": confirmAnswers,
	"getUpload":     uploadAnswers,
}

// requests has the examples of request bodies, by operation id.
var requests = map[string][]example{"createTasks": createRequests, "initUpload": initRequests}

// exampleParameters are values that fit the examples of answers.
var exampleParameters = map[string]any{
	"workflow_id":     exampleWorkflow,
	"task_id":         exampleTask,
	"upload_id":       exampleUpload,
	"limit":           50,
	"cursor":          exampleCursor,
	"status":          "in_progress",
	"If-None-Match":   exampleTag,
	"Idempotency-Key": exampleKey,
}

// illustrate puts the examples into the document, once every operation is in
// it. Operations and statuses that have none are left to the test that looks
// for them.
func illustrate(doc *huma.OpenAPI) {
	describeSchemas(doc)
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post} {
			if op == nil {
				continue
			}
			if op.RequestBody != nil {
				addExamples(op.RequestBody.Content["application/json"], requests[op.OperationID])
			}
			for status, list := range answers[op.OperationID] {
				if response := op.Responses[strconv.Itoa(status)]; response != nil {
					addExamples(response.Content["application/json"], list)
				}
			}
			for _, p := range op.Parameters {
				p.Example = exampleParameters[p.Name]
			}
			describeHeaders(doc, op)
		}
	}
}

func addExamples(media *huma.MediaType, list []example) {
	if media == nil {
		return
	}
	media.Example, media.Examples = nil, map[string]*huma.Example{}
	for _, e := range list {
		media.Examples[e.name] = &huma.Example{Summary: e.summary, Value: e.body}
	}
}
