package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// outcome is what became of a delivery. Its text labels the metric.
type outcome string

const (
	delivered   outcome = "delivered"
	settled     outcome = "settled"     // the run has ended and needs nothing more
	restarted   outcome = "restarted"   // the run had ended too early
	heldBack    outcome = "held_back"   // not tried: the breaker is open, the lease is old, or the worker stops
	unavailable outcome = "unavailable" // Temporal or Postgres is away, or Temporal takes nothing from us
	refused     outcome = "refused"     // Temporal did not want it; kept, and logged
)

// Delays before another try, doubled with each attempt.
const (
	outageFirst  = 250 * time.Millisecond
	outageLast   = 30 * time.Second
	refusedFirst = 5 * time.Second
	refusedLast  = 5 * time.Minute
)

type result struct {
	outcome outcome
	err     error
}

// one delivers a row through the breaker and names what became of it.
func (d *dispatcher) one(ctx context.Context, row store.Delivery) result {
	out, err := d.breaker.Execute(func() (outcome, error) { return d.deliver.row(ctx, row) })
	return judge(ctx, out, err)
}

// judge names what became of a delivery.
func judge(ctx context.Context, out outcome, err error) result {
	switch {
	case err == nil:
		return result{outcome: out}
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests), ctx.Err() != nil:
		return result{outcome: heldBack}
	case outage(err), fault.Is(err, fault.Unavailable):
		return result{outcome: unavailable, err: err}
	}
	return result{outcome: refused, err: err}
}

// settle writes the results of what was taken then. A write that fails leaves the row
// leased: it is delivered once more, which changes nothing.
func (d *dispatcher) settle(ctx context.Context, batch []store.Delivery, results []result, taken time.Time) (anyHeldBack bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	var done []store.Delivery
	var back []int64
	var failed []error
	for i, r := range results {
		row := batch[i]
		d.metrics.deliveries.WithLabelValues(string(r.outcome)).Inc()
		switch r.outcome {
		case delivered, settled, restarted:
			done = append(done, row)
			d.metrics.delay.WithLabelValues(delayOf(row)).Observe(max(0, (row.Waited + time.Since(taken)).Seconds()))
		case heldBack:
			back = append(back, row.ID)
		case unavailable:
			tellShut(d.log, r.err)
			failed = append(failed, d.retry(ctx, row, r.err, outageFirst, outageLast))
		case refused:
			tellMissing(d.missed, r.err)
			d.log.Error("Temporal refuses a delivery; it is kept and tried again.",
				"task", row.TaskID, "event", row.Event.Seq, "attempt", row.Attempts, "error", r.err)
			failed = append(failed, d.retry(ctx, row, r.err, refusedFirst, refusedLast))
		}
	}
	if len(done) > 0 {
		failed = append(failed, d.outbox.DoneOutbox(ctx, done))
	}
	if len(back) > 0 {
		failed = append(failed, d.outbox.GiveBackOutbox(ctx, back))
	}
	if err := errors.Join(failed...); err != nil {
		d.log.Warn("Outbox rows are not settled; they will be delivered again.", "error", err)
	}
	return len(back) > 0
}

// tellShut says in the log what an operator has to mend; an outage that ends by
// itself, and what Temporal answers then, is told by the breaker.
func tellShut(log *slog.Logger, err error) {
	if shut(err) {
		log.Error("Temporal takes nothing from this worker, which tries on; look at the namespace and its permissions.", "error", err)
	}
}

// delayOf labels how long a row took.
func delayOf(row store.Delivery) string {
	switch {
	case row.Urgency >= store.UrgencyCreated:
		return delayOfStarts
	case row.Urgency >= store.UrgencyClaimed:
		return delayOfClaims
	}
	return delayOfEvents
}

func (d *dispatcher) retry(ctx context.Context, row store.Delivery, cause error, first, last time.Duration) error {
	return d.outbox.RetryOutbox(ctx, row.ID, backoff(row.Attempts, first, last), cause.Error())
}

// backoff doubles the delay with each attempt, with jitter.
func backoff(attempts int, first, last time.Duration) time.Duration {
	in := last
	if attempts < 16 {
		in = min(last, first<<attempts)
	}
	return in + rand.N(in/4) //nolint:gosec // spreads load, guards nothing
}
