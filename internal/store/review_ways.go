package store

import (
	"maps"
	"slices"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// rerouted are problems of a review's corrections that say something else than the answers
// about the way on from a node that is done: which one it takes was decided when it was handed
// in, and a correction decides nothing anew. was and is are what is known without and with them.
func rerouted(p *pipeline.Pipeline, review string, subs []submission, was, is, fixed form.Values) []form.Problem {
	deciding := form.Values{}
	var problems []form.Problem
	for _, sub := range subs {
		if sub.Node == review || !sub.leads() {
			continue
		}
		turned, ps := turns(p, sub.Node, was, is)
		problems = append(problems, ps...)
		for _, e := range turned {
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

// ledBy returns a node that is done and led the task on by what a review corrected in its
// submission with number seq: without that, the answers would say another way on from it.
// "" when there is none.
func (a answered) ledBy(p *pipeline.Pipeline, st pipeline.State, review string, seq int64) string {
	without := slices.DeleteFunc(slices.Clone(a.rounds), func(sub submission) bool { return sub.Seq == seq })
	is := answers(p, a.input, without)
	for _, n := range st.Nodes { // which an admin's accept may have decided, with no submission
		if n.Key == review || n.Status != task.NodeSubmitted && n.Status != task.NodeFinished {
			continue
		}
		if turned, problems := turns(p, n.Key, a.values, is); len(turned)+len(problems) > 0 {
			return n.Key
		}
	}
	return ""
}

// leads reports whether the way on from the submission's node is decided. What was escalated
// and is done was accepted by an admin; the node of a rejection is open again once it is
// applied. Not seen are accepts of what has no verdict, or whose rejection was one too many.
func (s submission) leads() bool {
	return s.decided && s.Verdict != VerdictReject
}

// turns are the edges out of a node that some answers, was, take and others, is, do not, or
// the other way round. With problems nobody can tell what is takes.
func turns(p *pipeline.Pipeline, node string, was, is form.Values) ([]pipeline.Edge, []form.Problem) {
	before, after := form.NewBudget(), form.NewBudget()
	skipped, skips := p.Skipped(node, was, before), p.Skipped(node, is, after)
	var turned []pipeline.Edge
	for _, e := range p.Definition.Edges {
		if e.From == node && e.When != nil && slices.Contains(skipped, e.To) != slices.Contains(skips, e.To) {
			turned = append(turned, e)
		}
	}
	return turned, after.Problems()
}
