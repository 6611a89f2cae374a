package v1

import (
	"encoding/json"

	"github.com/taskloom/taskloom/internal/fault"
)

var workflowAnswers = examples{200: {{"active", "A workflow that takes tasks", Workflow{
	WorkflowID: exampleWorkflow, Name: "Math check", Status: "ACTIVE", CreatedAt: exampleTime, UpdatedAt: exampleTime,
}}}}.with(absentWorkflow, keyed)

var schemaAnswers = examples{
	200: {{"one_field", "A workflow whose tasks are created from JSON", Schema{Fields: []Field{{
		Name: "question", Title: "Question", Type: "long_text", Required: true, FormatHint: "text",
		JSONSchema: json.RawMessage(`{"type":"string"}`), Example: "example",
	}}}}},
	422: {failure("draft_not_complete", "A draft that cannot be read yet", fault.Validation,
		"workflow 12 is DRAFT and its draft is not complete; it has a schema once it is published")},
}.with(absentWorkflow, keyed)
