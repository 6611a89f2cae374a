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
	// heartbeatEvery is how often a step's heartbeat goes to Temporal. The SDK gives
	// each one half of that, with all its repeats, and calls the step off that could
	// not send it: ten seconds are the interval that lets a Temporal be slow or away
	// for longest, 5 s, before a step is given up by either side of the two. A step
	// hears of the cancelling of its upload from Postgres, much sooner.
	heartbeatEvery = 10 * time.Second
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
		MaxHeartbeatThrottleInterval:            heartbeatEvery,
		WorkflowTaskPollerBehavior:              polling(ingestPollersLeast),
		ActivityTaskPollerBehavior:              polling(ingestPollersLeast),
		OnFatalError:                            tell(fatal),
	})
	w.RegisterWorkflow(workflows.UploadWorkflow)
	w.RegisterWorkflow(workflows.SweepUploads)
	w.RegisterActivity(activities.NewUploads(d.Store, d.Objects, d.Limits))
	return w
}
