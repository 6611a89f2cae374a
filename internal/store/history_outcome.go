package store

import (
	"slices"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Outcome is what became of something that was handed in.
type Outcome string

// Outcomes.
const (
	// OutcomeWaiting: it is not final yet.
	OutcomeWaiting Outcome = "waiting"
	// OutcomeAccepted and OutcomeFixed: a review approved it, as it was or with
	// corrections.
	OutcomeAccepted Outcome = "accepted"
	OutcomeFixed    Outcome = "fixed"
	// OutcomeReturned: it had to be done again. Of a rejection: it returned the
	// work.
	OutcomeReturned Outcome = "returned"
	// OutcomeFinished: final, and no review looked at it.
	OutcomeFinished Outcome = "finished"
	// OutcomeUndone: its author took it back.
	OutcomeUndone Outcome = "undone"
	// OutcomeEscalated: an admin decides.
	OutcomeEscalated Outcome = "escalated"
	// OutcomeClosed: the task went on, or failed, without it.
	OutcomeClosed Outcome = "closed"
)

// outcome follows from where the node is now, and from the approvals of the
// task.
func (d Done) outcome(p *pipeline.Pipeline, approvals []approval) Outcome {
	switch {
	case d.UndoneAt != nil:
		return OutcomeUndone
	case d.Verdict == VerdictEscalate && d.Status == task.NodeNA: // it came too late, which ended its round
		return OutcomeClosed
	case d.Verdict == VerdictReject, d.Round > d.Iteration:
		return OutcomeReturned
	}
	switch d.Status {
	case task.NodeFinished:
		return d.accepted(p, approvals)
	case task.NodeEscalated, task.NodeQuarantined:
		return OutcomeEscalated
	case task.NodeNA:
		return OutcomeClosed
	case task.NodePending, task.NodeDeferred, task.NodeAvailable, task.NodeClaimed, task.NodeSubmitted:
	}
	return OutcomeWaiting
}

// accepted tells how what is final was judged.
func (d Done) accepted(p *pipeline.Pipeline, approvals []approval) Outcome {
	out := OutcomeFinished
	if d.Kind != pipeline.KindSubtask {
		return out
	}
	own := ownNames(p, d.Node)
	for _, a := range approvals {
		if a.Seq < d.Seq || !reviews(p, a.Node, d.Node) {
			continue
		}
		out = OutcomeAccepted
		if slices.Contains(own, a.Field) {
			return OutcomeFixed
		}
	}
	return out
}

// ownFields keeps the values of a subtask's own fields.
func ownFields(p *pipeline.Pipeline, node string, values form.Values) form.Values {
	return only(values, ownNames(p, node))
}

// ownNames are the names of a subtask's own fields.
func ownNames(p *pipeline.Pipeline, node string) []string {
	f := p.Form(node)
	if f == nil {
		return nil
	}
	var names []string
	for _, field := range f.Fields() {
		names = append(names, field.Name)
	}
	return names
}
