package workflows_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/workflows"
)

// desk is a run of one task in the test environment, whose clock jumps, with
// the fake store beside it.
type desk struct {
	*fakeStore
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment
}

func newDesk(t *testing.T, d pipeline.Definition, skipped ...string) *desk {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	x := &desk{fakeStore: newFakeStore(t, d, skipped...), t: t, env: s.NewTestWorkflowEnvironment()}
	x.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 10 * time.Second})
	x.env.SetTestTimeout(time.Minute)
	x.env.RegisterActivity(&activities.Tasks{Store: x.fakeStore})
	x.now = x.env.Now
	return x
}

// at does something at a time of the run's clock.
func (x *desk) at(d time.Duration, do func()) { x.env.RegisterDelayedCallback(do, d) }

// tell delivers events as the dispatcher does.
func (x *desk) tell(events ...pipeline.Event) {
	for _, e := range events {
		x.env.SignalWorkflow(workflows.SignalFor(e.Kind), activities.Wire(e))
	}
}

func (x *desk) run() workflows.TaskResult {
	x.t.Helper()
	var unread []string
	x.env.ExecuteWorkflow(func(ctx workflow.Context, in workflows.TaskInput) (workflows.TaskResult, error) {
		out, err := workflows.TaskWorkflow(ctx, in)
		unread = workflow.GetUnhandledSignalNames(ctx)
		return out, err
	}, workflows.TaskInput{TaskID: taskID})
	out := x.result()
	require.Empty(x.t, unread, "signals are lost when the run ends")
	require.Empty(x.t, x.wrong)
	return out
}

func (x *desk) result() workflows.TaskResult {
	x.t.Helper()
	require.True(x.t, x.env.IsWorkflowCompleted(), "the run hangs")
	require.NoError(x.t, x.env.GetWorkflowError())
	var out workflows.TaskResult
	require.NoError(x.t, x.env.GetWorkflowResult(&out))
	return out
}

func (x *desk) view() workflows.TaskView {
	x.t.Helper()
	v, err := x.env.QueryWorkflow(workflows.StateQuery)
	require.NoError(x.t, err)
	var out workflows.TaskView
	require.NoError(x.t, v.Get(&out))
	return out
}

// details is what an operator reads on the run's page.
func (x *desk) details() string {
	x.t.Helper()
	v, err := x.env.QueryWorkflow("__temporal_workflow_metadata")
	require.NoError(x.t, err)
	var out sdk.WorkflowMetadata
	require.NoError(x.t, v.Get(&out))
	return out.GetCurrentDetails()
}

// onLabel collects what TaskState is set to.
func (x *desk) onLabel(note func(string)) {
	x.env.OnUpsertTypedSearchAttributes(mock.MatchedBy(func(a temporal.SearchAttributes) bool {
		v, ok := a.GetKeyword(workflows.TaskStateAttribute)
		if ok {
			note(v)
		}
		return ok
	})).Return(nil)
}

func (x *desk) node(key string) pipeline.NodeState {
	x.t.Helper()
	n, ok := x.state().Node(key)
	require.True(x.t, ok, key)
	return n
}

func (x *desk) requireNode(key string, want task.NodeStatus) {
	x.t.Helper()
	require.Equal(x.t, want, x.node(key).Status, key)
}

func TestTaskWalksToItsEnd(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(2*time.Minute, func() { x.tell(x.submit("solve", 7)) })
	x.at(3*time.Minute, func() {
		x.requireNode("check", task.NodeAvailable)
		x.requireNode("solve", task.NodeSubmitted)
		x.tell(x.claim("check", 8))
	})
	x.at(4*time.Minute, func() { x.tell(x.review("check", 8, pipeline.Approved)) })
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 5}, x.run())
	require.Equal(t, int64(5), x.state().Seq)
	require.Equal(t, 1, x.called("LoadTask"))
	require.Equal(t, 4, x.called("ApplyStep"))
	require.Zero(t, x.called("LoadEvents"), "nothing was missing")
}

func TestSignalsOutOfOrderAndTwice(t *testing.T) {
	for seed := range uint64(8) {
		x := newDesk(t, sideBySide())
		rng := rand.New(rand.NewPCG(seed, 1))
		x.at(time.Minute, func() {
			events := []pipeline.Event{
				x.claim("left", 1), x.claim("right", 2), x.submit("left", 1), x.submit("right", 2),
				x.claim("check", 3), x.review("check", 3, pipeline.Approved),
			}
			events = append(events, events...)
			rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
			x.tell(events...)
		})
		require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 7}, x.run(), "seed %d", seed)
	}
}

func TestEventsThatArriveTogetherAreOneWrite(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		x.tell(x.claim("solve", 7), x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, task.Finished, x.run().Status)
	require.Less(t, x.called("ApplyStep"), 4, "not one write per event")
}

