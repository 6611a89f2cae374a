package chaos

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"github.com/taskloom/taskloom/internal/alerttest"
	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/workflows"
)

// TestRow18APlanThatPanics lets workers panic whenever they work out what follows for
// one task, which nothing in Postgres or Temporal shows. What people hand in for it is
// accepted and kept, all other tasks go on, and so does this one when its workers are
// replaced by some that do not panic. It has no load, and so no floor of traffic: one in a
// thousand of the tasks of a load would be poison as well, and the panics that are asked
// for would not be those of the one task.
func TestRow18APlanThatPanics(t *testing.T) {
	(Row{Number: 18}).skip(t)
	mustNotSkip(t)
	sick, well := stacktest.Planted(t), presentVersion(t)
	r := startRow(t, Row{Number: 18, Name: "a plan that panics", Settings: func(s *Settings) {
		s.Binary, s.Env = sick, append(s.Env, "TASKLOOM_PLANTED="+string(planted.PlanPanics))
	}})
	ctx := t.Context()
	before := r.scrape()
	o := r.World.Probe
	questions := make([]string, 10)
	for i := range questions {
		questions[i] = fmt.Sprintf("%s poison %d", o.Mark, i)
	}
	ids, err := r.probes.persist(ctx, "poison", questions)
	require.NoError(t, err)
	var poison int64
	for _, id := range ids {
		if planted.Poisoned(id) {
			poison = id
		}
	}
	require.NotZero(t, poison, "none of the tasks %v is one whose plan panics", ids)

	require.NoError(t, r.probes.work(ctx, r.probes.contributor, poison, nodeSolve))
	r.eventually(ctx, recoverWithin, "the run of the task has panicked", func(ctx context.Context) (bool, error) {
		n, err := r.panics(ctx, poison)
		return n > 0, err
	})
	alerttest.Fires(t, "WorkflowTasksFail", before, r.scrape())
	r.Logf("the alert WorkflowTasksFail fires")
	for _, id := range ids {
		if id == poison {
			continue
		}
		require.NoError(t, r.probes.work(ctx, r.probes.contributor, id, nodeSolve))
		if stage, err := r.probes.finish(ctx, id); err != nil {
			r.Violate("liveness: %s of task %d while the plan of task %d panics: %v", stage, id, poison, err)
		}
	}
	r.Logf("%d other tasks went to their end while the plan of one panics", len(ids)-1)
	require.Equal(t, 1, r.number(ctx, `SELECT count(*) FROM tasks WHERE id = $1 AND applied_seq < seq AND status NOT IN ('failed', 'finished')`, poison),
		"the plan did not panic")
	require.NoError(t, r.probes.work(ctx, r.probes.contributor, poison, nodeTag), "the other node of the task was open before")

	for _, p := range r.Workers {
		require.NoError(t, well.run(ctx, r, p))
	}
	r.eventually(ctx, recoverWithin, "the task goes on with workers that do not panic", func(ctx context.Context) (bool, error) {
		n, err := r.Count(ctx, `SELECT count(*) FROM tasks WHERE id = $1 AND applied_seq = seq`, poison)
		return err == nil && n == 1, err
	})
	require.NoError(t, r.probes.work(ctx, r.probes.reviewer, poison, nodeCheck))
	r.drain(ctx)
	require.Zero(t, r.number(ctx, `SELECT count(*) FROM tasks WHERE status <> 'finished' AND id = ANY($1)`, ids))
	require.NoError(t, r.checkInvariants(ctx))
	require.NoError(t, r.checkRuns(ctx))
	require.NoError(t, r.askDoctor(ctx))
	r.verdict("row-18")
}

// panics is how often Temporal has noted that a task's run panicked.
func (r *Run) panics(ctx context.Context, task int64) (n int, err error) {
	events := r.Temporal().GetWorkflowHistory(ctx, workflows.TaskID(task), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return n, err
		}
		if a := e.GetWorkflowTaskFailedEventAttributes(); a != nil && a.GetFailure().GetMessage() == "planted" {
			n++
		}
	}
	return n, nil
}
