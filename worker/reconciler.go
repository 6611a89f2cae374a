package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// reconcileStore is the part of Store that the reconciler uses.
type reconcileStore interface {
	// Reconcile rings tasks that lag without anybody on the way to tell them,
	// at most limit and none of except, and returns which, also with an error.
	Reconcile(ctx context.Context, limit int, except ...int64) ([]int64, error)
	// StillLagging returns those tasks to which nothing has happened.
	StillLagging(ctx context.Context, ids []int64) ([]int64, error)
	// Tidy does what may take long and for which nobody waits.
	Tidy(ctx context.Context) error
}

// reconciler is the net below the outbox: whatever was lost on the way, a
// signal, a run or a whole Temporal cluster, it rings the tasks that lag.
type reconciler struct {
	store   reconcileStore
	every   time.Duration
	pace    ringPace
	log     *slog.Logger
	metrics *metrics
}

// run works until ctx ends. Errors are logged: the next round comes anyway. What is
// only tidied up has rounds of its own, for which no task waits.
func (r *reconciler) run(ctx context.Context) {
	var tidies sync.WaitGroup
	tidies.Go(func() { r.rounds(ctx, func(time.Time) { r.tidy(ctx) }) })
	r.rounds(ctx, func(now time.Time) { r.ring(ctx, now) })
	tidies.Wait()
}

func (r *reconciler) rounds(ctx context.Context, round func(now time.Time)) {
	every := time.NewTicker(r.every)
	defer every.Stop()
	for ctx.Err() == nil { // a tick that came during a long round may be there with the end
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			round(now)
		}
	}
}

func (r *reconciler) tidy(ctx context.Context) {
	if err := r.store.Tidy(ctx); err != nil && ctx.Err() == nil {
		r.log.Warn("Tidying up failed; the next round comes.", "error", err)
	}
}

func (r *reconciler) ring(ctx context.Context, now time.Time) {
	stuck, err := r.store.StillLagging(ctx, r.pace.known())
	var rung []int64
	if err == nil {
		r.pace.learn(stuck)
		rung, err = r.store.Reconcile(ctx, r.pace.limit(), r.pace.pending(now)...)
		r.pace.rang(rung, now)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("The look for lagging tasks failed; the next one comes.", "error", err)
	}
	if n := len(rung); n > 0 {
		r.metrics.rung.Add(float64(n))
		r.log.Info("Lagging tasks were rung.", "tasks", n, "still_lagging", len(stuck))
	}
}
