package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
)

const (
	// aliveEvery is how often a long step says that it is alive. The SDK passes on
	// one in ten seconds (worker.heartbeatEvery), whose answer is how the step hears
	// that an operator has cancelled the run.
	aliveEvery = 3 * time.Second
	// askEvery is how often a step asks Postgres whether somebody has cancelled the
	// upload, which is much sooner.
	askEvery = time.Second
	// stopGrace is how long a step goes on after the worker was told to stop.
	stopGrace = 4 * time.Second
)

// keepAlive beats for a step until it ends; how far the step is, is read in
// Postgres.
func keepAlive(ctx context.Context) (end func()) {
	return keepAliveAt(ctx, func() any { return nil })
}

// keepAliveAt beats for a step whose next attempt goes on where at says that this one
// is. The last beat comes at the end, and goes out when the attempt fails.
func keepAliveAt(ctx context.Context, at func() any) (end func()) {
	done := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() {
		tick := time.NewTicker(aliveEvery)
		defer tick.Stop()
		for {
			activity.RecordHeartbeat(ctx, at())
			select {
			case <-done:
				activity.RecordHeartbeat(ctx, at())
				return
			case <-tick.C:
			}
		}
	})
	return func() { close(done); beats.Wait() }
}

// untilStopped makes a context that also ends a while after the worker was told
// to stop, so that the step can save what it has and hand the rest to another
// worker.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(ctx)
	stop := activity.GetWorkerStopChannel(ctx)
	go func() {
		select {
		case <-stop:
			grace := time.NewTimer(stopGrace)
			defer grace.Stop()
			select {
			case <-grace.C:
				cancel()
			case <-out.Done():
			}
		case <-out.Done():
		}
	}()
	return out, cancel
}

// errCancelled is why the context of untilCancelled ends.
var errCancelled = errors.New("the upload was cancelled")

// untilCancelled makes a context that also ends soon after the upload was
// cancelled, however long its run takes to hear of it. end waits for its last
// question.
func (a *Uploads) untilCancelled(ctx context.Context, id uuid.UUID) (out context.Context, end func()) {
	out, cancel := context.WithCancelCause(ctx)
	var asking sync.WaitGroup
	asking.Go(func() {
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for {
			select {
			case <-out.Done():
				return
			case <-tick.C:
			}
			if u, err := a.Store.LoadUpload(out, id); err == nil && u.CancelRequested { // else it is asked again
				cancel(errCancelled)
			}
		}
	})
	return out, func() { cancel(nil); asking.Wait() }
}

func stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}