func TestGapIsFilledFromTheJournal(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		x.claim("solve", 7) // its signal is lost
		x.tell(x.submit("solve", 7))
	})
	x.at(2*time.Minute, func() {
		x.requireNode("check", task.NodeAvailable)
		require.Equal(t, 1, x.called("LoadEvents"))
		x.claim("check", 8)
		x.tell(x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 5}, x.run())
}

func TestAnEventThatTheJournalDoesNotHoldIsDropped(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(pipeline.Event{Seq: 9, Kind: pipeline.EventClaim, Node: "solve"}) })
	x.at(2*time.Minute, func() {
		require.Equal(t, 1, x.called("LoadEvents"), "asked once, not in a loop")
		x.tell(x.claim("solve", 7), x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, task.Finished, x.run().Status)
}

func TestNudgeReadsTheJournal(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		x.claim("solve", 7)
		x.submit("solve", 7)
		x.tell(pipeline.Event{})
	})
	x.at(2*time.Minute, func() {
		x.requireNode("check", task.NodeAvailable)
		x.claim("check", 8)
		x.review("check", 8, pipeline.Approved)
		x.tell(pipeline.Event{})
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 5}, x.run())
}

func TestALongJournalIsReadInPages(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		for range 120 {
			x.claim("solve", 7)
			x.add(pipeline.Event{Kind: pipeline.EventRelease, Node: "solve"})
		}
		x.claim("solve", 7)
		x.submit("solve", 7)
		x.claim("check", 8)
		x.review("check", 8, pipeline.Approved)
		x.tell(pipeline.Event{})
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 245}, x.run())
	require.Equal(t, 3, x.called("LoadEvents"))
}

func TestADamagedSignalIsPassedOver(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.env.SignalWorkflow(workflows.ClaimSignal, "not an event") })
	x.at(2*time.Minute, func() {
		x.tell(x.claim("solve", 7), x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, task.Finished, x.run().Status)
}

func TestRejectionReturnsTheNodeAndAnApprovalEndsIt(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7), x.submit("solve", 7)) })
	x.at(2*time.Minute, func() { x.tell(x.claim("check", 8), x.review("check", 8, pipeline.Rejected)) })
	x.at(3*time.Minute, func() {
		require.Equal(t, task.NodeAvailable, x.node("solve").Status)
		require.Equal(t, 2, x.node("solve").Iteration)
		require.Equal(t, int64(7), x.node("solve").ReservedFor)
		x.tell(x.claim("solve", 7), x.submit("solve", 7))
	})
	x.at(4*time.Minute, func() { x.tell(x.claim("check", 8), x.review("check", 8, pipeline.Approved)) })
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 9}, x.run())
}

func TestTooManyRejectionsEscalateUntilAnAdminResolves(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	var labels []string
	x.onLabel(func(s string) { labels = append(labels, s) })
	for i := range 2 {
		x.at(time.Duration(i+1)*time.Minute, func() {
			x.tell(x.claim("solve", 7), x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Rejected))
		})
	}
	x.at(3*time.Minute, func() {
		require.Equal(t, task.Escalated, x.state().Status())
		x.tell(x.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "check", Outcome: pipeline.ResolveAccept}))
	})
	require.Equal(t, task.Finished, x.run().Status)
	require.Equal(t, []string{workflows.TaskEscalated, workflows.TaskActive}, labels)
}

func TestHoldAndFail(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.add(pipeline.Event{Kind: pipeline.EventHold})) })
	x.at(2*time.Minute, func() { require.Equal(t, task.Paused, x.view().Status) })
	x.at(3*time.Minute, func() { x.tell(x.add(pipeline.Event{Kind: pipeline.EventUnhold})) })
	x.at(4*time.Minute, func() { x.tell(x.add(pipeline.Event{Kind: pipeline.EventFail})) })
	require.Equal(t, workflows.TaskResult{Status: task.Failed, Seq: 4}, x.run())
}

func TestAnAnswerChoosesTheBranch(t *testing.T) {
	x := newDesk(t, fork())
	x.at(time.Minute, func() { x.tell(x.claim("triage", 7), x.submit("triage", 7, "long")) })
	x.at(2*time.Minute, func() {
		x.requireNode("short", task.NodeAvailable)
		x.requireNode("long", task.NodeNA)
		x.tell(x.claim("short", 7), x.submit("short", 7))
	})
	require.Equal(t, task.Finished, x.run().Status)
}

func TestARunForATaskThatIsOverEndsAtOnce(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.add(pipeline.Event{Kind: pipeline.EventFail})
	x.applyUpTo(2)
	require.Equal(t, workflows.TaskResult{Status: task.Failed, Seq: 2}, x.run())
}

