package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Taking a submission back at once leaves every other node where giving the
// claim back would have left it, and the node itself in its next round, kept
// for its author. What cannot be taken back is final, led on by itself, or was
// followed.
func TestUndoIsAsIfItHadNotBeenHandedIn(t *testing.T) {
	t.Parallel()
	undone := 0
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			before := k.state
			if !k.act(wild) {
				return
			}
			k.run(len(k.journal))
			e := k.journal[len(k.journal)-1]
			if e.Kind != pipeline.EventSubmit && e.Kind != pipeline.EventReview {
				continue
			}
			was, _ := k.state.Node(e.Node)
			undo, can := k.undo(e.Node)
			require.Equal(t, was.Status == task.NodeSubmitted, can, "of what was just handed in all that is not final can be taken back")
			if !can {
				continue
			}
			undone++
			released := pipeline.Event{Seq: e.Seq, Kind: pipeline.EventRelease, Node: e.Node, Iteration: e.Iteration, Actor: e.Actor}
			want, _ := pipeline.Step(k.g, before, released)
			undo.Seq = e.Seq + 1
			got, _ := pipeline.Step(k.g, k.state, undo)
			for i, n := range got.Nodes {
				require.Equal(t, want.Nodes[i].Status, n.Status, "node %s", n.Key)
				if n.Key != e.Node {
					require.Equal(t, want.Nodes[i].Iteration, n.Iteration, "node %s", n.Key)
				}
			}
			n, _ := got.Node(e.Node)
			require.Equal(t, e.Iteration+1, n.Iteration)
			if n.Status == task.NodeAvailable { // else something before it is being done again
				require.Equal(t, e.Actor, n.ReservedFor)
			}
			require.Empty(t, n.Skipped)
		}
	})
	require.Positive(t, undone, "something was undone")
}

// Nothing that others did is taken from them by an undo.
func TestUndoTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	undone := 0
	rapid.Check(t, func(t *rapid.T) {
		k := newDesk(t, drawDefinition(t))
		for range rapid.IntRange(20, 60).Draw(t, "commands") {
			before := k.state
			if !k.takeBack() && !k.act(wild) {
				return
			}
			k.run(len(k.journal))
			e := k.journal[len(k.journal)-1]
			if e.Kind != pipeline.EventUndo {
				continue
			}
			undone++
			for i, n := range before.Nodes {
				switch is := k.state.Nodes[i]; {
				case n.Key == e.Node:
				case n.Status == task.NodeClaimed, n.Status == task.NodeFinished, n.Status == task.NodeSubmitted,
					n.Status == task.NodeEscalated, n.Status == task.NodeQuarantined:
					require.Equal(t, n, is)
				}
			}
		}
	})
	require.Positive(t, undone, "something was undone")
}

// takeBack takes one of the submissions back that can be, every second time
// that there is one; false when it took none. Among all that the people of a
// schedule may do an undo is too rare to be met in every hundred of them.
func (k *desk) takeBack() bool {
	var options []pipeline.Event
	for _, r := range k.rows {
		if e, can := k.undo(r.Key); can {
			options = append(options, e)
		}
	}
	if len(options) == 0 || !rapid.Bool().Draw(k.t, "take back") {
		return false
	}
	k.command(k.complete(rapid.SampledFrom(options).Draw(k.t, "undo"), wild))
	return true
}
