package edge

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// places are a bounded number of places, and who waits for one. While somebody
// waits, no place is free.
//
// Who comes back is served before the others, for something has been done for them,
// but for one of the others after firstInRow of them. The others are served in order of
// arrival. In an overload not all of them can be served in time, and whoever has stood
// in line for too long is late whatever happens: to serve them first makes all behind
// them late as well. So they are served after those who came since, the last come first
// (after the adaptive LIFO of Maurer, "Fail at Scale", ACM Queue 2015). Where there are
// shares, those who are not late are served by them.
//
// Where people and programs stand in one line, people are served as those who come back
// are. An overload there is of programs, and people wait for their turn at any time.
type places struct {
	now func() time.Duration
	// late is after how long somebody is served after those who came since; 0 or less
	// is never.
	late func() time.Duration
	had  *shares // by which those come first who had least, in an overload; or nil
	// mixed says that people and programs stand in this line, for what takes long.
	mixed bool

	mu    sync.Mutex
	size  int
	free  int
	first list.List // of waiter: who comes back, and people before programs
	fresh list.List // of waiter
	row   int       // how many of first were served since one of fresh
}

// firstInRow is how many who go first are served in a row while others wait: many who
// send their bodies at the same time keep nobody out, nor do many people.
const firstInRow = 4

// waiter is somebody in line. given is closed when they have the place.
type waiter struct {
	came  time.Duration
	who   caller
	given chan struct{}
}

func newPlaces(n int, now, late func() time.Duration) *places {
	return &places{now: now, late: late, size: n, free: n}
}

// try takes a place if one is free.
func (p *places) try() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == 0 {
		return false
	}
	p.free--
	return true
}

// wait takes a place, among those who come back or among the others, and reports
// whether there is one. There is none when ctx has ended before.
func (p *places) wait(ctx context.Context, back bool, who caller) bool {
	p.mu.Lock()
	if p.free > 0 {
		p.free--
		p.mu.Unlock()
		return true
	}
	in, w := &p.fresh, waiter{p.now(), who, make(chan struct{})}
	if p.goesFirst(back, who) {
		in = &p.first
	}
	self := in.PushBack(w)
	p.mu.Unlock()
	select {
	case <-w.given:
		return true
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.given: // just now
		return true
	default:
		in.Remove(self)
		return false
	}
}

// goesFirst reports whether somebody is served before the others.
func (p *places) goesFirst(back bool, who caller) bool { return back || p.mixed && who == person }

// release gives a place to who is next, or leaves it free.
func (p *places) release() {
	late := p.late()
	p.mu.Lock()
	defer p.mu.Unlock()
	from, next := &p.first, p.first.Front()
	if next == nil || p.row >= firstInRow && p.fresh.Len() > 0 {
		from, next, p.row = &p.fresh, p.next(late), 0
	} else {
		p.row++
	}
	if next != nil {
		close(from.Remove(next).(waiter).given) // nothing else is in the lists
		return
	}
	if p.free++; p.free > p.size {
		panic("a place was given back twice")
	}
}

// next is, of those who are not late, who had least lately, and of several the first
// come; or the last come of those who are late.
func (p *places) next(late time.Duration) *list.Element {
	if late <= 0 {
		return p.fresh.Front()
	}
	next, now := p.fresh.Back(), p.now()
	if next == nil {
		return nil
	}
	least := p.had.of(next.Value.(waiter).who, now)
	for e := next.Prev(); e != nil && e.Value.(waiter).came >= now-late; e = e.Prev() {
		if had := p.had.of(e.Value.(waiter).who, now); had <= least {
			next, least = e, had
		}
	}
	return next
}

// ahead is how many wait who are served before who comes now, in an overload where late
// is positive.
func (p *places) ahead(who caller) int {
	late := p.late()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.first.Len()
	switch {
	case p.goesFirst(false, who):
		return n
	case late <= 0:
		return n + p.fresh.Len()
	}
	now, fresh := p.now(), 0
	mine := p.had.of(who, now)
	for e := p.fresh.Back(); e != nil && e.Value.(waiter).came >= now-late; e = e.Prev() {
		if p.had.of(e.Value.(waiter).who, now) <= mine {
			fresh++
		}
	}
	if p.mixed { // however many people wait, one program has its turn after a few of them
		n = min(n, firstInRow*(fresh+1))
	}
	return n + fresh
}

// spares reports whether somebody has the patience of a burst in an overload, too, where
// things take long: people, a program that had less than one that waits, and one that waits
// for people only. They are next, or soon; but a place is given back seldom there, and who
// is refused before that sends all of it again.
func (p *places) spares(who caller) bool {
	if !p.mixed || who == person {
		return p.mixed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	mine := p.had.of(who, now)
	for e := p.fresh.Front(); e != nil; e = e.Next() {
		if p.had.of(e.Value.(waiter).who, now) > mine {
			return true
		}
	}
	return p.fresh.Len() == 0 && p.first.Len() > 0
}
