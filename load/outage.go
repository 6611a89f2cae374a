package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

const (
	// behind is how far the runs may be behind the journal when all is well.
	behind = 2 * time.Second
	// recovering is how long after an outage or an overload its consequences may
	// last: the time in which everything must be well again, and in which no
	// objective holds.
	recovering = 60 * time.Second
)

// runOutage plays the peak. For a third of the time Temporal is gone for the
// product: what people do goes on and waits in the outbox, which drains when
// Temporal is back. People work on tasks whose runs stand before it begins, as
// those of a product that is in use: what is filled in has no runs, and its
// claims would be as many starts. New batches and archives would drain last, as
// they are meant to, and are left out.
func runOutage(ctx context.Context, r *run) error {
	if err := r.createAhead(ctx); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := busiest.scaled(r.options)
	var g sync.WaitGroup
	r.enter("before", r.warmFor())
	r.warm(play, &g, p, r.warmFor())
	end := r.length()
	r.play(play, &g, p, 0, end)
	if err := r.until(ctx, r.dur/3); err != nil {
		return err
	}
	r.facts.probes.Store(false) // no step happens without Temporal
	r.enter("outage", time.Since(r.began))
	r.proxy.cut()
	if err := r.until(ctx, r.dur*2/3); err != nil {
		return err
	}
	b, err := r.backlog(ctx)
	if err != nil {
		return err
	}
	r.number("outbox rows when Temporal comes back", float64(b.rows))
	if err := r.proxy.heal(ctx); err != nil {
		return err
	}
	healed := time.Now()
	r.facts.window.open(r.gate)
	r.enterRecovery(healed.Sub(r.began))
	drained := r.drain(ctx, healed)
	r.facts.probes.Store(true)
	if err := r.until(ctx, end); err != nil {
		return err
	}
	r.noteRecovery(drained, healed)
	return r.wind(ctx, stop, &g)
}

// createAhead creates all tasks that people will claim, and waits until their
// runs stand.
func (r *run) createAhead(ctx context.Context) error {
	n := r.claims()
	r.say("creating %d tasks to work on, and waiting for their runs", n)
	for i, left := 0, n; left > 0; i++ {
		now := min(batch, left)
		left -= now
		r.create(ctx, time.Now(), i, "create-5000", mathcheck.CreateBody(now, mathcheck.Small))
	}
	if have := r.facts.sure(); have != n {
		return fmt.Errorf("create the tasks to work on: there are %d instead of %d: %v", have, n, r.rec.Failures())
	}
	began := time.Now()
	if err := r.quiet(ctx, n); err != nil {
		return fmt.Errorf("wait for the runs of the tasks to work on: %w", err)
	}
	r.note("the runs of %d tasks took %.0f s to start, before the clock", n, time.Since(began).Seconds())
	return nil
}

// drain waits until nothing is left of an outage, and returns how long it took;
// never when it took too long.
func (r *run) drain(ctx context.Context, healed time.Time) time.Duration {
	for time.Since(healed) < settleMost && ctx.Err() == nil {
		b, err := r.backlog(ctx)
		if err == nil && b.urgent < behind && b.lagged < behind {
			r.say("drained after %.1f s", time.Since(healed).Seconds())
			return time.Since(healed)
		}
		if wait(ctx, 250*time.Millisecond) != nil {
			break
		}
	}
	return never
}
