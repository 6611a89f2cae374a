package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.temporal.io/api/serviceerror"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/store"
)

// The dispatcher works in lanes, each of one urgency, so that one slow call does
// not hold up the rest, and nothing waits for what is less urgent. What gives way
// has one lane each: its pace is for one at a time.
var lanes = [...]store.Urgency{store.UrgencyHanded, store.UrgencyHanded, store.UrgencyClaimed, store.UrgencyCreated}

const (
	// laneTake rows are taken at a time, at most.
	laneTake = 16
	laneWide = 8 // deliveries at once
	// laneTime is how long after it was taken a row may still be sent: a call takes
	// 5 s at most, and the lease of the row ends after store.OutboxLease.
	laneTime = 2 * time.Second

	// A lane that found nothing looks again: where people hand in, after 50 ms at most
	// until they have not for a while, for that is the wait for the next step, and
	// else after 250 ms (docs/costs.md).
	pollSoon = 50 * time.Millisecond
	pollLate = 250 * time.Millisecond
	quiet    = 10 * time.Second
	// storeDown is the wait after Postgres refused a lane.
	storeDown = time.Second
	// settleTimeout bounds the writes after a batch, also during shutdown.
	settleTimeout = 5 * time.Second
)

// dispatcher tells Temporal what Postgres has accepted, at least once: of each
// task the last event, which makes the run read those before it.
type dispatcher struct {
	outbox  Outbox
	deliver deliverer
	breaker *gobreaker.CircuitBreaker[outcome]
	// reach asks whether Temporal answers.
	reach func(context.Context) error
	// missed hears of every delivery that was refused because Temporal does not
	// know the search attributes; nil tells nobody.
	missed  chan<- struct{}
	log     *slog.Logger
	metrics *metrics
}

func newDispatcher(d Deps, b *gobreaker.CircuitBreaker[outcome], missed chan<- struct{}, m *metrics) *dispatcher {
	return &dispatcher{
		outbox: d.Store, deliver: newDeliverer(d), breaker: b, reach: func(ctx context.Context) error { return reachable(ctx, d) },
		missed: missed, log: d.Logger, metrics: m,
	}
}

// run delivers until ctx ends. What is under way then is settled first.
func (d *dispatcher) run(ctx context.Context) {
	var g errgroup.Group
	for _, u := range lanes {
		g.Go(func() error { d.lane(ctx, u); return nil })
	}
	_ = g.Wait() // lanes end without an error
}

// take leases rows for a lane, of those that give way as many as they may be.
func (d *dispatcher) take(ctx context.Context, n int, u store.Urgency) ([]store.Delivery, error) {
	c := d.deliver.calm[u]
	if c == nil {
		return d.outbox.TakeOutbox(ctx, n, u)
	}
	if c.due() {
		c.pace.Asked()
		if behind, err := d.outbox.StepsBehind(ctx); err == nil { // else as many as before
			c.learn(behind)
		}
	}
	batch, err := d.outbox.TakeOutbox(ctx, min(n, c.batch()), u)
	c.took(len(batch))
	return batch, err
}

func (d *dispatcher) lane(ctx context.Context, u store.Urgency) {
	found := time.Now()
	for ctx.Err() == nil {
		n := laneTake
		switch d.breaker.State() {
		case gobreaker.StateOpen:
			rest(ctx, pollLate)
			continue
		case gobreaker.StateHalfOpen:
			n = 1
		case gobreaker.StateClosed:
		}
		batch, err := d.take(ctx, n, u)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				d.log.Warn("The outbox cannot be read; the dispatcher tries on.", "error", err)
			}
			rest(ctx, storeDown)
			continue
		case len(batch) == 0:
			d.knock(ctx)
			rest(ctx, d.lull(u, time.Since(found)))
			continue
		}
		found = time.Now()
		if heldBack := d.batch(ctx, batch); heldBack {
			rest(ctx, pollLate)
		}
	}
}

// knock tries the breaker where there is no row to try it with: it would say that
// Temporal is away until somebody does something.
func (d *dispatcher) knock(ctx context.Context) {
	if d.breaker.State() == gobreaker.StateHalfOpen {
		_, _ = d.breaker.Execute(func() (outcome, error) {
			err := d.reach(ctx)
			if err != nil && !errors.Is(err, context.Canceled) {
				err = serviceerror.NewUnavailable(err.Error()) // whatever keeps it from being well
			}
			return "", err
		})
	}
}

// lull is how long a lane rests that has found nothing for a while.
func (d *dispatcher) lull(u store.Urgency, nothing time.Duration) time.Duration {
	if d.deliver.calm[u] != nil || nothing > quiet {
		return pollLate
	}
	return pollSoon
}

// batch delivers rows of different tasks side by side and then writes what
// became of them. It reports whether some had to be given back.
func (d *dispatcher) batch(ctx context.Context, batch []store.Delivery) bool {
	results := make([]result, len(batch))
	taken := time.Now()
	var g errgroup.Group
	g.SetLimit(laneWide)
	for i, row := range batch {
		g.Go(func() error {
			if time.Since(taken) > laneTime {
				results[i] = result{outcome: heldBack}
			} else {
				results[i] = d.one(ctx, row)
			}
			return nil
		})
	}
	_ = g.Wait() // the results carry the errors
	return d.settle(ctx, batch, results, taken)
}

// rest waits with jitter, so that many workers do not ask in step.
func rest(ctx context.Context, about time.Duration) {
	t := time.NewTimer(about/2 + rand.N(about/2)) //nolint:gosec // spreads load, guards nothing
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
