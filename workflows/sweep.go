package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
)

// SweepUploads tidies up after uploads, once: the schedule SweepSchedule runs
// it again and again. What it could not do the next one does.
//
// It makes as many attempts as it takes to be through once: one that has no time for
// the rest hands it to the next, and an object store that is slow to refuse may cost
// hours. Meanwhile no other sweep begins, and each attempt rings and expires, too.
func SweepUploads(ctx workflow.Context) (activities.SweepResult, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    15 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
		},
		Summary: "end abandoned uploads, delete archives, ring what stands still",
	})
	var out activities.SweepResult
	err := workflow.ExecuteActivity(ctx, uploads.SweepUploads).Get(ctx, &out)
	return out, err
}
