package pipeline

import (
	"time"

	"github.com/taskloom/taskloom/internal/task"
)

// ownWrite tells about the write that an event stands for.
type ownWrite struct {
	// node is the event's node in the graph, 0 for the whole task.
	node int
	// counts is false when the event came too late to mean anything.
	counts bool
	// told asks that the row be written again as the state has it.
	told bool
}

// apply repeats on the state what the command wrote.
func (w *walk) apply(e Event) ownWrite {
	switch e.Kind {
	case EventHold, EventUnhold:
		w.s.Held = e.Kind == EventHold
		return ownWrite{}
	case EventFail:
		w.s.Failed = true
		for i := range w.s.Nodes {
			if n := &w.s.Nodes[i]; !n.Status.Settled() {
				n.leave(task.NodeNA)
			}
		}
		// Rows that were to finish may have fallen away with the rest.
		return ownWrite{told: true}
	case EventClaim:
		w.s.Touched = true
	case EventCreate, EventRelease, EventSubmit, EventReview, EventEscalate, EventQuarantine,
		EventResolve, EventExpire, EventAuto, EventUndo:
	}
	i, ok := w.d.index[e.Node]
	if !ok || i == 0 || i >= w.last() {
		return ownWrite{}
	}
	return w.applyTo(i, e)
}

// applyTo repeats what the command wrote on its node.
func (w *walk) applyTo(i int, e Event) ownWrite {
	n, own := w.node(i), ownWrite{node: i, counts: true}
	switch e.Kind {
	case EventClaim, EventRelease, EventExpire, EventSubmit, EventReview:
		if e.Iteration > 0 && e.Iteration < n.Iteration {
			return ownWrite{node: i, told: true} // that round is over, which the command could not know
		}
		if e.Kind == EventReview && (n.Status == task.NodeEscalated || n.Status == task.NodeQuarantined) {
			return ownWrite{} // a repeat: the verdict, or an admin after it, led here
		}
		if e.Kind == EventReview && e.Outcome == EscalatedByReviewer && n.Status == task.NodeNA && w.d.chooses {
			// It fell away meanwhile, and nobody needs an admin for it. Its round has its
			// verdict, which is written once: whoever comes this way again begins another.
			n.again(task.NodeNA)
			n.Actor = e.Actor
			return ownWrite{node: i, told: true}
		}
	case EventEscalate, EventQuarantine, EventResolve:
		own.told = true
		if e.Iteration > 0 {
			n.Iteration = e.Iteration // the row's: a rejection may be on its way to it
		}
	case EventAuto:
		if n.Status == task.NodePending || n.Status == task.NodeNA {
			return ownWrite{node: i, told: true} // what it was made from is being done again
		}
	case EventUndo:
		if n.Status != task.NodeSubmitted || e.Iteration != n.Iteration {
			return ownWrite{} // a repeat: that round is over
		}
		own.told = true
	case EventCreate, EventHold, EventUnhold, EventFail:
	}
	switch e.Kind {
	case EventClaim:
		n.leave(task.NodeClaimed)
		n.Claim, n.LeaseEnds = e.Claim, e.LeaseEnds
	case EventRelease, EventExpire:
		n.leave(task.NodeAvailable)
	case EventSubmit:
		n.leave(task.NodeSubmitted)
		n.Actor, n.Skipped = e.Actor, e.Skipped
	case EventReview:
		n.leave(task.NodeSubmitted)
		n.Actor, n.Skipped = e.Actor, e.Skipped
		if e.Outcome == EscalatedByReviewer {
			n.leave(task.NodeEscalated)
			n.Reason = ReasonReviewer
		}
	case EventEscalate, EventQuarantine:
		n.leave(task.NodeEscalated)
		if e.Kind == EventQuarantine {
			n.Status = task.NodeQuarantined
		}
		n.Reason = e.Reason
	case EventResolve:
		w.resolve(i, e)
	case EventAuto:
		w.automated(i, e)
	case EventUndo:
		n.again(task.NodeAvailable)
		n.ReservedFor = n.Actor
	case EventCreate, EventHold, EventUnhold, EventFail:
	}
	return own
}

// leave moves the node to a status and drops what belonged to the old one.
func (n *NodeState) leave(to task.NodeStatus) {
	n.Status = to
	n.Claim, n.LeaseEnds, n.ReservedFor, n.Reason, n.Passed = "", time.Time{}, 0, "", false
	switch to {
	case task.NodeAvailable, task.NodeClaimed, task.NodeEscalated, task.NodeQuarantined:
	case task.NodePending, task.NodeDeferred, task.NodeSubmitted, task.NodeFinished, task.NodeNA:
		n.SLAEnds = time.Time{}
	}
}

// handedIn reports whether the node fell away with what was handed in for it.
func (n *NodeState) handedIn() bool {
	return n.Status == task.NodeNA && (n.Reason == ReasonHandedIn || n.Reason == ReasonUnseen)
}

// again begins a new round of a node that was handed in.
func (n *NodeState) again(as task.NodeStatus) {
	n.leave(as)
	n.Iteration++
	n.Skipped = nil
}

func (w *walk) resolve(i int, e Event) {
	n := w.node(i)
	n.Skipped = e.Skipped
	switch e.Outcome {
	case ResolveRequeue:
		n.leave(task.NodeAvailable)
		if w.g.Nodes[i].Automated {
			n.leave(task.NodeDeferred)
			n.Reason = ReasonAutomation
		}
		n.Reworks, n.SLAEnds = 0, time.Time{}
	case ResolveAccept:
		n.leave(task.NodeSubmitted)
		if !w.g.leads(i, n.Skipped) {
			n.Skipped = nil // an admin's word opens every way
		}
	case ResolveSkip:
		n.leave(task.NodeNA)
		n.Passed, n.Reason = true, ReasonSkipped
	}
}

func (w *walk) automated(i int, e Event) {
	n := w.node(i)
	switch {
	case e.Outcome == AutoFailed:
		n.leave(task.NodeQuarantined)
		n.Reason = ReasonAutomation
	case w.g.Nodes[i].Unattended:
		n.leave(task.NodeSubmitted)
		n.Skipped = e.Skipped
	default:
		n.leave(task.NodeAvailable)
	}
}
