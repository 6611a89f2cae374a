package worker

import (
	"context"
	"log/slog"
	"time"
)

// ringAtOnce bounds one round, so that a lost cluster comes back at the
// dispatcher's pace.
const ringAtOnce = 1000

// reconcileStore is the part of Store that the reconciler uses.
type reconcileStore interface {
	Reconcile(ctx context.Context, limit int) (int, error)
}

// reconciler is the net below the outbox: whatever was lost on the way, a
// signal, a run or a whole Temporal cluster, it rings the tasks that lag.
type reconciler struct {
	store   reconcileStore
	every   time.Duration
	log     *slog.Logger
	metrics *metrics
}

// run works until ctx ends. Errors are logged: the next round comes anyway.
func (r reconciler) run(ctx context.Context) {
	rings := time.NewTicker(r.every)
	defer rings.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rings.C:
			r.ring(ctx)
		}
	}
}

func (r reconciler) ring(ctx context.Context) {
	n, err := r.store.Reconcile(ctx, ringAtOnce)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("The look for lagging tasks failed; the next one comes.", "error", err)
		}
		return
	}
	if n > 0 {
		r.metrics.rung.Add(float64(n))
		r.log.Info("Lagging tasks were rung.", "tasks", n)
	}
}
