package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/workflows"
)

// bench is a dispatcher over fakes, in a bubble of synctest: its clock jumps.
type bench struct {
	*dispatcher
	out  *fakeOutbox
	runs *fakeRuns
}

func newBench(t *testing.T, out *fakeOutbox, runs *fakeRuns) *bench {
	t.Helper()
	m, err := newMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	return &bench{out: out, runs: runs, dispatcher: &dispatcher{
		outbox: out, breaker: newBreaker(log, m), log: log, metrics: m, reach: runs.reach,
		deliver: deliverer{
			runs: runs, tasks: out, queue: "queue",
			signals: bucket(500), calm: calmOf(Rates{Signals: 500, Starts: 200}),
		},
	}}
}

// serve runs the dispatcher for a while of the bubble's clock.
func (b *bench) serve(d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background()) // as a process has it: without a deadline
	defer cancel()
	defer time.AfterFunc(d, cancel).Stop()
	b.run(ctx)
}

// TestTheTimesOfADeadWorkerAddUp asserts that what it had taken from the outbox goes on
// within 15 s (docs/load.md): another dispatcher has it when the lease is over, and the
// run then waits once for the dead. What is handed in later is Temporal's (stickyTime).
// A dispatcher that lives is through with a row, as it counts, before its lease is over.
func TestTheTimesOfADeadWorkerAddUp(t *testing.T) {
	t.Parallel()
	const goesOn, told = 15 * time.Second, time.Second // told: the delivery and what follows from it
	require.LessOrEqual(t, store.OutboxLease+max(stickyTime, thinkTime)+told, goesOn)
	require.Less(t, laneTime+callTimeout, store.OutboxLease)
}

// row is as urgent as events of the kind are.
func row(taskID, seq int64, kind pipeline.EventKind) store.Delivery {
	urgency := store.UrgencyHanded
	if kind == pipeline.EventClaim {
		urgency = store.UrgencyClaimed
	}
	if kind == pipeline.EventCreate {
		urgency = store.UrgencyCreated
	}
	return store.Delivery{
		Topic: store.TopicEvent, TaskID: taskID, OrgID: 1, PipelineID: 42, PipelineName: "Math", Urgency: urgency,
		Event: pipeline.Event{Seq: seq, Kind: kind, Node: "solve"},
	}
}

func TestACreatedTaskGetsARunAndAnEventGetsASignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		escalate := row(5, 3, pipeline.EventEscalate)
		escalate.Event.Reason = "Ada Lovelace was rude"
		nudge := store.Delivery{Topic: store.TopicSync, TaskID: 6}
		b := newBench(t, newFakeOutbox(row(4, 1, pipeline.EventCreate), escalate, nudge), &fakeRuns{})
		b.serve(time.Second)
		require.Zero(t, b.out.left())
		byID := map[string]call{}
		for _, c := range b.runs.made() {
			byID[c.options.ID] = c
		}
		start := byID["task/4"]
		require.Empty(t, start.signal)
		require.Equal(t, workflows.TaskInput{TaskID: 4}, start.input)
		require.Equal(t, "queue", start.options.TaskQueue)
		require.Equal(t, "task 4 · pipeline 42 · Math", start.options.StaticSummary)
		require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, start.options.WorkflowIDReusePolicy)
		require.Equal(t, enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL, start.options.WorkflowIDConflictPolicy, "nobody would hear of a run under way")
		org, _ := start.options.TypedSearchAttributes.GetInt64(workflows.OrgIDAttribute)
		require.Equal(t, int64(1), org)

		signal := byID["task/5"]
		require.Equal(t, workflows.ControlSignal, signal.signal)
		require.Equal(t, enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, signal.options.WorkflowIDConflictPolicy)
		require.Equal(t, pipeline.Event{Seq: 3, Kind: pipeline.EventEscalate, Node: "solve", Reason: pipeline.ReasonPerson}, signal.event,
			"what a person wrote does not enter a history")
		require.Equal(t, workflows.ControlSignal, byID["task/6"].signal)
		require.Zero(t, byID["task/6"].event)
	})
}

// What has come together for a task is told by its last event: the run reads the
// others itself.
func TestTheLastEventOfATaskStandsForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox(newTasks(1, 20)...)
		for seq := int64(2); seq < 12; seq++ {
			for id := int64(1); id <= 20; id++ {
				out.put(row(id, seq, pipeline.EventClaim), row(id, seq+100, pipeline.EventSubmit))
			}
		}
		nudge := store.Delivery{Topic: store.TopicSync, TaskID: 20}
		out.put(nudge)
		b := newBench(t, out, &fakeRuns{slow: 7 * time.Millisecond})
		b.serve(time.Second)
		require.Zero(t, out.left())
		require.Len(t, b.runs.made(), 21, "one for each task, and the nudge")
	})
}

func TestStartsKeepTheirRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox()
		out.put(newTasks(1, 2000)...)
		b := newBench(t, out, &fakeRuns{slow: 30 * time.Millisecond}) // what is due meanwhile comes at once
		for range 200 {                                               // nobody has waited for long
			b.deliver.calm[store.UrgencyCreated].learn(0)
		}
		b.serve(5 * time.Second)
		require.InDelta(t, 200*5, len(b.runs.made()), 60)
	})
}

