package store

import (
	"maps"
	"slices"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// rerouted are problems of a review's corrections that say something else than the answers
// about the way on from a node that is done: which one it takes was decided when it was handed
// in, and a correction decides nothing anew. was and is are what is known without and with them.
func rerouted(p *pipeline.Pipeline, review string, subs []submission, was, is, fixed form.Values) []form.Problem {
	deciding := form.Values{}
	var problems []form.Problem
	for _, sub := range subs {
		if sub.Node == review || !sub.decided || sub.Verdict != "" && sub.Verdict != VerdictApprove {
			continue
		}
		before, after := form.NewBudget(), form.NewBudget()
		skipped, skips := p.Skipped(sub.Node, was, before), p.Skipped(sub.Node, is, after)
		problems = append(problems, after.Problems()...)
		for _, e := range p.Definition.Edges {
			if e.From != sub.Node || e.When == nil || slices.Contains(skipped, e.To) == slices.Contains(skips, e.To) {
				continue
			}
			by := only(fixed, e.When.Fields())
			if len(by) == 0 {
				by = fixed // which hide what the condition looks at
			}
			maps.Copy(deciding, by)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(deciding)) {
		problems = append(problems, form.Problem{
			Field: name, Message: "decides where the task goes, so it cannot be corrected here; reject it instead",
		})
	}
	return problems
}
