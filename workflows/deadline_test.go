package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/workflows"
)

// timers counts the timers of a run from here on.
func (x *desk) timers() (set, cancelled *int) {
	set, cancelled = new(int), new(int)
	x.env.SetOnTimerScheduledListener(func(string, time.Duration) { *set++ })
	x.env.SetOnTimerCanceledListener(func(string) { *cancelled++ })
	return set, cancelled
}

// finish walks solveAndCheck to its end from where nobody has solved it.
func (x *desk) finish() {
	x.tell(x.claim("solve", 7), x.submit("solve", 7), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
}

func TestAnAbandonedClaimRunsOut(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(time.Minute+leaseTime+2*time.Second, func() {
		x.requireNode("solve", task.NodeAvailable)
		require.Equal(t, 1, x.called("CheckDeadlines"))
		x.finish()
	})
	require.Equal(t, workflows.TaskResult{Status: task.Finished, Seq: 7}, x.run())
}

func TestARenewedLeaseIsFoundOutWhenTheTimerFires(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(21*time.Minute, func() { x.renew("solve") })
	x.at(45*time.Minute, func() {
		x.requireNode("solve", task.NodeClaimed)
		require.Equal(t, 1, x.called("CheckDeadlines"))
	})
	x.at(52*time.Minute, func() {
		x.requireNode("solve", task.NodeAvailable)
		require.Equal(t, 2, x.called("CheckDeadlines"))
		x.finish()
	})
	require.Equal(t, task.Finished, x.run().Status)
}

func TestOneTimerForTheEarliestOfSeveralLeases(t *testing.T) {
	x := newDesk(t, sideBySide())
	set, cancelled := x.timers()
	x.at(time.Minute, func() { x.tell(x.claim("left", 1)) })
	x.at(11*time.Minute, func() { x.tell(x.claim("right", 2)) })
	x.at(12*time.Minute, func() {
		require.Equal(t, 1, *set, "the later lease needs no timer yet")
		x.tell(x.submit("left", 1))
	})
	x.at(13*time.Minute, func() {
		require.Equal(t, 2, *set)
		require.Equal(t, 1, *cancelled)
	})
	x.at(42*time.Minute, func() {
		x.requireNode("right", task.NodeAvailable)
		x.requireNode("left", task.NodeSubmitted)
		x.tell(x.claim("right", 3), x.submit("right", 3), x.claim("check", 8), x.review("check", 8, pipeline.Approved))
	})
	require.Equal(t, task.Finished, x.run().Status)
}

func TestReleaseCancelsTheTimer(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	set, cancelled := x.timers()
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(2*time.Minute, func() { x.tell(x.add(pipeline.Event{Kind: pipeline.EventRelease, Node: "solve"})) })
	x.at(time.Hour, func() {
		require.Equal(t, 1, *set)
		require.Equal(t, 1, *cancelled)
		require.Zero(t, x.called("CheckDeadlines"))
		x.finish()
	})
	require.Equal(t, task.Finished, x.run().Status)
}

func TestATimeLimitEscalates(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.sla = 2 * time.Hour
	x.applyUpTo(1)
	var labels []string
	x.onLabel(func(s string) { labels = append(labels, s) })
	x.at(3*time.Hour, func() {
		require.Equal(t, task.Escalated, x.state().Status())
		require.Contains(t, x.details(), "| solve | escalated | an admin (sla) |")
		x.tell(x.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "solve", Outcome: pipeline.ResolveRequeue, Iteration: 2}))
	})
	x.at(4*time.Hour, func() { x.finish() })
	require.Equal(t, task.Finished, x.run().Status)
	require.Equal(t, []string{workflows.TaskEscalated, workflows.TaskActive}, labels)
}

// A database whose clock is ahead of Temporal's or behind it: its deadlines are
// met when they are due all the same, each at one try.
func TestClocksMayDisagree(t *testing.T) {
	for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			x := newDesk(t, solveAndCheck())
			temporals := x.now
			x.now = func() time.Time { return temporals().Add(off) }
			x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
			x.at(time.Minute+leaseTime-time.Second, func() { x.requireNode("solve", task.NodeClaimed) })
			x.at(time.Minute+leaseTime+time.Second, func() {
				x.requireNode("solve", task.NodeAvailable)
				require.Equal(t, 1, x.called("CheckDeadlines"))
				x.finish()
			})
			require.Equal(t, task.Finished, x.run().Status)
		})
	}
}

// Nor does a time limit wait for a difference of clocks that the run has not met in a
// step: it is there when the run begins.
func TestATimeLimitIsKeptFromTheBeginning(t *testing.T) {
	for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		t.Run(off.String(), func(t *testing.T) {
			x := newDesk(t, solveAndCheck())
			temporals := x.now
			x.now = func() time.Time { return temporals().Add(off) }
			x.sla = 30 * time.Minute
			x.limits["solve"] = x.now().Add(x.sla).UTC()
			x.at(x.sla-time.Second, func() { x.requireNode("solve", task.NodeAvailable) })
			x.at(x.sla+2*time.Second, func() {
				x.requireNode("solve", task.NodeEscalated)
				require.Equal(t, 1, x.called("CheckDeadlines"))
				x.env.CancelWorkflow()
			})
			x.env.ExecuteWorkflow(workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
		})
	}
}

// late is how long an answer waits for a worker that takes it.
const late = 20 * time.Minute

