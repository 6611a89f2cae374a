package main

import (
	"context"
	"net/http"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// seen is the entity tag of an answer to a poll, and how often its caller had
// begun or ended something when they asked.
type seen struct {
	tag  string
	acts int64
}

// polled is how many polls there were, and how many of them were answered 304.
type polled struct{ all, same int64 }

func (p *polled) add(same bool) {
	p.all++
	if same {
		p.same++
	}
}

// acts notes that somebody begins to claim or to hand in, after which their own
// numbers may be others; what it returns notes the end.
func (p *person) acts() (ended func()) {
	p.acted.Add(1)
	return func() { p.acted.Add(1) }
}

// pollCounts looks at the queues, as an open tab does by the clock.
func (r *run) pollCounts(ctx context.Context, due time.Time) {
	p := r.world.contributors[r.think.IntN(len(r.world.contributors))]
	last, acts := p.last.get(), p.acted.Load()
	a := r.askCounts(ctx, p, "counts", due)
	if a.ok() && last.tag != "" && counts(r.phaseAt(due)) {
		r.facts.polled(last.acts == acts && p.acted.Load() == acts, a.status == http.StatusNotModified)
	}
}

// lookAfter is what a tab does at once when its person has claimed something or handed
// it in: their own numbers are others now. What cost and growth measure is compared
// with what they measured before, without it.
func (r *run) lookAfter(ctx context.Context, p *person) {
	if r.script == "cost" || r.script == "growth" {
		return
	}
	now := time.Now()
	r.loop.Start(now, func() { r.askCounts(ctx, p, "counts-after", now) })
}

// askCounts asks for the numbers of the queues, unless they are those of the last answer.
func (r *run) askCounts(ctx context.Context, p *person, op string, due time.Time) answer {
	last, acts := p.last.get(), p.acted.Load()
	a := r.ask(ctx, request{op: op, method: http.MethodGet, path: "/api/console/queues", session: p.token, tag: last.tag, due: due})
	switch a.status {
	case http.StatusOK:
		p.last.set(seen{a.tag, acts})
	case http.StatusNotModified:
		p.last.set(seen{last.tag, acts})
	}
	return a
}

// sumPolls tells how many polls were answered without a body: of those by the clock,
// and of these, of those whose callers did nothing since the last one. What they hold
// is among the numbers, so that an answer to the others has to be new. Of all looks,
// that of a tab which is opened and those after something was done are among them. In a
// burst the queue itself changes for everybody.
func (r *run) sumPolls() {
	unchanged, looks := 0.0, 0.0
	for _, l := range r.rec.Lines() {
		if l.Op == "counts" || l.Op == "counts-after" {
			unchanged, looks = unchanged+float64(l.Statuses["304"]), looks+float64(l.N)
		}
	}
	if looks > 0 {
		r.number("looks at the queues that were 304, %", 100*unchanged/looks)
	}
	if r.script == "burst" {
		return
	}
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	for name, of := range map[string]polled{slo.NotModified: r.facts.polls, slo.Unchanged: r.facts.idle} {
		if of.all > 0 {
			r.number(name, 100*float64(of.same)/float64(of.all))
		}
	}
}
