// Package worker runs the durable side of the product: it serves the task
// queue, tells Temporal what Postgres has accepted, rings what lags, and says
// that it is alive. Any number of workers may run side by side.
package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/workflows"
)

const (
	stopTimeout = 20 * time.Second
	// workflowSlots bounds the replays at once: a thousand of them on a small
	// machine would trip the SDK's deadlock detector.
	workflowSlots = 100
	// deadlockAfter is when workflow code that does not yield counts as a bug.
	// The SDK's second is short for a machine that is busy with other things.
	deadlockAfter = 5 * time.Second
	// pollersLeast polls for workflow tasks wait at a time, and more while they
	// find any. By itself the SDK takes one away for each poll that fails or finds
	// nothing, until one is left. After an outage the work of minutes waits for that
	// one, and what waits longer than the server keeps it for the worker that has the
	// run in memory (5 s) comes back as a whole history, to be replayed: that is then
	// so for all of it (docs/load.md).
	pollersLeast = 5
	// stepPollersLeast is the same for steps, which come to the queue only when
	// Postgres kept them waiting and this worker has no slot for them itself. Whatever
	// the polls of a paused process are given waits for a timeout, so there are few.
	stepPollersLeast = 1
	// reserve is how many connections are left to the dispatcher, the
	// heartbeats and the reconciler.
	reserve = 4
	// askAgain is how long to wait before Temporal is tried again.
	askAgain = 2 * time.Second
	// healthTimeout bounds one question whether Temporal is there.
	healthTimeout = 1500 * time.Millisecond
)

// Run serves until ctx ends and then stops in order: the dispatcher, the
// workflows and activities, the heartbeats. Temporal and Postgres may be away
// at any time, also at the start: Run waits for them and says so in the log.
func Run(ctx context.Context, d Deps) error {
	d, err := d.withDefaults()
	if err != nil {
		return err
	}
	m, err := newMetrics(d.Registerer)
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	sdkworker.SetStickyWorkflowCacheSize(d.CachedRuns)
	if d.Objects == nil {
		d.Logger.Warn("No object store is configured (S3_BUCKET): this worker unpacks no uploads.")
	}

	beating, stopBeats := context.WithCancel(context.WithoutCancel(ctx))
	var beats errgroup.Group
	beats.Go(func() error {
		heartbeat{store: d.Store.Pulse(d.WorkerID), queues: d.queues(), ok: func(ctx context.Context) bool {
			return d.Serving.Load() && reachable(ctx, d) == nil
		}, log: d.Logger, metrics: m}.run(beating)
		return nil
	})
	// Most of what it heals needs no Temporal, and an outage is when it is needed.
	var heals errgroup.Group
	heals.Go(func() error {
		(&reconciler{store: d.Store, every: d.ReconcileEvery, log: d.Logger, metrics: m}).run(ctx)
		return nil
	})
	for ctx.Err() == nil {
		serve(ctx, d, m)
		pause(ctx, askAgain)
	}
	_ = heals.Wait() // it ends without an error
	stopBeats()
	return beats.Wait()
}

