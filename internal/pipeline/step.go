package pipeline

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/task"
)

// ErrNoEntry says that the start's conditions rule out every node.
var ErrNoEntry = errors.New("no edge out of start applies to these values")

// Start returns the state of a new task: entry nodes open, the rest pending.
// skipped are the nodes that the start's conditions rule out.
func Start(g Graph, skipped []string) (State, error) {
	if taken := len(g.Nodes[0].Next) - len(skipped); taken <= 0 {
		return State{}, ErrNoEntry
	}
	w := walk{g: g, s: State{Seq: 1, StartSkipped: skipped}}
	for _, n := range g.Nodes {
		if n.Kind == KindSubtask || n.Kind == KindReview {
			w.s.Nodes = append(w.s.Nodes, NodeState{Key: n.Key, Status: task.NodePending, Iteration: 1})
		}
	}
	w.settle()
	return w.s, nil
}

// Step takes one journal event and returns the state after it, with the node
// rows that its consequences change. Events are facts: Step never refuses one.
// The event's own write (the claimed, submitted or escalated node) is the
// command's; Step repeats it on the state and reports only what follows.
func Step(g Graph, s State, e Event) (State, []Change) {
	w := walk{g: g, s: s.clone()}
	w.s.Seq = max(w.s.Seq, e.Seq)
	w.apply(e)
	before := slices.Clone(w.s.Nodes)
	if e.Kind == EventReview && e.Outcome == Rejected {
		w.reject(e)
	}
	if !w.s.Failed {
		w.settle()
	}
	var changes []Change
	for i, n := range w.s.Nodes {
		if !reflect.DeepEqual(n, before[i]) {
			changes = append(changes, Change{Seq: e.Seq, Node: n})
		}
	}
	return w.s, changes
}

// walk is one Step under way. Node i of the graph is state i-1: start is the
// graph's first node and has no state.
type walk struct {
	g Graph
	s State
}

func (w *walk) node(i int) *NodeState { return &w.s.Nodes[i-1] }

func (w *walk) last() int { return len(w.g.Nodes) - 1 }

// apply repeats on the state what the command wrote.
func (w *walk) apply(e Event) {
	switch e.Kind {
	case EventHold, EventUnhold:
		w.s.Held = e.Kind == EventHold
		return
	case EventFail:
		w.s.Failed = true
		for i := range w.s.Nodes {
			if n := &w.s.Nodes[i]; !n.Status.Settled() {
				n.leave(task.NodeNA)
			}
		}
		return
	case EventCreate:
		return
	case EventClaim, EventRelease, EventSubmit, EventReview, EventEscalate, EventQuarantine,
		EventResolve, EventExpire, EventAuto:
	}
	i := w.g.Index(e.Node)
	if i <= 0 || i >= w.last() {
		return
	}
	n := w.node(i)
	switch e.Kind {
	case EventClaim:
		w.s.Touched = true
		n.leave(task.NodeClaimed)
		n.Claim, n.LeaseEnds = e.Claim, e.LeaseEnds
	case EventRelease, EventExpire:
		n.leave(task.NodeAvailable)
	case EventSubmit:
		n.leave(task.NodeSubmitted)
		n.Actor, n.Skipped = e.Actor, e.Skipped
	case EventReview:
		n.Actor = e.Actor
		if e.Outcome == EscalatedByReviewer {
			n.leave(task.NodeEscalated)
			n.Reason = ReasonReviewer
			return
		}
		n.leave(task.NodeSubmitted)
		n.Skipped = e.Skipped
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
	case EventCreate, EventHold, EventUnhold, EventFail:
	}
}

// leave moves the node to a status and drops what belonged to the old one.
func (n *NodeState) leave(to task.NodeStatus) {
	n.Status = to
	n.Claim, n.LeaseEnds, n.ReservedFor, n.Reason = "", time.Time{}, 0, ""
	switch to {
	case task.NodeAvailable, task.NodeClaimed, task.NodeEscalated, task.NodeQuarantined:
	case task.NodePending, task.NodeDeferred, task.NodeSubmitted, task.NodeFinished, task.NodeNA:
		n.SLAEnds = time.Time{}
	}
}

