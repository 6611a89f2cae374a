package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/arrival"
)

const (
	// workerLost is the phase in which a worker is gone. Steps have an objective of
	// their own in it.
	workerLost = "worker-lost"
	// lostFor is how long the phase is, and how long the work of a dead worker is
	// waited for at most.
	lostFor = 60 * time.Second
	// lostStretch is how exactly it is told when that work goes on. It is a multiple
	// of lostLook, how often what lags is looked at.
	lostStretch, lostLook = time.Second, 250 * time.Millisecond
)

// besideWorkers plays the death of a worker at the peak, where another one is
// left: before the first creation, whose runs would hide what follows from it.
func (r *run) besideWorkers(ctx context.Context, g *sync.WaitGroup) {
	if len(r.cluster.workers) < 2 {
		return
	}
	at := r.dur / 5
	r.enter(workerLost, at)
	r.enter("peak", at+lostFor)
	r.stream(ctx, g, arrival.At(at), func(time.Time) {
		if err := r.loseWorker(ctx); err != nil && ctx.Err() == nil {
			r.note("%v", err)
		}
	})
}

// loseWorker kills a worker as kill -9 does, finds out when the work that it had
// in its hands goes on, and starts it again.
func (r *run) loseWorker(ctx context.Context) error {
	victim := len(r.cluster.workers) - 1
	dead := r.cluster.workers[victim]
	dead.Kill()
	killed := time.Now()
	r.say("%s is killed", dead.Name)
	after := r.calm(ctx, killed)
	// Also at the end of a run: a process that is gone then is an error.
	ready, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	if err := r.cluster.again(ready, victim); err != nil {
		return fmt.Errorf("start %s again: %w", dead.Name, err)
	}
	switch {
	case ctx.Err() != nil: // it is not known
	case after < 0:
		r.note("steps lagged for %v after %s was killed, and did not stop", lostFor, dead.Name)
		r.number(slo.DeadWorker, lostFor.Seconds())
	default:
		r.number(slo.DeadWorker, after.Seconds())
	}
	return nil
}

// calm looks at what lags from a moment on, and returns after how long nothing
// was behind any more, to the second; never when there was no such time.
func (r *run) calm(ctx context.Context, from time.Time) time.Duration {
	var seen []observation
	for time.Since(from) < lostFor+settled && wait(ctx, lostLook) == nil {
		b, err := r.backlog(ctx)
		seen = append(seen, observation{time.Now(), err == nil && b.urgent < behind && b.lagged < behind})
		if after := calmAfter(seen, from, lostStretch); after >= 0 {
			return after
		}
	}
	return never
}
