package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/taskloom/taskloom/internal/store"
)

const (
	// ringAtOnce bounds one round, so that a lost cluster comes back at the
	// dispatcher's pace.
	ringAtOnce = 1000
	// observeEvery is how fresh the outbox metrics are.
	observeEvery = 5 * time.Second
)

// reconcileStore is the part of Store that the reconciler uses.
type reconcileStore interface {
	Reconcile(ctx context.Context, limit int) (int, error)
	OutboxStats(ctx context.Context) (store.OutboxStats, error)
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
	rings, looks := time.NewTicker(r.every), time.NewTicker(observeEvery)
	defer rings.Stop()
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rings.C:
			r.ring(ctx)
		case <-looks.C:
			r.observe(ctx)
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

func (r reconciler) observe(ctx context.Context) {
	s, err := r.store.OutboxStats(ctx)
	if err != nil {
		return // the gauges keep their last value, the other loops log the outage
	}
	r.metrics.rows.Set(float64(s.Rows))
	r.metrics.oldest.Set(s.Oldest.Seconds())
	r.metrics.lagging.Set(float64(s.Lagging))
}
