package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

type bulkInput struct {
	InPipeline
	Body struct {
		Action   string     `json:"action" enum:"set_priority,hold,unhold,release,requeue,fail" doc:"release ends the claims on a task; requeue opens all its escalated and quarantined nodes again."`
		TaskIDs  []int64    `json:"task_ids" minItems:"1" maxItems:"200"`
		Priority *int       `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"With set_priority: lower is served first; 0 is what tasks begin with."`
		AsOf     *time.Time `json:"as_of,omitempty" doc:"With release: ends only claims that were made before, by the times of the list (since). Whoever claimed later keeps what they hold."`
		Reason   string     `json:"reason,omitempty" maxLength:"1000" doc:"For the timelines."`
	} `nameHint:"BulkRequest"`
}

// BulkFailure is a task on which a bulk action was not done.
type BulkFailure struct {
	TaskID  int64  `json:"task_id"`
	Message string `json:"message"`
}

type bulkOutput struct {
	Body struct {
		Done   []int64       `json:"done"`
		Failed []BulkFailure `json:"failed"`
		Left   []int64       `json:"left" doc:"What was not done because something broke that is about no single task. The same can be asked for these again."`
	} `nameHint:"BulkResult"`
}

func (a *api) registerTaskBulk() {
	register(a, huma.Operation{
		OperationID: "bulkTasks", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/tasks/bulk", Tags: []string{"Tasks"},
		Summary: "Do the same to many tasks",
		Description: "Each task by itself: what cannot be done on one is told for it and keeps no other from being done. " +
			"Where something breaks, it ends, and the rest is left.",
		Metadata: edge.Slow(),
	}, a.bulkTasks)
}

func (a *api) bulkTasks(ctx context.Context, in *bulkInput) (*bulkOutput, error) {
	if in.Body.Action == store.BulkSetPriority && in.Body.Priority == nil {
		return nil, fault.New(fault.Validation, "set_priority needs a priority from -100 to 100")
	}
	act := store.BulkAction{Kind: in.Body.Action, AsOf: in.Body.AsOf, Reason: in.Body.Reason}
	if in.Body.Priority != nil {
		act.Priority = *in.Body.Priority
	}
	result, err := a.Store.Bulk(ctx, membership(ctx), in.Body.TaskIDs, act)
	if err != nil {
		return nil, err
	}
	out := &bulkOutput{}
	out.Body.Done, out.Body.Failed, out.Body.Left = result.Done, make([]BulkFailure, len(result.Failed)), result.Left
	for i, f := range result.Failed {
		out.Body.Failed[i] = BulkFailure(f)
	}
	return out, nil
}
