package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

const (
	// aliveEvery is how often a long step says that it is alive. Its answer is
	// how it hears that it was called off.
	aliveEvery = 3 * time.Second
	// stopGrace is how long a step goes on after the worker was told to stop.
	stopGrace = 4 * time.Second
)

// keepAlive beats for a step until it ends; how far the step is, is read in
// Postgres.
func keepAlive(ctx context.Context) (end func()) {
	done := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() {
		tick := time.NewTicker(aliveEvery)
		defer tick.Stop()
		for {
			activity.RecordHeartbeat(ctx)
			select {
			case <-done:
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

func stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}
