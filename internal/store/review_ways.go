package store

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// rerouted are problems of a review's corrections that say something else than the answers
// about the way on from a node that led the task on: which one it takes was decided then, and
// a correction decides nothing anew. was and is are what is known without and with them.
func rerouted(p *pipeline.Pipeline, led []string, was, is, fixed form.Values) []form.Problem {
	deciding := form.Values{}
	var problems []form.Problem
	for _, node := range led {
		turned, ps := turns(p, node, was, is)
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
	is := a.without(p, seq)
	for _, node := range leading(st, review) {
		if turned, problems := turns(p, node, a.values, is); len(turned)+len(problems) > 0 {
			return node
		}
	}
	return ""
}

// approvedOn returns another review whose approval stands and that looked at an answer which
// would be another one without what a review corrected in its submission with number seq: it
// was shown that one (queueUnseenCorrection). "" when there is none.
func (a answered) approvedOn(p *pipeline.Pipeline, st pipeline.State, review string, seq int64) string {
	is, done := a.without(p, seq), leading(st, review)
	for _, sub := range a.subs {
		now, _ := st.Node(sub.Node)
		if sub.Verdict != VerdictApprove || sub.Seq < seq || sub.Iteration != now.Iteration || !slices.Contains(done, sub.Node) {
			continue
		}
		n, _ := p.Node(sub.Node)
		for _, t := range n.Reviews {
			if slices.ContainsFunc(reviewFields(p, t), func(f string) bool { return !bytes.Equal(a.values[f], is[f]) }) {
				return sub.Node
			}
		}
	}
	return ""
}

// without are the answers as they would be without a submission.
func (a answered) without(p *pipeline.Pipeline, seq int64) form.Values {
	return answers(p, a.input, slices.DeleteFunc(slices.Clone(a.rounds), func(sub submission) bool { return sub.Seq == seq }))
}

// ledFrom are the nodes of a claim's task that led it on, but for the claim's own, also by
// what waits to be applied. Conflict where that is of a newer release.
func ledFrom(ctx context.Context, q querier, p *pipeline.Pipeline, c Claim) ([]string, error) {
	var j wholeJournal
	b := &pgx.Batch{}
	b.Queue(byIndexSQL)
	j.queue(b, c)
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	st, err := pipeline.Fold(p.Graph, j.skipped, j.events)
	if errors.Is(err, pipeline.ErrUnknown) {
		return nil, newerEvent(c.TaskID, err)
	}
	return leading(st, c.Node), err
}

// leading are the nodes that are done, but for one: the way on from each is decided. A node
// that is open again decides anew, though its last round counts until then; and one that an
// admin accepted is done without anybody's word.
func leading(st pipeline.State, except string) []string {
	var out []string
	for _, n := range st.Nodes {
		if n.Key != except && (n.Status == task.NodeSubmitted || n.Status == task.NodeFinished) {
			out = append(out, n.Key)
		}
	}
	return out
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
