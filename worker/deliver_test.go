package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

func TestARunThatHasEnded(t *testing.T) {
	t.Parallel()
	ended := serviceerror.NewWorkflowExecutionAlreadyStarted("ended", "", "")
	loaded := func(applied, seq int64, status task.Status) func(int64) (store.LoadedTask, error) {
		return func(int64) (store.LoadedTask, error) {
			return store.LoadedTask{State: pipeline.State{Seq: applied}, Seq: seq, Status: status}, nil
		}
	}
	// An open task whose run has completed is one that a restore of Postgres brought back.
	const over, open = task.Finished, task.InProgress
	for name, c := range map[string]struct {
		row   store.Delivery
		load  func(int64) (store.LoadedTask, error)
		want  outcome
		calls int
	}{
		"needs nothing for an applied event":                {row(4, 3, pipeline.EventSubmit), loaded(3, 4, over), settled, 1},
		"needs nothing for a nudge without lag":             {store.Delivery{TaskID: 4}, loaded(4, 4, over), settled, 1},
		"starts again for an event not applied":             {row(4, 4, pipeline.EventSubmit), loaded(3, 4, open), restarted, 2},
		"starts again for a nudge of a lagging":             {store.Delivery{TaskID: 4}, loaded(3, 4, open), restarted, 2},
		"needs nothing for a start that is done":            {row(4, 1, pipeline.EventCreate), loaded(1, 1, over), settled, 1},
		"starts again for an applied event of an open task": {row(4, 4, pipeline.EventResolve), loaded(4, 4, open), restarted, 2},
		"starts again for a nudge of an open task":          {store.Delivery{TaskID: 4}, loaded(4, 4, open), restarted, 2},
		"needs nothing when the task is gone": {row(4, 4, pipeline.EventSubmit), func(int64) (store.LoadedTask, error) {
			return store.LoadedTask{}, fault.New(fault.NotFound, "gone")
		}, settled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out := newFakeOutbox(c.row)
				out.load = c.load
				b := newBench(t, out, &fakeRuns{answer: func(_ call, n int) error {
					if n == 1 {
						return ended
					}
					return nil
				}})
				b.serve(time.Second)
				require.Zero(t, out.left())
				require.Len(t, b.runs.made(), c.calls)
				require.InDelta(t, 1, value(t, b.metrics.deliveries.WithLabelValues(string(c.want))), 0)
				if c.calls == 2 {
					require.Equal(t, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, b.runs.made()[1].options.WorkflowIDReusePolicy)
				}
			})
		})
	}
}
