package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/workflows"
)

// RunsTerminated ends the runs of n tasks in Temporal.
func RunsTerminated(n int, seed uint64) Fault {
	return Fault{Name: fmt.Sprintf("%d runs terminated", n), Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		return nil, r.withRuns(ctx, n, seed, func(ctx context.Context, workflowID string) error {
			return r.Temporal().TerminateWorkflow(ctx, workflowID, "", "chaos")
		})
	}}
}

// RunsReset sets the runs of n tasks back to where they began, or to some later
// point.
func RunsReset(n int, seed uint64) Fault {
	return Fault{Name: fmt.Sprintf("%d runs reset", n), Serves: true, Inject: func(ctx context.Context, r *Run) (func(context.Context) error, error) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		return nil, r.withRuns(ctx, n, seed, func(ctx context.Context, workflowID string) error {
			return r.reset(ctx, workflowID, rnd)
		})
	}}
}

// withRuns does something to the runs of unfinished tasks. What Temporal does
// not accept, because it is down or the run is over, is not done; errMissed when
// that is so for all of them.
func (r *Run) withRuns(ctx context.Context, n int, seed uint64, do func(ctx context.Context, workflowID string) error) error {
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
	done := 0
	for _, id := range ids[:min(n, len(ids))] {
		each, cancel := context.WithTimeout(ctx, 2*time.Second)
		if do(each, workflows.TaskID(id)) == nil {
			done++
		}
		cancel()
	}
	if done == 0 {
		return errMissed
	}
	return nil
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
