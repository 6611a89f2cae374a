package pipeline

import (
	"slices"

	"github.com/taskloom/taskloom/internal/task"
)

// settle brings every node to where its neighbours put it. A node depends on
// nodes before it only, so one pass over the topological order is enough.
//
// Whether a node that nobody works on is open follows from the nodes before it
// and from nothing else, so that no order of events makes a difference: it
// closes again when one of those is undone.
func (w *walk) settle() {
	for i := 1; i < w.last(); i++ {
		w.visit(i)
	}
	var unsure []bool
	for i := 1; i < w.last(); i++ {
		if w.node(i).Status != task.NodeSubmitted {
			continue
		}
		if unsure == nil {
			unsure = w.unsure()
		}
		if !unsure[i] {
			w.node(i).leave(task.NodeFinished)
		}
	}
}

// visit moves one node as far as the nodes before it allow.
func (w *walk) visit(i int) {
	n, gn := w.node(i), w.g.Nodes[i]
	switch n.Status {
	case task.NodePending, task.NodeDeferred, task.NodeAvailable:
		w.open(i)
	case task.NodeNA:
		switch {
		case !w.fellAway(i):
		case !n.handedIn():
			w.open(i)
		case w.undoneBelow(gn):
			n.again(task.NodePending)
		case w.waits(i) || w.taken(i):
			w.comeBack(i)
			w.visit(i)
		}
	case task.NodeClaimed:
		// What people do on a subtask is never lost. A review whose object is
		// being done again, or fell away, has nothing to look at.
		switch {
		case gn.Kind != KindReview:
		case w.waits(i):
			n.leave(task.NodePending)
		case w.ruledOut(i) || w.d.chooses && w.nothingToCheck(gn):
			w.open(i)
		}
	case task.NodeSubmitted:
		switch {
		case w.undoneBelow(gn):
			n.again(task.NodePending)
		case w.ruledOut(i) && !w.waits(i):
			n.leave(task.NodeNA)
			n.Reason = ReasonHandedIn
		case (!w.d.chooses || !w.waits(i)) && !w.g.leads(i, n.Skipped):
			n.leave(task.NodeQuarantined)
			n.Reason = ReasonNoRoute
		}
	case task.NodeEscalated, task.NodeQuarantined, task.NodeFinished:
	}
}

// open decides about a node that nobody works on: it waits until every edge
// into it is decided, falls away when none was taken, and is open otherwise.
func (w *walk) open(i int) {
	n, gn := w.node(i), w.g.Nodes[i]
	switch closed := n.Status == task.NodePending || n.Status == task.NodeNA; {
	case w.waits(i):
		w.shut(i, task.NodePending)
	case !w.taken(i):
		w.shut(i, task.NodeNA)
	case gn.Kind == KindReview && w.nothingToCheck(gn):
		n.leave(task.NodeNA)
		n.Passed = true
	case closed && w.unprepared(i):
		again := n.Reason == ReasonAutomation
		n.leave(task.NodeDeferred)
		if again {
			n.Reason = ReasonAutomation
		}
	case closed:
		n.leave(task.NodeAvailable)
		n.ReservedFor = n.Actor
	}
}

// shut closes a node that nobody works on and notes how far its automation has
// come.
func (w *walk) shut(i int, as task.NodeStatus) {
	n, note := w.node(i), ""
	switch {
	case !w.g.Nodes[i].Automated:
	case n.Status == task.NodeAvailable:
		note = ReasonPrepared
	case n.Reason == ReasonPrepared || n.Reason == ReasonAutomation:
		note = n.Reason
	}
	n.leave(as)
	n.Reason = note
}

// unprepared reports whether automation must run before the closed node opens:
// in its first round, for a person once is enough.
func (w *walk) unprepared(i int) bool {
	n, gn := w.node(i), w.g.Nodes[i]
	return gn.Automated && (gn.Unattended || n.Reason == ReasonAutomation || n.Iteration == 1 && n.Reason != ReasonPrepared)
}

// decided reports whether the edges out of node i are decided.
func (w *walk) decided(i int) bool {
	if i == 0 {
		return true
	}
	switch w.node(i).Status {
	case task.NodeSubmitted, task.NodeFinished, task.NodeNA:
		return true
	case task.NodePending, task.NodeDeferred, task.NodeAvailable, task.NodeClaimed,
		task.NodeEscalated, task.NodeQuarantined:
	}
	return false
}

// waits reports whether something before node i is still to be done. A review
// also waits for what it checks and for all that lies between, which another
// review may have sent back.
func (w *walk) waits(i int) bool {
	for _, before := range [][]int{w.g.Nodes[i].Prev, w.g.Nodes[i].Reviews, w.d.between[i]} {
		for _, p := range before {
			if !w.decided(p) {
				return true
			}
		}
	}
	return false
}

// taken reports whether an edge into node i was taken; all of them are
// decided.
func (w *walk) taken(i int) bool {
	key := w.g.Nodes[i].Key
	for _, p := range w.g.Nodes[i].Prev {
		if p == 0 {
			if !slices.Contains(w.s.StartSkipped, key) {
				return true
			}
			continue
		}
		n := w.node(p)
		if n.Status == task.NodeNA && n.Passed || n.Status != task.NodeNA && !slices.Contains(n.Skipped, key) {
			return true
		}
	}
	return false
}

// comeBack makes a node submitted again with what was handed in for it. Reviews that
// were approved without it come later in the pass, and begin anew. So do those that are
// open: who has claimed one, or is about to, was not shown it, and their verdict is of a
// round that is over.
func (w *walk) comeBack(i int) {
	n := w.node(i)
	unseen := n.Reason == ReasonUnseen
	n.leave(task.NodeSubmitted)
	for _, r := range w.d.reviewers[i] {
		switch n := w.node(r); {
		case n.Status == task.NodeAvailable || n.Status == task.NodeClaimed:
			n.again(task.NodePending)
		case !unseen:
		case n.Status == task.NodeSubmitted:
			n.again(task.NodePending)
		case n.handedIn():
			n.again(task.NodeNA)
		}
	}
}

// undoneBelow reports whether something that the review checks is being done again.
func (w *walk) undoneBelow(review GraphNode) bool {
	return slices.ContainsFunc(review.Reviews, func(t int) bool { return !w.decided(t) })
}

// ruledOut reports whether the task goes another way now than through node i,
// where something was done already. It says so only of a node whose ways are decided.
func (w *walk) ruledOut(i int) bool { return w.d.chooses && !w.taken(i) }

func (w *walk) nothingToCheck(review GraphNode) bool {
	return !slices.ContainsFunc(review.Reviews, func(t int) bool { return w.node(t).Status != task.NodeNA })
}

// fellAway reports whether node i is na because of the nodes before it, not by
// an admin's word.
func (w *walk) fellAway(i int) bool {
	n := w.node(i)
	return n.Status == task.NodeNA && n.Reason != ReasonSkipped
}

// leads reports whether an edge out of node i is left when these next nodes
// are ruled out.
func (g Graph) leads(i int, skipped []string) bool {
	return slices.ContainsFunc(g.Nodes[i].Next, func(n int) bool { return !slices.Contains(skipped, g.Nodes[n].Key) })
}
