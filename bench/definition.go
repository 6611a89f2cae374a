package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// definition is what is measured: one subtask with a conditional field, and a
// review of it.
func definition() pipeline.Definition {
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

// question makes a text of about size bytes that is different for each number.
func question(number, size int) string {
	const words = "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. "
	q := fmt.Sprintf("Problem %d. ", number) + strings.Repeat(words, size/len(words)+1)
	return q[:size]
}

// createBody is a request that creates n tasks of about size bytes each.
func createBody(n, size int) []byte {
	var b strings.Builder
	b.Grow(n * (size + 40))
	b.WriteString(`{"tasks":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"fields":{"question":%q}}`, question(i, size))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}
