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

// budget keeps many large bodies at a time from exhausting memory. Bytes are
// taken as they arrive: who announces much and sends little holds little.
type budget struct {
	mu     sync.Mutex
	all    pool
	owners map[string]*pool
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
}

func newBudget() *budget {
	return &budget{all: pool{limit: budgetBytes}, owners: map[string]*pool{}, changed: make(chan struct{})}
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
	return &ticket{budget: b, owner: owner}
}

// take adds n bytes that have arrived, and waits while there is no room.
func (t *ticket) take(ctx context.Context, n int64) error {
	room, changed := t.try(n)
	if room {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	for {
		select {
		case <-changed:
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
	switch {
	case !own.admits(t, n):
		return false, b.changed
	case b.all.fits(n):
		if !own.fits(n) {
			own.express = t
		}
	case b.all.admits(t, n) && (own.express == nil || own.express == t):
		// Who goes beyond the limit of all does so within its owner's, too: it
		// must not wait for somebody who waits for it.
		b.all.express, own.express = t, t
	default:
		return false, b.changed
	}
	t.held += n
	b.all.used += n
	own.used += n
	return true, nil
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
	if own.tickets--; own.tickets == 0 {
		delete(b.owners, t.owner)
	}
	close(b.changed)
	b.changed = make(chan struct{})
}
