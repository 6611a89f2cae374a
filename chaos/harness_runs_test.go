package chaos

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/internal/store"
)

// checkRuns is I7: Temporal runs nothing for a task that is over, and no run
// fails its workflow tasks over and over. What it lists follows what is by a
// moment.
func (r *Run) checkRuns(ctx context.Context) error {
	var left store.NeedlessRuns
	ctx, cancel := context.WithTimeout(ctx, recoverWithin)
	defer cancel()
	err := r.until(ctx, func(ctx context.Context) (bool, error) {
		open, err := r.openRuns(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // asked again
		}
		needless, err := r.Store().NeedlessRuns(ctx, 0, open, store.NoGrace)
		left = needless
		return err == nil && len(needless.Ended)+len(needless.Missing) == 0, nil
	})
	if err != nil && len(left.Ended)+len(left.Missing) > 0 {
		r.Violate("I7: Temporal still has runs of the tasks %v, which are over, and %v, which are not there", left.Ended, left.Missing)
		return nil
	}
	if err != nil {
		return err
	}
	troubled, err := r.Temporal().CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Query: `ExecutionStatus = "Running" AND TemporalReportedProblems IS NOT NULL`,
	})
	if err == nil && troubled.GetCount() > 0 {
		r.Violate("I7: %d runs report problems: %s", troubled.GetCount(), r.laggingRuns(ctx))
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

// laggingRuns tells what the runs of the oldest lagging tasks wait for, as
// Temporal sees it.
func (r *Run) laggingRuns(ctx context.Context) string {
	var out []string
	rows, _ := r.Store().Pool().Query(ctx, `SELECT 'task/' || id FROM tasks WHERE applied_seq < seq ORDER BY updated_at LIMIT 5`)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	for _, id := range ids {
		d, err := r.Temporal().DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			out = append(out, fmt.Sprintf("%s: %v", id, err))
			continue
		}
		out = append(out, fmt.Sprintf("%s %s, %d events, workflow task: {%v}, activities: %v", id,
			d.GetWorkflowExecutionInfo().GetStatus(), d.GetWorkflowExecutionInfo().GetHistoryLength(),
			d.GetPendingWorkflowTask(), d.GetPendingActivities()))
	}
	return strings.Join(out, "; ")
}
