package pipeline

import (
	"slices"

	"github.com/taskloom/taskloom/internal/task"
)

// UndoBlock says why a submission cannot be taken back.
type UndoBlock string

// Why a submission cannot be taken back.
const (
	// UndoOver: the task has ended.
	UndoOver UndoBlock = "over"
	// UndoFinal: the node is finished, and what is finished stays so.
	UndoFinal UndoBlock = "final"
	// UndoEscalated: the node is with the project's admins, whoever gave it to them.
	UndoEscalated UndoBlock = "escalated"
	// UndoDecided: the submission has led on by itself: it was returned, it
	// was set aside, or it was a verdict that returned something.
	UndoDecided UndoBlock = "decided"
	// UndoFollowed: somebody took up a node after this one, or an automation
	// worked with what was handed in.
	UndoFollowed UndoBlock = "followed"
	// UndoLed: a node that is done, and does not come after this one, led the task on by
	// what was corrected. The journal holds no answers, so it does not tell.
	UndoLed UndoBlock = "led"
	// UndoApproved: another review approved what was corrected, and stands. The journal
	// does not tell that either.
	UndoApproved UndoBlock = "approved"
)

// CheckUndo looks whether the submission with number seq of a task's journal
// can be taken back now, and returns "" or what stands in the way; with
// UndoFollowed also the key of the node that was taken up. events is the whole
// journal. Only what the journal leads to counts, never how much of it a run
// has applied so far.
func CheckUndo(g Graph, skipped []string, events []Event, seq int64) (UndoBlock, string, error) {
	s, err := Fold(g, skipped, events)
	if err != nil {
		return "", "", err
	}
	at := slices.IndexFunc(events, func(e Event) bool { return e.Seq == seq })
	if at < 0 {
		return UndoDecided, "", nil
	}
	e := events[at]
	i := g.Index(e.Node)
	n, ok := s.Node(e.Node)
	switch {
	case s.Failed:
		return UndoOver, "", nil
	case !ok || e.Kind != EventSubmit && e.Kind != EventReview:
		return UndoDecided, "", nil
	case n.Status == task.NodeFinished:
		return UndoFinal, "", nil
	case n.Status == task.NodeEscalated && n.Iteration == e.Iteration:
		return UndoEscalated, "", nil
	case n.Status != task.NodeSubmitted || n.Iteration != e.Iteration:
		return UndoDecided, "", nil
	}
	after := g.reachable([]int{i})
	for _, later := range events[at+1:] {
		switch next := g.Index(later.Node); {
		case next < 0:
		case next == i:
			return UndoDecided, "", nil
		case after[next]:
			return UndoFollowed, later.Node, nil
		}
	}
	return "", "", nil
}

// MayWait reports whether what is handed in for the node can wait for a decision:
// a review may send it back, or what decided that the task goes there. Where
// neither can be, it is final at once.
func (g Graph) MayWait(key string) bool {
	d := g.known()
	i, ok := d.index[key]
	return ok && d.mayWait[i]
}
