package edge

import (
	"context"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/fault"
)

// How many bytes the bodies that are being worked on may have together (the
// memory is about three times as much) and those of one owner, how much of each
// body passes freely, and how long one waits for its turn. One more body of
// MaxBody may be under way beyond each limit: see express.
const (
	budgetBytes = 3 * MaxBody
	shareBytes  = MaxBody
	freeBytes   = 64 << 10
	turnWait    = 15 * time.Second
)

// While somebody waits for room, which they look for every paceLook, a body that holds some
// brings paceBytes in paceTime, or it is cut. One of 2 MB comes faster than that, if it comes
// within bodyTimeout at all. Before turnWait is over whoever waits has seen two such times:
// in the first one a body may have brought what it holds.
const (
	paceBytes = 64 << 10
	paceTime  = 5 * time.Second
	paceLook  = time.Second
)

// budget keeps many large bodies at a time from exhausting memory. Bytes are
// taken as they arrive: who announces much and sends little holds little.
type budget struct {
	mu     sync.Mutex
	all    pool
	owners map[string]*pool
	// tickets are all that are open.
	tickets map[*ticket]struct{}
	// changed is closed, and replaced, when bytes come back.
	changed chan struct{}
}

// pool is what may be held together: by all, or by one owner.
type pool struct {
	used, limit int64
	// express is the one ticket that may go beyond the limit until it is given
	// back. Without it, bodies that each hold a part could wait for each other.
	express *ticket
	tickets int
}

// ticket is what one body holds.
type ticket struct {
	budget *budget
	owner  string
	held   int64
	// stop ends the reading of the body; nil while nobody reads. cut says that it did.
	stop func()
	cut  bool
	// blocked says that the body waits for room, seen what it held at since, from when on
	// its pace counts.
	blocked bool
	seen    int64
	since   time.Time
}

func newBudget() *budget {
	return &budget{
		all: pool{limit: budgetBytes}, owners: map[string]*pool{}, tickets: map[*ticket]struct{}{}, changed: make(chan struct{}),
	}
}

// open makes the ticket of a body. It holds nothing yet.
func (b *budget) open(owner string) *ticket {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.owners[owner]
	if own == nil {
		own = &pool{limit: shareBytes}
		b.owners[owner] = own
	}
	own.tickets++
	t := &ticket{budget: b, owner: owner, since: time.Now()}
	b.tickets[t] = struct{}{}
	return t
}

// reading says that the body is being read, and what ends that.
func (t *ticket) reading(stop func()) {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	t.stop = stop
}

// arrived says that nobody reads the body any more, and reports whether it was cut. Nobody
// stops it from here on: the connection may have something else to do.
func (t *ticket) arrived() (cut bool) {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	t.stop = nil
	return t.cut
}

// take adds n bytes that have arrived, and waits while there is no room. Who waits looks
// for bodies that keep room and bring next to nothing.
func (t *ticket) take(ctx context.Context, n int64) error {
	room, changed := t.try(n)
	if room {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	look := time.NewTicker(paceLook)
	defer look.Stop()
	for {
		select {
		case <-changed:
		case <-look.C:
			t.cutSlow(n)
		case <-wait.Done():
			return fault.New(fault.Unavailable, "too many large requests at a time; try again").After(time.Second)
		}
		if room, changed = t.try(n); room {
			return nil
		}
	}
}

// try takes n bytes when there is room for them; else it tells what to wait for.
func (t *ticket) try(n int64) (room bool, changed <-chan struct{}) {
	b := t.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.owners[t.owner]
	room = b.admit(own, t, n)
	if room && t.blocked { // until now it brought nothing because of others
		t.since, t.seen = time.Now(), t.held
	}
	if t.blocked = !room; !room {
		return false, b.changed
	}
	t.held += n
	b.all.used += n
	own.used += n
	return true, nil
}

// admit reports whether there is room for n more bytes of a body, be it beyond a limit.
func (b *budget) admit(own *pool, t *ticket, n int64) bool {
	switch {
	case !own.admits(t, n):
		return false
	case b.all.fits(n):
		if !own.fits(n) {
			own.express = t
		}
	case b.all.admits(t, n) && (own.express == nil || own.express == t):
		// Who goes beyond the limit of all does so within its owner's, too: it
		// must not wait for somebody who waits for it.
		b.all.express, own.express = t, t
	default:
		return false
	}
	return true
}

// cutSlow stops the bodies that keep n bytes of t from their room and bring less than they
// must: those of its owner, where these fill their share, else those of all.
func (t *ticket) cutSlow(n int64) {
	b := t.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	among, now := !b.owners[t.owner].admits(t, n), time.Now()
	for other := range b.tickets {
		if !among || other.owner == t.owner {
			other.keepPace(now)
		}
	}
}

// keepPace stops a body that holds room and brings too little.
func (t *ticket) keepPace(now time.Time) {
	if t.stop == nil || t.blocked || t.held == 0 || now.Sub(t.since) < paceTime {
		return
	}
	if t.held-t.seen < paceBytes {
		t.stop()
		t.stop, t.cut = nil, true
	}
	t.since, t.seen = now, t.held
}

func (p *pool) fits(n int64) bool { return p.used+n <= p.limit }

func (p *pool) admits(t *ticket, n int64) bool {
	return p.fits(n) || p.express == nil || p.express == t
}

// close gives everything back.
func (t *ticket) close() {
	b := t.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.owners[t.owner]
	for _, p := range []*pool{&b.all, own} {
		p.used -= t.held
		if p.express == t {
			p.express = nil
		}
	}
	delete(b.tickets, t)
	if own.tickets--; own.tickets == 0 {
		delete(b.owners, t.owner)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}
