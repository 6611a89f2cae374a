package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/workflows"
)

// RunsTerminated ends the runs of n tasks in Temporal, of least of them at least.
func RunsTerminated(n, least int, seed uint64) Fault {
	return Fault{Name: fmt.Sprintf("%d runs terminated", n), Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		return nil, r.withRuns(ctx, n, least, seed, func(ctx context.Context, workflowID string) error {
			return r.Temporal().TerminateWorkflow(ctx, workflowID, "", "chaos")
		})
	}}
}

// RunsReset sets the runs of n tasks, of least of them at least, back to where they
// began, or to some later point.
func RunsReset(n, least int, seed uint64) Fault {
	return Fault{Name: fmt.Sprintf("%d runs reset", n), Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		return nil, r.withRuns(ctx, n, least, seed, func(ctx context.Context, workflowID string) error {
			return r.reset(ctx, workflowID, rnd)
		})
	}}
}

// withRuns does something to the runs of n unfinished tasks.
func (r *Run) withRuns(ctx context.Context, n, least int, seed uint64, do func(ctx context.Context, workflowID string) error) error {
	rows, err := r.Store().Pool().Query(ctx, `SELECT id FROM tasks WHERE status NOT IN ('finished', 'failed') ORDER BY id`)
	if err != nil {
		return errMissed // Postgres is down: there is nothing to choose from
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if rows.Scan(&id) == nil {
			ids = append(ids, id)
		}
	}
	rows.Close()
	rnd := rand.New(rand.NewPCG(seed, 1))
	rnd.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	done, err := someOf(ids, n, least, func(id int64) error {
		each, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return do(each, workflows.TaskID(id))
	})
	r.Logf("of %d unfinished tasks, the runs of %d were met", len(ids), done)
	return err
}

// someOf does something to n of these tasks. What Temporal does not accept, because it
// is down or the run is over, is not done: then others take their place until least are
// done, of twice as many as are wanted. errMissed when it comes to fewer.
func someOf(ids []int64, n, least int, do func(id int64) error) (done int, err error) {
	for i, id := range ids[:min(2*n, len(ids))] {
		if i >= n && done >= least || i >= n && done == 0 {
			break // enough, or Temporal is away: each try takes its time
		}
		if do(id) == nil {
			done++
		}
	}
	if done < max(1, least) {
		return done, fmt.Errorf("%w: %d of at least %d runs", errMissed, done, least)
	}
	return done, nil
}

func TestHowManyRunsMustBeMet(t *testing.T) {
	t.Parallel()
	ids := make([]int64, 100)
	for i := range ids {
		ids[i] = int64(i)
	}
	from := func(first int64) func(int64) error {
		return func(id int64) error {
			if id < first {
				return errors.New("the run is over")
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		there, n, least, done int
		first                 int64 // that is not over
		missed                bool
	}{
		"all of them":              {100, 20, 10, 20, 0, false},
		"half of them":             {100, 20, 10, 10, 10, false},
		"others take their place":  {100, 20, 10, 10, 15, false},
		"too few":                  {100, 20, 10, 0, 35, true},
		"too few, with others":     {22, 20, 10, 3, 19, true},
		"hardly any tasks":         {3, 20, 10, 3, 0, true},
		"one is enough by chance":  {100, 20, 1, 1, 19, false},
		"none by chance":           {100, 20, 1, 0, 90, true},
		"nothing to choose from":   {0, 20, 1, 0, 0, true},
		"fewer tasks than planned": {3, 20, 1, 3, 0, false},
	} {
		done, err := someOf(ids[:c.there], c.n, c.least, from(c.first))
		require.Equal(t, c.done, done, name)
		require.Equal(t, c.missed, errors.Is(err, errMissed), name)
	}
}

// reset goes back to a random workflow task of the run.
func (r *Run) reset(ctx context.Context, workflowID string, rnd *rand.Rand) error {
	var points []int64
	history := r.Temporal().GetWorkflowHistory(ctx, workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			return err
		}
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			points = append(points, e.GetEventId())
		}
	}
	if len(points) == 0 {
		return errors.New("the run has not begun")
	}
	_, err := r.Temporal().ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
		Reason: "chaos", WorkflowTaskFinishEventId: points[rnd.IntN(len(points))], RequestId: uuid.NewString(),
	})
	return err
}