// TestStartsBeginSlowly asserts that a worker that begins does not take all of the
// machine, and never makes more a second than it may.
func TestStartsBeginSlowly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 30
		out := newFakeOutbox()
		out.put(newTasks(1, 1000)...)
		b := newBench(t, out, &fakeRuns{})
		b.deliver.calm = calmOf(Rates{Signals: 500, Starts: most})
		made := func(d time.Duration) int {
			before := len(b.runs.made())
			b.serve(d)
			return len(b.runs.made()) - before
		}
		require.InDelta(t, 3*startsFirst, made(3*time.Second), 8)
		made(15 * time.Second) // it finds its pace
		require.InDelta(t, 10*most, made(10*time.Second), 9)
	})
}

// newTasks are the rows of tasks that were created in bulk.
func newTasks(from, to int64) (rows []store.Delivery) {
	for id := from; id <= to; id++ {
		rows = append(rows, row(id, 1, pipeline.EventCreate))
	}
	return rows
}

func TestATaskWhoseNumberAnOlderRunHasIsReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox(row(4, 1, pipeline.EventCreate))
		out.load = func(int64) (store.LoadedTask, error) { return store.LoadedTask{Seq: 1}, nil }
		b := newBench(t, out, &fakeRuns{answer: func(c call, _ int) error {
			if c.options.WorkflowIDConflictPolicy == enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL {
				return serviceerror.NewWorkflowExecutionAlreadyStarted("under way", "", "")
			}
			return nil // also for a start, which then does nothing
		}})
		b.serve(time.Second)
		require.Zero(t, out.left(), "the run of a task that a restore took away must not keep the row for ever")
		require.Len(t, b.runs.made(), 2)
		last := b.runs.made()[1]
		require.Equal(t, workflows.ControlSignal, last.signal)
		require.Zero(t, last.event, "a nudge")
	})
}

// What is done to a new task may reach Temporal before its creation, which gives way.
func TestACreationThatComesLateTellsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox(row(4, 1, pipeline.EventCreate))
		out.load = func(int64) (store.LoadedTask, error) { return store.LoadedTask{Seq: 2, Status: task.InProgress}, nil }
		b := newBench(t, out, &fakeRuns{answer: func(call, int) error {
			return serviceerror.NewWorkflowExecutionAlreadyStarted("under way", "", "")
		}})
		b.serve(time.Second)
		require.Zero(t, out.left())
		for _, c := range b.runs.made() {
			require.Empty(t, c.signal)
		}
		require.InDelta(t, 1, value(t, b.metrics.deliveries.WithLabelValues(string(delivered))), 0)
	})
}

func TestAnOutageOpensTheBreakerAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"unavailable":   fmt.Errorf("failed reaching server: %w", serviceerror.NewUnavailable("down")),
		"exhausted":     serviceerror.NewResourceExhausted(enums.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "full"),
		"deadline":      context.DeadlineExceeded,
		"no namespace":  serviceerror.NewNamespaceNotFound("taskloom"),
		"no permission": serviceerror.NewPermissionDenied("no", ""),
		"not logged in": status.Error(codes.Unauthenticated, "who are you"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out := newFakeOutbox()
				for id := int64(1); id <= 100; id++ {
					out.put(row(id, 2, pipeline.EventSubmit))
				}
				start := time.Now()
				b := newBench(t, out, &fakeRuns{answer: func(call, int) error {
					if time.Since(start) < time.Minute {
						return err
					}
					return nil
				}})
				b.serve(30 * time.Second)
				require.Less(t, len(b.runs.made()), 80, "it does not hammer a Temporal that is down")
				require.Equal(t, 100, out.left())
				require.Positive(t, value(t, b.metrics.breaker))
				require.InDelta(t, 1, value(t, b.metrics.trips), 0, "an outage is one trip, however often it is tried")
				b.serve(3 * time.Minute)
				require.Zero(t, out.left())
				require.Zero(t, value(t, b.metrics.breaker))
			})
		})
	}
}

// Another worker may have delivered all that was left: a quiet night must not look
// like an outage until the morning.
func TestTheBreakerClosesThoughNothingIsLeftToDeliver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, start := newFakeOutbox(), time.Now()
		for id := int64(1); id <= 20; id++ {
			out.put(row(id, 2, pipeline.EventSubmit))
		}
		b := newBench(t, out, &fakeRuns{answer: func(call, int) error {
			if time.Since(start) < 30*time.Second {
				return serviceerror.NewUnavailable("down")
			}
			return nil
		}})
		b.serve(20 * time.Second)
		out.mu.Lock()
		out.rows = nil
		out.mu.Unlock()
		b.serve(5 * time.Second)
		require.Positive(t, value(t, b.metrics.breaker), "it is down still")
		well := b.reach
		b.reach = func(context.Context) error { return errors.New("the service is unhealthy") }
		b.serve(time.Minute)
		require.Positive(t, value(t, b.metrics.breaker), "it answers, and is not well")
		b.reach = well
		b.serve(time.Minute)
		require.Zero(t, value(t, b.metrics.breaker))
		require.InDelta(t, 1, value(t, b.metrics.trips), 0)
	})
}

func TestARefusedDeliveryIsKeptAndSlowsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox(row(4, 2, pipeline.EventClaim), row(5, 2, pipeline.EventClaim))
		b := newBench(t, out, &fakeRuns{answer: func(c call, n int) error {
			if c.options.ID == "task/4" && n < 6 {
				return serviceerror.NewInvalidArgument("no mapping defined for search attribute")
			}
			return nil
		}})
		missed := make(chan struct{}, 1)
		b.missed = missed
		b.serve(time.Hour)
		require.Len(t, missed, 1, "nobody registers the search attributes again")
		require.Zero(t, out.left())
		require.Len(t, out.delays, 5)
		require.Contains(t, out.causes[0], "search attribute")
		for i := 1; i < len(out.delays); i++ {
			require.Greater(t, out.delays[i], out.delays[i-1])
		}
		require.Zero(t, value(t, b.metrics.breaker), "Temporal is well")
	})
}

func TestPostgresAwayWhileARunHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox(row(4, 2, pipeline.EventClaim))
		tries := 0
		out.load = func(int64) (store.LoadedTask, error) {
			if tries++; tries < 3 {
				return store.LoadedTask{}, fault.New(fault.Unavailable, "away")
			}
			return store.LoadedTask{State: pipeline.State{Seq: 2}, Seq: 2, Status: task.Finished}, nil
		}
		b := newBench(t, out, &fakeRuns{answer: func(call, int) error {
			return serviceerror.NewWorkflowExecutionAlreadyStarted("ended", "", "")
		}})
		b.serve(time.Minute)
		require.Zero(t, out.left())
		require.InDelta(t, 2, value(t, b.metrics.deliveries.WithLabelValues(string(unavailable))), 0)
	})
}

func TestPostgresAwayIsAskedOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox()
		out.down = errors.New("away")
		b := newBench(t, out, &fakeRuns{})
		b.serve(time.Minute)
		require.Less(t, out.taken(), len(lanes)*130)
	})
}

func TestAStopSettlesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox()
		for id := int64(1); id <= 300; id++ {
			out.put(row(id, 2, pipeline.EventSubmit))
		}
		b := newBench(t, out, &fakeRuns{slow: 40 * time.Millisecond})
		b.serve(100 * time.Millisecond)
		require.Equal(t, 300-len(b.runs.made()), out.left(), "what was delivered is done")
		taken, err := out.TakeOutbox(t.Context(), 1000, store.UrgencyHanded)
		require.NoError(t, err)
		require.Len(t, taken, out.left(), "the rest is given back, not leased to the dead")
	})
}

// A batch takes longer than the lease of its rows when every call is slow: what
// is old by then is given back, not sent while another dispatcher sends it.
func TestASlowTemporalIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox()
		for id := int64(1); id <= 300; id++ {
			out.put(row(id, 2, pipeline.EventSubmit))
		}
		b := newBench(t, out, &fakeRuns{slow: 4500 * time.Millisecond})
		b.serve(2 * time.Minute)
		require.Zero(t, out.left())
		require.Equal(t, 300, len(b.runs.made()), "calls") //nolint:testifylint // not all of them in the message
	})
}

// While people hand in, what they do waits for a look of 50 ms at most; where nobody
// does, Postgres is left in peace.
func TestAnIdleDispatcherLooksSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox()
		b := newBench(t, out, &fakeRuns{})
		go b.serve(time.Minute)
		for id := range int64(3) {
			pause(t.Context(), quiet/2)
			out.put(row(id+1, 2, pipeline.EventSubmit))
			pause(t.Context(), pollSoon)
			require.Zero(t, out.left(), "somebody waits for it")
		}
		pause(t.Context(), quiet+pollLate)
		before := out.taken()
		pause(t.Context(), quiet)
		require.Less(t, out.taken()-before, len(lanes)*80)
		out.put(row(4, 2, pipeline.EventSubmit))
		pause(t.Context(), pollLate)
		require.Zero(t, out.left())
		pause(t.Context(), time.Minute)
	})
}

// However many claims and starts wait, and however slow Temporal is, what people
// hand in is on its way at once.
func TestWhatIsHandedInStandsBehindNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox(newTasks(1001, 1500)...)
		for id := int64(1); id <= 500; id++ {
			out.put(row(id, 2, pipeline.EventClaim))
		}
		b := newBench(t, out, &fakeRuns{slow: time.Second})
		b.serve(2 * time.Second)
		out.put(row(501, 3, pipeline.EventSubmit))
		before := len(b.runs.made())
		b.serve(time.Second + 300*time.Millisecond) // a look, and the call
		made := b.runs.made()
		require.Less(t, len(made), 60, "the others are as slow as Temporal")
		require.True(t, slices.ContainsFunc(made[before:], func(c call) bool { return c.options.ID == "task/501" }))
	})
}
