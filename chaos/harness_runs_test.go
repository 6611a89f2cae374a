package chaos

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/workflowservice/v1"
)

// checkRuns is I7: Temporal runs nothing for a task that is over. What it lists
// follows what is by a moment.
func (r *Run) checkRuns(ctx context.Context) error {
	var left []string
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		open, err := r.openRuns(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // asked again
		}
		over, err := r.over(ctx, open)
		left = over
		return err == nil && len(over) == 0, nil
	})
	if err != nil && len(left) > 0 {
		r.Violate("I7: Temporal still runs %s, which are over", strings.Join(left, ", "))
		return nil
	}
	return err
}

// openRuns lists the tasks that Temporal has a run of.
func (r *Run) openRuns(ctx context.Context) (ids []int64, err error) {
	var token []byte
	for {
		page, err := r.Temporal().ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: `ExecutionStatus = "Running"`, PageSize: 1000, NextPageToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, e := range page.GetExecutions() {
			if s, ok := strings.CutPrefix(e.GetExecution().GetWorkflowId(), "task/"); ok {
				id, err := strconv.ParseInt(s, 10, 64)
				if err != nil {
					return nil, err
				}
				ids = append(ids, id)
			}
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return ids, nil
		}
	}
}

// over names those of the tasks that are finished or failed.
func (r *Run) over(ctx context.Context, ids []int64) ([]string, error) {
	rows, _ := r.Store().Pool().Query(ctx, `SELECT 'task ' || id FROM tasks WHERE id = ANY($1) AND status IN ('finished', 'failed')`, ids)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return out, errors.Join(err, ctx.Err())
}
