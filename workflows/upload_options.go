package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
)

// uploads is a typed reference to the activities; the worker registers the
// real ones.
var uploads *activities.Uploads

// MissedAfter is after how long without a heartbeat the worker of a step that
// reads an archive is given up for dead.
const MissedAfter = 15 * time.Second

// longStep is the policy of a step that reads an archive. It is repeated for as
// long as the upload has time; a worker that died is missed soon.
func longStep(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: uploadTime, // the step returns much earlier, but for one very large file
		HeartbeatTimeout:    MissedAfter,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
		},
		Summary: summary,
	}
}