// comesLate makes the next answer of an activity come late: the tries at hand fail,
// and the database told its time when it answered, not when the run read it.
func comesLate[In, Out any](x *desk, name string, call func(context.Context, In) (Out, error), told func(*Out) *time.Time) (came *int) {
	came = new(int)
	var none Out
	x.env.OnActivity(name, anyArgs()...).Return(none, errors.New("the database is away")).Times(2)
	x.env.OnActivity(name, anyArgs()...).After(late).Return(func(ctx context.Context, in In) (Out, error) {
		*came++
		got, err := call(ctx, in)
		at := told(&got)
		*at = at.Add(-late)
		return got, err
	}).Once()
	x.env.OnActivity(name, anyArgs()...).Return(call)
	return came
}

func stepsTime(r *activities.StepResult) *time.Time { return &r.Now }

// withClocks runs a test with clocks that agree, and with a database's that is ahead
// of Temporal's or behind it.
func withClocks(t *testing.T, test func(t *testing.T, x *desk, tasks *activities.Tasks)) {
	t.Helper()
	for name, off := range map[string]time.Duration{"clocks agree": 0, "ahead": 10 * time.Minute, "behind": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			x := newDesk(t, solveAndCheck())
			temporals := x.now
			x.now = func() time.Time { return temporals().Add(off) }
			x.sla = 3 * time.Hour
			x.limits["solve"] = x.now().Add(x.sla).UTC() // so that the run knows the clocks from its beginning
			test(t, x, &activities.Tasks{Store: x.fakeStore})
		})
	}
}

// An answer that waits for a worker to take it is no sign that the clocks differ.
func TestALateAnswerMovesNoDeadline(t *testing.T) {
	withClocks(t, func(t *testing.T, x *desk, tasks *activities.Tasks) {
		t.Helper()
		came := comesLate(x, "ApplyStep", tasks.ApplyStep, stepsTime)
		x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
		x.at(time.Minute+leaseTime-time.Second, func() {
			require.Equal(t, 1, *came, "it went the patient way and came late")
			x.requireNode("solve", task.NodeClaimed)
		})
		x.at(time.Minute+leaseTime+2*time.Second, func() {
			require.Equal(t, 1, x.called("CheckDeadlines"))
			x.finish()
		})
		require.Equal(t, task.Finished, x.run().Status)
	})
}

// Nor where the run has not heard of the database's clock before.
func TestALateFirstAnswerMovesNoDeadline(t *testing.T) {
	withClocks(t, func(t *testing.T, x *desk, tasks *activities.Tasks) {
		t.Helper()
		x.sla = 0
		clear(x.limits)
		came := comesLate(x, "ApplyStep", tasks.ApplyStep, stepsTime)
		x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
		x.at(time.Minute+leaseTime-time.Second, func() {
			require.Equal(t, 1, *came)
			x.requireNode("solve", task.NodeClaimed)
		})
		x.at(time.Minute+leaseTime+2*time.Second, func() {
			x.requireNode("solve", task.NodeAvailable)
			x.finish()
		})
		require.Equal(t, task.Finished, x.run().Status)
	})
}

func TestATaskThatIsReadLateKeepsItsLimit(t *testing.T) {
	withClocks(t, func(t *testing.T, x *desk, tasks *activities.Tasks) {
		t.Helper()
		came := comesLate(x, "LoadTask", tasks.LoadTask, func(r *activities.LoadTaskResult) *time.Time { return &r.Now })
		x.at(x.sla-time.Second, func() {
			require.Equal(t, 1, *came)
			x.requireNode("solve", task.NodeAvailable)
		})
		x.at(x.sla+2*time.Second, func() {
			x.requireNode("solve", task.NodeEscalated)
			x.tell(x.add(pipeline.Event{Kind: pipeline.EventResolve, Node: "solve", Outcome: pipeline.ResolveRequeue, Iteration: 2}))
		})
		x.at(x.sla+time.Minute, func() { x.finish() })
		require.Equal(t, task.Finished, x.run().Status)
	})
}

func TestALeaseThatIsCheckedLateKeepsItsEnd(t *testing.T) {
	withClocks(t, func(t *testing.T, x *desk, tasks *activities.Tasks) {
		t.Helper()
		came := comesLate(x, "CheckDeadlines", tasks.CheckDeadlines, stepsTime)
		x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
		x.at(leaseTime, func() { x.renew("solve") }) // so the look at its first end finds another one
		x.at(2*leaseTime-time.Second, func() {
			require.Equal(t, 1, *came)
			x.requireNode("solve", task.NodeClaimed)
		})
		x.at(2*leaseTime+2*time.Second, func() {
			x.requireNode("solve", task.NodeAvailable)
			x.finish()
		})
		require.Equal(t, task.Finished, x.run().Status)
	})
}

// A database whose clock steps back makes the run early: it asks again, at
// growing distances, and does not spin.
func TestAClockThatStepsBackDoesNotSpin(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	temporals, behind := x.now, time.Duration(0)
	x.now = func() time.Time { return temporals().Add(-behind) }
	x.at(time.Minute, func() { x.tell(x.claim("solve", 7)) })
	x.at(2*time.Minute, func() { behind = 10 * time.Minute })
	x.at(time.Hour, func() {
		x.requireNode("solve", task.NodeAvailable)
		require.Less(t, x.called("CheckDeadlines"), 12)
		x.finish()
	})
	require.Equal(t, task.Finished, x.run().Status)
}
