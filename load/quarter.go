package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/taskloom/taskloom/load/internal/arrival"
)

const (
	// quarterCreations are what the end of a quarter brings, in batches.
	quarterCreations = 20
	// startsMost is how long the runs of what was created are waited for.
	startsMost = 10 * time.Minute
)

// runQuarter creates 100,000 tasks in the script's length, beside a mean hour,
// and waits until their runs stand.
func runQuarter(ctx context.Context, r *run) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	play, stop := context.WithCancel(ctx)
	defer stop()
	p := mean.scaled(r.options)
	rounds := max(1, r.count(quarterCreations)/creatorCount)
	b := makeBodies(false)
	r.enter("quarter-end", r.warmFor())
	var g sync.WaitGroup
	r.warm(play, &g, p, r.warmFor())
	r.play(play, &g, p, 0, r.dur)
	r.stream(play, &g, r.quarterTimes(rounds), func(due time.Time) {
		var all sync.WaitGroup
		for c := range creatorCount {
			all.Go(func() { r.create(play, due, c, "create-5000", b.small) })
		}
		all.Wait()
	})
	if err := r.wind(ctx, stop, &g); err != nil {
		return err
	}
	if err := r.awaitStarts(ctx); err != nil {
		return err
	}
	if want, have := rounds*creatorCount*batch, r.facts.sure(); have != want {
		return fmt.Errorf("create at the end of a quarter: %d of %d tasks were created: %v", have, want, r.rec.Failures())
	}
	return nil
}

// quarterTimes are when the creations begin: all of them after the warm-up, and
// the last ones long before the end.
func (o options) quarterTimes(rounds int) arrival.Times {
	return arrival.Burst(rounds, o.warmFor(), o.dur*9/10-o.warmFor())
}

// awaitStarts tells how long the runs of new tasks take to begin after the last
// creation, and how many have not begun when nobody waits any longer.
func (r *run) awaitStarts(ctx context.Context) error {
	began := time.Now()
	first, err := r.backlog(ctx)
	if err != nil {
		return err
	}
	left := first
	for left.rows > 0 && time.Since(began) < startsMost {
		if err := wait(ctx, 250*time.Millisecond); err != nil {
			return err
		}
		if left, err = r.backlog(ctx); err != nil {
			return err
		}
	}
	took := time.Since(began).Seconds()
	r.number("outbox rows at the end", float64(first.rows))
	r.number("outbox rows left after waiting for them", float64(left.rows))
	r.number("waited for the outbox, s", took)
	if done := first.rows - left.rows; done > 0 {
		r.number("outbox rows a second while waiting", float64(done)/took)
	}
	if left.rows > 0 {
		r.note("after %v there are %d of %d outbox rows left, most of them starts", startsMost, left.rows, first.rows)
	}
	return nil
}