// serve waits for Temporal and works until ctx ends or the SDK gives up.
func serve(ctx context.Context, d Deps, m *metrics) {
	if !awaitTemporal(ctx, d) {
		return
	}
	if err := EnsureSearchAttributes(ctx, d.Client, d.Namespace, d.Logger); err != nil {
		return // only because ctx has ended
	}
	fatal := make(chan error, 1)
	stop, err := startWorkers(d, m, fatal)
	if err != nil {
		d.Logger.Warn("The worker cannot start yet and tries again.", "task_queues", d.queues(), "error", err)
		return
	}
	d.Serving.Store(true)
	d.Logger.Info("The worker serves.", "task_queues", d.queues(), "worker_id", d.WorkerID)

	feeding, stopFeeding := context.WithCancel(ctx)
	var feeders errgroup.Group
	breaker := newBreaker(d.Logger, m)
	missed := make(chan struct{}, 1)
	feeders.Go(func() error { newDispatcher(d, breaker, missed, m).run(feeding); return nil })
	feeders.Go(func() error { relabel(feeding, d, missed); return nil })
	feeders.Go(func() error { newUploadLane(d, breaker, missed, m).run(feeding); return nil })
	if d.Objects != nil {
		feeders.Go(func() error { ensureSweep(feeding, d); return nil })
	}
	select {
	case <-ctx.Done():
	case err := <-fatal:
		d.Logger.Error("The worker lost its task queue and starts again.", "error", err)
	}
	stopFeeding()
	_ = feeders.Wait() // they end without an error
	d.Logger.Info("The dispatcher has stopped.", "worker_id", d.WorkerID)
	d.Serving.Store(false)
	stop()
	d.Logger.Info("The worker has stopped.", "worker_id", d.WorkerID)
}

// startWorkers starts one for each task queue.
func startWorkers(d Deps, m *metrics, fatal chan<- error) (stop func(), err error) {
	started := []sdkworker.Worker{newWorker(d, m, fatal)}
	if d.Objects != nil {
		started = append(started, newIngestWorker(d, fatal))
	}
	for i, w := range started {
		if err := w.Start(); err != nil {
			stopAll(started[:i])
			return nil, err
		}
	}
	return func() { stopAll(started) }, nil
}

// stopAll stops workers side by side: each may take its time.
func stopAll(all []sdkworker.Worker) {
	var stops sync.WaitGroup
	for _, w := range all {
		stops.Go(w.Stop)
	}
	stops.Wait()
}

// newWorker registers everything that the task queue serves.
func newWorker(d Deps, m *metrics, fatal chan<- error) sdkworker.Worker {
	// Half for the steps of workflow tasks, half for their patient repeats.
	steps := max(1, (d.PoolSize-reserve)/2)
	w := sdkworker.New(d.Client, d.TaskQueue, sdkworker.Options{
		Identity:                                d.WorkerID,
		WorkerStopTimeout:                       stopTimeout,
		StickyScheduleToStartTimeout:            stickyTime,
		DeadlockDetectionTimeout:                deadlockAfter,
		MaxConcurrentWorkflowTaskExecutionSize:  workflowSlots,
		MaxConcurrentLocalActivityExecutionSize: steps,
		MaxConcurrentActivityExecutionSize:      steps,
		WorkflowTaskPollerBehavior:              polling(pollersLeast),
		ActivityTaskPollerBehavior:              polling(stepPollersLeast),
		OnFatalError:                            tell(fatal),
		Interceptors:                            []interceptor.WorkerInterceptor{&direct{}},
	})
	w.RegisterWorkflow(workflows.TaskWorkflow)
	w.RegisterActivity(&activities.Tasks{Store: d.Store, Waited: m.waited})
	return w
}

// polling is how a worker asks Temporal for work: by at least so many polls of a
// kind, also at first, as far as it has slots for what they may find.
func polling(least int) sdkworker.PollerBehavior {
	return sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{
		InitialNumberOfPollers: least, MinimumNumberOfPollers: least,
	})
}

// tell passes the first error on.
func tell(fatal chan<- error) func(error) {
	return func(err error) {
		select {
		case fatal <- err:
		default:
		}
	}
}

// awaitTemporal returns true as soon as Temporal answers, false when ctx ends
// before.
func awaitTemporal(ctx context.Context, d Deps) bool {
	for told := false; ctx.Err() == nil; {
		err := reachable(ctx, d)
		if err == nil {
			return true
		}
		if !told {
			d.Logger.Warn("Temporal does not answer; the worker waits for it.", "error", err)
			told = true
		}
		pause(ctx, askAgain/4)
	}
	return false
}

func reachable(ctx context.Context, d Deps) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return Reach(ctx, d.Client, d.Namespace)
}

// pause waits for d or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
