package main

import (
	"context"
	"net/http"
	"time"

	"github.com/taskloom/taskloom/load/internal/slo"
)

// seen is the entity tag of an answer to a poll, and how often its caller had
// begun or ended something when they asked.
type seen struct {
	tag  string
	acts int64
}

// acts notes that somebody begins to claim or to hand in, after which their own
// numbers may be others; what it returns notes the end.
func (p *person) acts() (ended func()) {
	p.acted.Add(1)
	return func() { p.acted.Add(1) }
}

// pollCounts looks at the queues, as an open tab does.
func (r *run) pollCounts(ctx context.Context, due time.Time) {
	p := r.world.contributors[r.think.IntN(len(r.world.contributors))]
	last, acts := p.last.get(), p.acted.Load()
	a := r.ask(ctx, request{
		op: "counts", method: http.MethodGet, path: "/api/console/queues", session: p.token, tag: last.tag, due: due,
	})
	if a.ok() && last.tag != "" && last.acts == acts && p.acted.Load() == acts && counts(r.phaseAt(due)) {
		r.facts.polled(a.status == http.StatusNotModified)
	}
	switch a.status {
	case http.StatusOK:
		p.last.set(seen{a.tag, acts})
	case http.StatusNotModified:
		p.last.set(seen{last.tag, acts})
	}
}

// sumPolls tells how many polls were answered without a body: of all, and of
// those whose callers did nothing since the last one. What they hold is among the
// numbers, so that an answer to the others has to be new. In a burst the queue
// itself changes for everybody.
func (r *run) sumPolls() {
	unchanged, polls := 0.0, 0.0
	for _, l := range r.rec.Lines() {
		if l.Op == "counts" {
			unchanged, polls = unchanged+float64(l.Statuses["304"]), polls+float64(l.N)
		}
	}
	if polls > 0 {
		r.number("polls of counts that were 304, %", 100*unchanged/polls)
	}
	r.facts.mu.Lock()
	same, of := r.facts.unchanged, r.facts.polls
	r.facts.mu.Unlock()
	if of > 0 && r.script != "burst" {
		r.number(slo.Unchanged, 100*float64(same)/float64(of))
	}
}