func (w *walk) resolve(i int, e Event) {
	n := w.node(i)
	switch e.Outcome {
	case ResolveRequeue:
		n.leave(task.NodeAvailable)
		n.Iteration, n.Reworks, n.SLAEnds = e.Iteration, 0, time.Time{}
	case ResolveAccept:
		n.leave(task.NodeSubmitted)
		n.Skipped = e.Skipped
	case ResolveSkip:
		n.leave(task.NodeNA)
		n.Passed = true
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

// reject carries out a review's rejection: the checked subtasks go back to
// whoever did them, everything between them and the review starts over, and
// the review waits for them. Beyond its limit the review escalates instead.
func (w *walk) reject(e Event) {
	r := w.g.Index(e.Node)
	review, gn := w.node(r), w.g.Nodes[r]
	var back []int
	for _, t := range gn.Reviews {
		chosen := len(e.Returned) == 0 || slices.Contains(e.Returned, w.g.Nodes[t].Key)
		if chosen && w.node(t).Status == task.NodeSubmitted {
			back = append(back, t)
		}
	}
	review.Reworks++
	switch {
	case review.Reworks > gn.MaxRework:
		review.leave(task.NodeEscalated)
		review.Reason = ReasonMaxRework
		return
	case len(back) == 0:
		review.leave(task.NodeEscalated)
		review.Reason = ReasonNoTarget
		return
	}
	for _, t := range back {
		n := w.node(t)
		n.leave(task.NodeAvailable)
		n.Iteration++
		n.ReservedFor, n.Skipped = n.Actor, nil
	}
	for i, on := range w.g.between(back, r) {
		if on && w.node(i).Status == task.NodeSubmitted {
			n := w.node(i)
			n.leave(task.NodePending)
			n.Iteration++
			n.Skipped = nil
		}
	}
	// A branch that the old answers ruled out may open with the new ones.
	for i, on := range w.g.reachable(back...) {
		if on && i < w.last() && w.node(i).Status == task.NodeNA && !w.node(i).Passed {
			w.node(i).Status = task.NodePending
		}
	}
	review.leave(task.NodePending)
	review.Iteration++
	review.Skipped = nil
}

// settle follows the edges until nothing changes any more.
func (w *walk) settle() {
	for changed := true; changed; {
		changed = false
		for i := 1; i < w.last(); i++ {
			changed = w.visit(i) || changed
		}
	}
}

// visit moves one node as far as its neighbours allow and reports whether it
// moved.
func (w *walk) visit(i int) bool {
	n, gn := w.node(i), w.g.Nodes[i]
	switch n.Status {
	case task.NodePending:
		return w.open(i)
	case task.NodeDeferred, task.NodeAvailable:
		if open, taken := w.incoming(i); !open && !taken {
			n.leave(task.NodeNA)
			return true
		}
	case task.NodeSubmitted:
		if len(n.Skipped) >= len(gn.Next) {
			n.leave(task.NodeQuarantined)
			n.Reason = ReasonNoRoute
			return true
		}
		if !w.gated(i) {
			n.leave(task.NodeFinished)
			return true
		}
	case task.NodeClaimed, task.NodeEscalated, task.NodeQuarantined, task.NodeFinished, task.NodeNA:
	}
	return false
}

// open decides about a pending node: it opens when every edge into it is
// decided and one was taken, and falls away when none was.
func (w *walk) open(i int) bool {
	waiting, taken := w.incoming(i)
	n, gn := w.node(i), w.g.Nodes[i]
	switch {
	case waiting:
		return false
	case !taken:
		n.leave(task.NodeNA)
	case gn.Kind == KindReview && w.nothingToCheck(gn):
		n.leave(task.NodeNA)
		n.Passed = true
	case gn.Automated && (n.Iteration == 1 || gn.Unattended):
		n.leave(task.NodeDeferred)
	default:
		n.leave(task.NodeAvailable)
		n.ReservedFor = n.Actor
	}
	return true
}

// incoming looks at the edges into node i: whether one is still undecided, and
// whether one was taken.
func (w *walk) incoming(i int) (waiting, taken bool) {
	for _, p := range w.g.Nodes[i].Prev {
		if p == 0 {
			taken = taken || !slices.Contains(w.s.StartSkipped, w.g.Nodes[i].Key)
			continue
		}
		n := w.node(p)
		switch n.Status {
		case task.NodeSubmitted, task.NodeFinished:
			taken = taken || !slices.Contains(n.Skipped, w.g.Nodes[i].Key)
		case task.NodeNA:
			taken = taken || n.Passed
		case task.NodePending, task.NodeDeferred, task.NodeAvailable, task.NodeClaimed,
			task.NodeEscalated, task.NodeQuarantined:
			waiting = true
		}
	}
	return waiting, taken
}

func (w *walk) nothingToCheck(review GraphNode) bool {
	for _, t := range review.Reviews {
		if w.node(t).Status != task.NodeNA {
			return false
		}
	}
	return true
}

// gated reports whether a review that is still open could send node i back.
// Such a node stays submitted, so that a finished node never reopens (DESIGN
// section 6).
func (w *walk) gated(i int) bool {
	for r := i + 1; r < w.last(); r++ {
		gn := w.g.Nodes[r]
		if gn.Kind != KindReview || w.node(r).Status.Settled() {
			continue
		}
		if slices.Contains(gn.Reviews, i) || w.g.between(gn.Reviews, r)[i] {
			return true
		}
	}
	return false
}
