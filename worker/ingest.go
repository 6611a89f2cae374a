package worker

import (
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/workflows"
)

const (
	// ingestSlots are for archives (activities.UploadsAtOnce), and for the short
	// steps that must not wait for them.
	ingestSlots = activities.UploadsAtOnce + 2
	// ingestSteps bounds the database steps that end uploads.
	ingestSteps = 4
	// hearEvery is how soon a step hears that it was called off.
	hearEvery = 3 * time.Second
	// ingestPollersLeast of each kind: a poll for activities holds one of the ingestSlots
	// while it waits, so it must leave some to work.
	ingestPollersLeast = 2
)

// newIngestWorker registers everything that the queue of uploads serves.
func newIngestWorker(d Deps, fatal chan<- error) sdkworker.Worker {
	w := sdkworker.New(d.Client, d.IngestQueue, sdkworker.Options{
		Identity:                                d.WorkerID,
		WorkerStopTimeout:                       stopTimeout,
		DeadlockDetectionTimeout:                deadlockAfter,
		MaxConcurrentWorkflowTaskExecutionSize:  ingestSteps,
		MaxConcurrentLocalActivityExecutionSize: ingestSteps,
		MaxConcurrentActivityExecutionSize:      ingestSlots,
		MaxHeartbeatThrottleInterval:            hearEvery,
		WorkflowTaskPollerBehavior:              polling(ingestPollersLeast),
		ActivityTaskPollerBehavior:              polling(ingestPollersLeast),
		OnFatalError:                            tell(fatal),
	})
	w.RegisterWorkflow(workflows.UploadWorkflow)
	w.RegisterWorkflow(workflows.SweepUploads)
	w.RegisterActivity(activities.NewUploads(d.Store, d.Objects, d.Limits))
	return w
}
