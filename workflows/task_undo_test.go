package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// The command that takes something back writes all that follows from it, so
// the run finds its step done: it reads the rows and goes on.
func TestUndoIsDoneBeforeTheRunHearsOfIt(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	var c pipeline.Event
	x.at(time.Minute, func() { c = x.claim("solve", 7); x.tell(c, x.submit("solve", 7)) })
	x.at(2*time.Minute, func() {
		x.requireNode("check", task.NodeAvailable)
		undo := x.undo("solve", c)
		x.mu.Lock()
		x.applyUpTo(undo.Seq)
		x.mu.Unlock()
		x.tell(undo, x.add(pipeline.Event{Kind: pipeline.EventClaim, Node: "solve", Iteration: 2, Actor: 7, Claim: "claim-5", LeaseEnds: x.now().Add(leaseTime)}))
	})
	x.at(3*time.Minute, func() {
		require.Equal(t, 2, x.called("LoadTask"))
		x.requireNode("solve", task.NodeClaimed)
		x.requireNode("check", task.NodePending)
		require.Equal(t, 2, x.node("solve").Iteration)
		x.tell(x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, task.Finished, x.run().Status)
}

// Alone the run can do it, too.
func TestUndoByTheRun(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		c := x.claim("solve", 7)
		x.tell(c, x.submit("solve", 7), x.undo("solve", c))
	})
	x.at(2*time.Minute, func() {
		x.requireNode("solve", task.NodeAvailable)
		x.requireNode("check", task.NodePending)
		require.Equal(t, int64(7), x.node("solve").ReservedFor)
		x.tell(x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, task.Finished, x.run().Status)
}
