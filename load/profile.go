package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/hour"
	"github.com/taskloom/taskloom/load/internal/arrival"
)

// profile is one that this program plays.
type profile hour.Profile

var mean, busiest = profile(hour.Mean), profile(hour.Busiest)

// times is so many times as much, by as many people, who take that much less
// time for each task.
func (p profile) times(k float64) profile {
	for _, rate := range []*float64{
		&p.Tasks, &p.Verdicts, &p.Extends, &p.Drafts, &p.Counts, &p.Lists, &p.Statuses, &p.Naive, &p.Explorer, &p.Foreign,
	} {
		*rate *= k
	}
	return p.thinking(k)
}

// thinking lets people take k times less for a task.
func (p profile) thinking(k float64) profile {
	p.Handling = time.Duration(float64(p.Handling) / k)
	p.Reviewing = time.Duration(float64(p.Reviewing) / k)
	return p
}

// scaled is a share of the people, who take as long as ever. A short run has
// shorter tasks, so that some are handed in at all.
func (p profile) scaled(o options) profile {
	took := p.Handling
	p = p.times(o.scale)
	p.Handling = min(took, o.dur/6)
	p.Reviewing = min(time.Duration(float64(p.Reviewing)*o.scale), o.dur/6)
	return p
}

// pieces are the streams of a profile.
func (p profile) pieces(ctx context.Context, r *run) []piece {
	return []piece{
		{"task", p.Tasks, func(due time.Time) { r.contribute(ctx, due, p.Handling, 1) }},
		{"verdict", p.Verdicts, func(due time.Time) { r.review(ctx, due, p.Reviewing) }},
		{"extend", p.Extends, func(due time.Time) { r.extend(ctx, due) }},
		{"draft", p.Drafts, func(due time.Time) { r.save(ctx, due) }},
		{"counts", p.Counts, func(due time.Time) { r.pollCounts(ctx, due) }},
		{"list", p.Lists, func(due time.Time) { r.list(ctx, due) }},
		{"status", p.Statuses, func(due time.Time) { r.status(ctx, due) }},
		{"naive", p.Naive, func(due time.Time) { r.naive(ctx, due) }},
		{"explorer", p.Explorer, func(due time.Time) { r.explore(ctx, due) }},
		{"foreign", p.Foreign, func(due time.Time) { r.peek(ctx, due) }},
	}
}

// piece is one stream.
type piece struct {
	name string
	rate float64
	do   func(due time.Time)
}

// play starts a profile at constant rates from one time until another. ctx
// ends what is under way, too; the group waits for the schedules.
func (r *run) play(ctx context.Context, g *sync.WaitGroup, p profile, from, to time.Duration) {
	for _, s := range p.pieces(ctx, r) {
		r.stream(ctx, g, arrival.Even(s.rate, phaseShift(r.seed, s.name), from, to), s.do)
	}
}

// shape starts a profile whose rates follow a shape, with random arrivals.
func (r *run) shape(ctx context.Context, g *sync.WaitGroup, p profile, shape arrival.Rate, most float64, from, to time.Duration) {
	for i, s := range p.pieces(ctx, r) {
		rate := func(at time.Duration) float64 { return s.rate * shape(at-from) }
		r.stream(ctx, g, arrival.Poisson(r.seed+uint64(i), rate, s.rate*most, from, to), s.do)
	}
}

// warm lets people claim within a time what they would hold already, had the
// profile been played for long: some of it is nearly done.
func (r *run) warm(ctx context.Context, g *sync.WaitGroup, p profile, within time.Duration) {
	holding := min(int(p.Tasks*p.Handling.Seconds()), r.count(contributorCount)*7/10)
	if holding < 1 {
		return
	}
	r.stream(ctx, g, arrival.Burst(holding, 0, within), func(due time.Time) {
		r.contribute(ctx, due, p.Handling, r.think.Float())
	})
}

// scriptTimes are the times at which parts of a script fall, as shares of its length.
func scriptTimes(dur time.Duration, shares ...float64) arrival.Times {
	times := make([]time.Duration, len(shares))
	for i, s := range shares {
		times[i] = time.Duration(s * float64(dur))
	}
	slices.Sort(times)
	return arrival.At(times...)
}
