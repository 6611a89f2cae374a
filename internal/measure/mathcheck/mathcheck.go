// Package mathcheck is the pipeline that is measured, one subtask with a
// conditional field and a review of it: its definition, the requests that
// create its tasks, and the rows of any number of them.
package mathcheck

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

const (
	// Small is how many characters the question of a usual task has: 650 B an
	// item with its frame.
	Small = 610
	// Large makes a body of 5,000 tasks that is just under 32 MB.
	Large = 6650
)

// Definition is the pipeline.
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

// Answers is what a contributor hands in who is sure.
func Answers() form.Values {
	return form.Values{"answer": json.RawMessage(`"72"`), "sure": json.RawMessage(`true`)}
}

// Question makes a text of size bytes that is different for each number.
func Question(number, size int) string {
	const words = "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. "
	q := fmt.Sprintf("Problem %d. ", number) + strings.Repeat(words, size/len(words)+1)
	return q[:size]
}

// CreateBody is a request that creates n tasks of about size bytes each.
func CreateBody(n, size int) []byte {
	var b strings.Builder
	b.Grow(n * (size + 40))
	b.WriteString(`{"tasks":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"fields":{"question":%q}}`, Question(i, size))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}
