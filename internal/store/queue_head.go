package store

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// While somebody holds an old snapshot, Postgres keeps every node that has left a
// queue since then in the index of the queue, where each claim comes by all of them
// first: after ten minutes of work at 50 a second a claim took four times as much as
// before. So a process looks once in a while where its queues really begin, and what
// it costs to find out. Where that is little, as nearly always, claims begin at the
// front, and the order of service is exact. Where it is much, they begin there: what
// comes in before it meanwhile, because it was given back or got another priority,
// is found by the next look, or when there is nothing behind.

const (
	// lookAgain is how long what a look has found counts for claims; numbers of queues,
	// for which nobody looks, go by it for lookedLongAgo.
	lookAgain     = time.Second
	lookedLongAgo = 5 * time.Second
	// lookWithin bounds a look. A claim waits for it.
	lookWithin = 2 * time.Second
	// littleRead is how many blocks of the table a look may read for claims to begin at
	// the front: some thousand nodes that left it, two milliseconds.
	littleRead = 32
)

// queuePosition is a place in a queue's order of service.
type queuePosition struct {
	Priority int16
	TaskID   int64
}

// queueFront is before everything.
var queueFront = queuePosition{Priority: math.MinInt16}

// queueHeads knows where the queues begin. It is safe for everybody at once.
type queueHeads struct {
	mu sync.Mutex
	of map[queueName]*queueHead
}

type queueName struct {
	pipelineID int64
	kind       pipeline.Kind
}

type queueHead struct {
	at             queuePosition
	known, looking bool
	forget         *time.Timer // since the last look
}

func newQueueHeads() *queueHeads { return &queueHeads{of: map[queueName]*queueHead{}} }

// begin returns where a queue begins as far as is known, and whether it is the caller
// who has to look. The others go on with what was known before.
func (h *queueHeads) begin(q queueName) (at queuePosition, look bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := h.of[q]
	if head == nil {
		head = &queueHead{at: queueFront}
		h.of[q] = head
	}
	look = !head.known && !head.looking
	head.looking = head.looking || look
	return head.at, look
}

// found notes what a look has found, for a while.
func (h *queueHeads) found(q queueName, at queuePosition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := h.of[q]
	head.at, head.known, head.looking = at, true, false
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
		head.at = queueFront // if it was found this moment, claims come by all of it until the next look
	})
}

// lately is where a queue began when somebody last looked, not long ago.
func (h *queueHeads) lately(q queueName) queuePosition {
	h.mu.Lock()
	defer h.mu.Unlock()
	if head := h.of[q]; head != nil {
		return head.at
	}
	return queueFront
}

// headOfQueue returns where claims in a queue begin.
func (s *Store) headOfQueue(ctx context.Context, m Member, kind pipeline.Kind) queuePosition {
	q := queueName{m.PipelineID, kind}
	at, look := s.heads.begin(q)
	if look {
		at = s.lookForHead(ctx, m, kind)
		s.heads.found(q, at)
	}
	return at
}

// blocksReadSQL is how many blocks of the table this session has read, in this
// transaction and since it last reported to Postgres's statistics.
const blocksReadSQL = `SELECT pg_stat_get_xact_blocks_fetched('task_nodes'::regclass)`

// lookForHead is the front, unless it is far from the first node that is free. An
// error is none of the look's: the claim that comes next meets it, too.
func (s *Store) lookForHead(ctx context.Context, m Member, kind pipeline.Kind) queuePosition {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	at := queueFront
	var before, after int64
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(blocksReadSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&before) })
	b.Queue(`SELECT n.priority, n.task_id FROM task_nodes n
		WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $3 AND n.status = 'available' AND n.reserved_for IS NULL
		ORDER BY n.priority, n.task_id LIMIT 1`, m.PipelineID, m.OrgID, kind).QueryRow(func(row pgx.Row) error {
		return row.Scan(&at.Priority, &at.TaskID)
	})
	b.Queue(blocksReadSQL).QueryRow(func(row pgx.Row) error { return row.Scan(&after) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil || after-before <= littleRead {
		return queueFront
	}
	return at
}
