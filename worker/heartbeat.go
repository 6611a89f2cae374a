package worker

import (
	"context"
	"log/slog"
	"time"
)

// beatEvery is how often a worker says that it is alive. Whoever asks calls
// one lost after three missed beats.
const beatEvery = 2 * time.Second

// beatStore is a worker's own row in Postgres, as store.Pulse keeps it.
type beatStore interface {
	Beat(ctx context.Context, queues []string, temporalOK bool) error
	// Stop takes the row away.
	Stop(ctx context.Context) error
}

// heartbeat keeps one row in Postgres that says whether this worker can do its
// work. Temporal's own list of pollers is up to five minutes old.
type heartbeat struct {
	store   beatStore
	queues  []string
	ok      func(context.Context) bool
	log     *slog.Logger
	metrics *metrics
}

// run beats until ctx ends, then removes the row.
func (h heartbeat) run(ctx context.Context) {
	lost := false
	for ctx.Err() == nil {
		next := time.Now().Add(beatEvery)
		err := h.beat(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !lost:
			h.log.Warn("The worker's heartbeat is not written; it tries on.", "error", err)
		case err == nil && lost:
			h.log.Info("The worker's heartbeat is written again.")
		}
		lost = err != nil
		pause(ctx, time.Until(next))
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatEvery)
	defer cancel()
	if err := h.store.Stop(last); err != nil {
		h.log.Warn("The worker's heartbeat is left behind; it will grow stale.", "error", err)
	}
}

func (h heartbeat) beat(ctx context.Context) error {
	up := h.ok(ctx)
	h.metrics.temporal.Set(0)
	if up {
		h.metrics.temporal.Set(1)
	}
	ctx, cancel := context.WithTimeout(ctx, beatEvery)
	defer cancel()
	return h.store.Beat(ctx, h.queues, up)
}
