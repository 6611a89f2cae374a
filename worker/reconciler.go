package worker

import (
	"context"
	"log/slog"
	"time"
)

// reconcileStore is the part of Store that the reconciler uses.
type reconcileStore interface {
	// Reconcile rings tasks that lag without anybody on the way to tell them,
	// at most limit and none of except, and returns which, also with an error.
	Reconcile(ctx context.Context, limit int, except ...int64) ([]int64, error)
	// StillLagging returns those tasks to which nothing has happened.
	StillLagging(ctx context.Context, ids []int64) ([]int64, error)
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

// run works until ctx ends. Errors are logged: the next round comes anyway.
func (r *reconciler) run(ctx context.Context) {
	rings := time.NewTicker(r.every)
	defer rings.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-rings.C:
			r.ring(ctx, now)
		}
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
