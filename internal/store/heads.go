package store

import (
	"sync"
	"time"
)

const (
	// lookAgain is how long what a look has found counts for who takes; numbers of
	// queues, for which nobody looks, go by it for lookedLongAgo.
	lookAgain     = time.Second
	lookedLongAgo = 5 * time.Second
	// lookWithin bounds a look. Somebody waits for it.
	lookWithin = 2 * time.Second
	// littleRead is how many blocks of the table a look may read for everybody to begin
	// at the front: some thousand rows that left it, two milliseconds.
	littleRead = 32
)

// blocksReadSQL is how many blocks of a table this session has read, in this
// transaction and since it last reported to Postgres's statistics.
const blocksReadSQL = `SELECT pg_stat_get_xact_blocks_fetched($1::text::regclass)`

// heads know where queues (Q) begin in an index of which Postgres keeps what has left
// it, as a place in its order (P). They are safe for everybody at once.
type heads[Q comparable, P any] struct {
	front P // before everything
	mu    sync.Mutex
	of    map[Q]*head[P]
}

type head[P any] struct {
	at             P
	known, looking bool
	forget         *time.Timer // since the last look
}

func newHeads[Q comparable, P any](front P) *heads[Q, P] {
	return &heads[Q, P]{front: front, of: map[Q]*head[P]{}}
}

// begin returns where a queue begins as far as is known, and whether it is the caller
// who has to look. The others go on with what was known before.
func (h *heads[Q, P]) begin(q Q) (at P, look bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := h.head(q)
	look = !head.known && !head.looking
	head.looking = head.looking || look
	return head.at, look
}

// head is that of a queue. The caller has the lock.
func (h *heads[Q, P]) head(q Q) *head[P] {
	if h.of[q] == nil {
		h.of[q] = &head[P]{at: h.front}
	}
	return h.of[q]
}

// looked notes what a look has found, for a while. One that failed (nil) leaves the
// head where it was: from the front everybody would come by all that is in the way,
// which may be what the look had no time for.
func (h *heads[Q, P]) looked(q Q, at *P) P {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := h.head(q)
	if at != nil {
		head.at = *at
	}
	head.known, head.looking = true, false
	time.AfterFunc(lookAgain, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		head.known = false
	})
	if head.forget != nil {
		head.forget.Stop()
	}
	head.forget = time.AfterFunc(lookedLongAgo, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		head.at = h.front // if it was found this moment, everybody comes by all of it until the next look
	})
	return head.at
}

// lately is where a queue began when somebody last looked, not long ago.
func (h *heads[Q, P]) lately(q Q) P {
	h.mu.Lock()
	defer h.mu.Unlock()
	if head := h.of[q]; head != nil {
		return head.at
	}
	return h.front
}