func TestARunForATaskThatIsNotThereFails(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.env.ExecuteWorkflow(workflows.TaskWorkflow, workflows.TaskInput{TaskID: 999})
	require.ErrorContains(t, x.env.GetWorkflowError(), "there is no such task")
	require.Equal(t, 1, x.called("LoadTask"), "trying again cannot help")
}

func TestANewRunInMidLifeCatchesUp(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.claim("solve", 7)
	x.submit("solve", 7)
	x.applyUpTo(3)
	x.claim("check", 8) // told to a run that was terminated
	x.at(time.Minute, func() {
		require.Equal(t, int64(4), x.state().Seq)
		x.tell(x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 5}, x.run())
}

func TestStaleStepLoadsTheTaskAgain(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		e := x.claim("solve", 7)
		x.applyUpTo(2) // by a run that was terminated in the middle
		x.tell(e, x.submit("solve", 7))
	})
	x.at(2*time.Minute, func() {
		x.requireNode("check", task.NodeAvailable)
		x.tell(x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 5}, x.run())
	require.Equal(t, 2, x.called("LoadTask"))
}

func TestADatabaseFromABackupIsFollowed(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7), x.submit("solve", 7)) })
	x.at(2*time.Minute, func() { // the last two events are gone
		start, err := pipeline.Start(x.graph, nil)
		require.NoError(t, err)
		x.applied, x.journal = start, x.journal[:1]
		x.tell(x.claim("solve", 9), pipeline.Event{})
	})
	x.at(3*time.Minute, func() {
		x.requireNode("solve", task.NodeClaimed)
		x.tell(x.submit("solve", 9), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 5}, x.run())
}

func TestAnOutageGoesToAPatientActivityOnce(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	var patient []string
	x.env.SetOnActivityStartedListener(func(i *activity.Info, _ context.Context, _ converter.EncodedValues) {
		patient = append(patient, i.ActivityType.Name)
	})
	x.at(time.Minute, func() {
		down := 6
		x.fail = func(call string) error {
			if call == "ApplyStep" && down > 0 {
				down--
				return fault.New(fault.Unavailable, "the database is away").Because(errors.New("dial 10.0.0.1: secret"))
			}
			return nil
		}
		x.tell(x.claim("solve", 7))
	})
	x.at(time.Hour, func() { x.tell(x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved)) })
	require.Equal(t, task.Finished, x.run().Status)
	require.Len(t, patient, 5, "two tries are local, four more fail, one succeeds")
	require.Len(t, slices.Compact(patient), 1, "one step in the history, however often it is tried")
}

func TestCancellationFailsTheTask(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(2*time.Minute, x.env.CancelWorkflow)
	x.env.ExecuteWorkflow(workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
	require.True(t, x.env.IsWorkflowCompleted())
	require.ErrorContains(t, x.env.GetWorkflowError(), "canceled")
	require.Equal(t, task.Failed, x.state().Status())
	require.Equal(t, 1, x.called("FailByOperator"))
}

func TestDetailsSayWhoIsWaitedFor(t *testing.T) {
	x := newDesk(t, sideBySide())
	x.at(time.Minute, func() { x.tell(x.claim("left", 7)) })
	x.at(2*time.Minute, func() {
		ends := x.leases["left"].UTC().Format(time.DateTime)
		require.Equal(t, strings.Join([]string{
			"task 123 · pipeline 42 · Math check", "", "**in_progress** after event 2", "",
			"| node | status | waits for | until |", "|---|---|---|---|",
			"| left | claimed | user 7 | " + ends + " UTC |",
			"| right | available | a contributor |  |",
			"| check | pending | earlier nodes |  |", "",
		}, "\n"), x.details())
		v := x.view()
		require.Equal(t, int64(2), v.Seq)
		require.Equal(t, "claim lease of left", v.Deadline.What)
	})
	x.at(3*time.Minute, func() {
		x.tell(x.submit("left", 7), x.claim("right", 9), x.submit("right", 9))
	})
	x.at(4*time.Minute, func() {
		require.Contains(t, x.details(), "| check | available | a reviewer |  |")
		require.Contains(t, x.details(), "| left | submitted | a review |  |")
		x.tell(x.claim("check", 8), x.review("check", 8, pipeline.Rejected))
	})
	x.at(5*time.Minute, func() {
		require.Contains(t, x.details(), "| left | available | user 7, then a contributor |  |")
		x.tell(x.add(pipeline.Event{Kind: pipeline.EventQuarantine, Node: "left", Reason: "spam"}))
	})
	x.at(6*time.Minute, func() {
		require.Contains(t, x.details(), "| left | quarantined | an admin (person) |  |")
		x.tell(x.add(pipeline.Event{Kind: pipeline.EventFail}))
	})
	x.run()
}
