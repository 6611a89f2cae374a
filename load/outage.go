package main

import (
	"context"
	"sync"
	"time"
)

// runOutage plays the peak. For a third of the time Temporal is gone for the
// product: what people do goes on and waits in the outbox, which drains when
// Temporal is back. New batches and archives would drain last, as they are
// meant to, and are left out.
func runOutage(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := busiest.scaled(r.options)
	var g sync.WaitGroup
	r.enter("before", r.warmFor())
	r.warm(play, &g, p, r.warmFor())
	after := max(r.dur/3, 75*time.Second)
	end := r.dur*2/3 + after
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
	r.facts.window.open(r.gate)
	healed := time.Now()
	r.enter("after", time.Since(r.began))
	if err := r.proxy.heal(ctx); err != nil {
		return err
	}
	drained := r.drain(ctx, healed)
	r.facts.probes.Store(true)
	if err := r.until(ctx, end); err != nil {
		return err
	}
	r.noteRecovery(drained, healed)
	return r.wind(ctx, stop, &g)
}

// drain waits until nothing is left of an outage, and returns how long it took;
// never when it took too long.
func (r *run) drain(ctx context.Context, healed time.Time) time.Duration {
	const behind = 2 * time.Second
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
