package dbtest

import (
	"encoding/json"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Definition is a pipeline with one subtask, a conditional field and a review
// of it: the smallest that shows every move.
func Definition() pipeline.Definition {
	return pipeline.Definition{
		Name: "Math check",
		Nodes: []pipeline.Node{
			{Key: "start", Kind: pipeline.KindStart},
			{Key: "solve", Kind: pipeline.KindSubtask, Title: "Solve the problem", Fields: []form.Field{
				{Name: "question", Title: "Question", Type: form.LongText, Input: form.Seeded, Required: true},
				{Name: "answer", Title: "Answer", Type: form.ShortText, Input: form.Contributor, Required: true},
				{Name: "sure", Title: "Sure?", Type: form.Boolean, Input: form.Contributor},
				{
					Name: "doubt", Title: "What is unclear?", Type: form.LongText, Input: form.Contributor, Required: true,
					VisibleWhen: &form.Condition{Field: "sure", Op: form.OpEq, Value: json.RawMessage(`false`)},
				},
			}},
			{Key: "check", Kind: pipeline.KindReview, Title: "Check the answer", Reviews: []pipeline.Target{
				{Node: "solve", Fields: []string{"answer"}},
			}},
			{Key: "end", Kind: pipeline.KindEnd},
		},
		Edges: []pipeline.Edge{{From: "start", To: "solve"}, {From: "solve", To: "check"}, {From: "check", To: "end"}},
	}
}

// Simple is the definition without the review: one submission finishes a task.
func Simple() pipeline.Definition {
	d := Definition()
	d.Name = "Math"
	d.Nodes = []pipeline.Node{d.Nodes[0], d.Nodes[1], d.Nodes[3]}
	d.Edges = []pipeline.Edge{{From: "start", To: "solve"}, {From: "solve", To: "end"}}
	return d
}
