package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

func TestSignalsFromBeforeARestoreAreVoid(t *testing.T) {
	for name, again := range map[string]int{"the journal is shorter": 0, "it holds one other event": 1, "it holds as many other events": 2} {
		t.Run(name, func(t *testing.T) {
			x := newDesk(t, solveAndCheck())
			x.at(time.Minute, func() {
				lost := []pipeline.Event{x.claim("solve", 7), x.submit("solve", 7)}
				x.journal = x.journal[:1] // the database came back from before them, the signals did not
				here := []func() pipeline.Event{
					func() pipeline.Event { return x.claim("solve", 9) },
					func() pipeline.Event {
						return x.add(pipeline.Event{Kind: pipeline.EventRelease, Node: "solve", Actor: 9})
					},
				}
				for _, do := range here[:again] {
					do()
				}
				x.tell(lost...)
			})
			x.at(2*time.Minute, func() {
				require.Equal(t, int64(1+again), x.state().Seq)
				want := []task.NodeStatus{task.NodeAvailable, task.NodeClaimed, task.NodeAvailable}[again]
				x.requireNode("solve", want)
				if want == task.NodeAvailable {
					x.tell(x.claim("solve", 9))
				}
				x.tell(x.submit("solve", 9), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
			})
			require.Equal(t, task.Finished, x.run().Status)
			require.Equal(t, len(x.journal), int(x.applied.Seq))
		})
	}
}

// A command that applies what waits brings the rows to where the run believes them to
// be, over other events: the run must not go on from its own past.
func TestWhatACommandAppliedAfterARestoreIsFollowed(t *testing.T) {
	for name, loaded := range map[string]bool{"from what it applied": false, "from what it loaded": true} {
		t.Run(name, func(t *testing.T) {
			x := newDesk(t, solveAndCheck())
			var mine pipeline.Event
			x.at(time.Minute, func() {
				mine = x.claim("solve", 7)
				x.tell(mine, x.submit("solve", 7), x.claim("check", 8))
				if loaded {
					x.tell(pipeline.Event{Kind: pipeline.EventHold}) // without a number: look again
				}
			})
			x.at(2*time.Minute, func() {
				require.Equal(t, int64(4), x.state().Seq)
				x.journal = x.journal[:3] // the database came back from before the last claim
				var err error
				x.applied, err = pipeline.Fold(x.graph, nil, x.journal)
				require.NoError(t, err)
				undo := x.undo("solve", mine)
				x.applyUpTo(undo.Seq)
				again := x.add(pipeline.Event{Kind: pipeline.EventClaim, Node: "solve", Iteration: 2, Actor: 7, Claim: "again"})
				x.tell(undo, again)
			})
			x.at(3*time.Minute, func() {
				x.tell(x.add(pipeline.Event{Kind: pipeline.EventSubmit, Node: "solve", Iteration: 2, Actor: 7, Claim: "again"}))
			})
			x.at(4*time.Minute, func() {
				x.requireNode("check", task.NodeAvailable)
				x.tell(x.claim("check", 8), x.review("check", 8, pipeline.Approved))
			})
			require.Equal(t, task.Finished, x.run().Status)
		})
	}
}

// A run that has only begun holds nothing against the journal of another task but what
// task it is: without that it would lead this one through the pipeline of the lost one.
func TestATaskWithTheNumberOfALostOneGoesItsOwnWay(t *testing.T) {
	for name, other := range map[string]pipeline.Definition{
		"the node is in no other pipeline": define([]pipeline.Node{subtask("draw"), reviewOf("check", 1, "draw")},
			[2]string{"start", "draw"}, [2]string{"draw", "check"}, [2]string{"check", "end"}),
		"the lost task had no review": define([]pipeline.Node{subtask("solve")},
			[2]string{"start", "solve"}, [2]string{"solve", "end"}),
	} {
		t.Run(name, func(t *testing.T) {
			x := newDesk(t, other)
			x.at(time.Minute, func() {
				require.Equal(t, 1, x.called("LoadTask"))
				x.create(t, 2, solveAndCheck()) // the creation's own delivery may be lost with a worker
				x.tell(x.claim("solve", 7), x.submit("solve", 7))
			})
			x.at(2*time.Minute, func() {
				x.requireNode("check", task.NodeAvailable)
				x.tell(x.claim("check", 8), x.review("check", 8, pipeline.Approved))
			})
			require.Equal(t, task.Finished, x.run().Status)
		})
	}
}
