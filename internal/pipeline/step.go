package pipeline

import (
	"errors"
	"slices"

	"github.com/taskloom/taskloom/internal/task"
)

// ErrNoEntry says that the start's conditions rule out every node.
var ErrNoEntry = errors.New("no edge out of start applies to these values")

// Start returns the state of a new task: entry nodes open, the rest pending.
// skipped are the nodes that the start's conditions rule out.
func Start(g Graph, skipped []string) (State, error) {
	if len(g.Nodes) == 0 || !g.leads(0, skipped) {
		return State{}, ErrNoEntry
	}
	w := walk{g: g, d: g.known(), s: State{Seq: 1, StartSkipped: skipped}}
	for i := 1; i < w.last(); i++ {
		w.s.Nodes = append(w.s.Nodes, NodeState{Key: g.Nodes[i].Key, Status: task.NodePending, Iteration: 1})
	}
	w.settle()
	return w.s, nil
}

// Step takes one journal event and returns the state after it, with the node
// rows that must change. Events are facts that Postgres has accepted, so Step
// never refuses one.
//
// The event's own write (the claimed, submitted or escalated node) is the
// command's. Step repeats it on the state and reports what follows from it.
// Rows may lag behind the state, so a command may have acted on a node that
// has moved on since; Step reports the event's own node too wherever that can
// have made the row differ from the state. Applied in order, each change
// unless a later event wrote its row, the changes make the rows equal to the
// state.
func Step(g Graph, s State, e Event) (State, []Change) {
	w := walk{g: g, d: g.known(), s: s.clone()}
	w.s.Seq = max(w.s.Seq, e.Seq)
	own := w.apply(e)
	before := slices.Clone(w.s.Nodes)
	switch {
	case !own.counts || e.Kind != EventReview:
	case e.Outcome == Rejected:
		w.reject(own.node, e)
	case e.Outcome == Approved:
		w.overlook(own.node)
	}
	if !w.s.Failed {
		w.settle()
	}
	var changes []Change
	for i, n := range w.s.Nodes {
		// A claim is a command's to write, never a consequence.
		told := own.told && (own.node == 0 || own.node == i+1) && n.Status != task.NodeClaimed
		if told || !n.same(before[i]) {
			changes = append(changes, Change{Seq: e.Seq, Node: n})
		}
	}
	return w.s, changes
}

// Fold returns the state that the journal leads to: a task that started with
// these nodes ruled out, after these events. Only this state is right for Step
// to go on from while rows hold writes of commands whose consequences are
// still to come.
func Fold(g Graph, skipped []string, events []Event) (State, error) {
	s, err := Start(g, skipped)
	if err != nil {
		return State{}, err
	}
	for _, e := range events {
		if !e.Kind.Known() {
			return State{}, Unknown(e)
		}
		s, _ = Step(g, s, e)
	}
	return s, nil
}

// walk is one Step under way. Node i of the graph is state i-1: start is the
// graph's first node and has no state.
type walk struct {
	g Graph
	d *derived
	s State
}

func (w *walk) node(i int) *NodeState { return &w.s.Nodes[i-1] }

func (w *walk) last() int { return len(w.g.Nodes) - 1 }

// reject carries out a review's rejection: the checked subtasks go back to
// whoever did them, everything between them and the review starts over, and
// the review waits for them. Beyond its limit the review escalates instead.
func (w *walk) reject(r int, e Event) {
	review, gn := w.node(r), w.g.Nodes[r]
	var back, left []int
	redone := false
	for _, t := range gn.Reviews {
		if len(e.Returned) > 0 && !slices.Contains(e.Returned, w.g.Nodes[t].Key) {
			continue
		}
		switch n := w.node(t); {
		case n.Status == task.NodeSubmitted:
			back = append(back, t)
		case n.handedIn():
			left = append(left, t)
		}
		redone = redone || !w.decided(t)
	}
	about := len(back) > 0 || redone
	if about && len(e.Returned) == 0 {
		left = nil // the reviewer saw the others only
	}
	if about || len(left) == 0 {
		review.Reworks++
	}
	switch {
	case !about && len(left) > 0: // nobody needs it any more
	case review.Reworks > gn.MaxRework:
		review.leave(task.NodeEscalated)
		review.Reason = ReasonMaxRework
		return
	case !about:
		review.leave(task.NodeEscalated)
		review.Reason = ReasonNoTarget
		return
	}
	for _, t := range left {
		w.node(t).again(task.NodeNA) // should the task go there again, it is done again
	}
	for _, i := range w.g.between(slices.Concat(back, left), r) {
		switch n := w.node(i); {
		case n.Status == task.NodeSubmitted:
			n.again(task.NodePending)
		case n.handedIn():
			n.again(task.NodeNA)
		}
	}
	for _, t := range back {
		n := w.node(t)
		n.again(task.NodeAvailable)
		if w.g.Nodes[t].Unattended {
			n.Status = task.NodeDeferred
		} else {
			n.ReservedFor = n.Actor
		}
	}
	review.again(task.NodePending)
}

// overlook notes what an approval was not about, since it had fallen away.
func (w *walk) overlook(r int) {
	for _, t := range w.g.Nodes[r].Reviews {
		if n := w.node(t); n.handedIn() {
			n.Reason = ReasonUnseen
		}
	}
}
