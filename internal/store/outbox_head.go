package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// The outbox, too, is an index of what is due, which everything leaves: beside an old
// snapshot each look for something came by all that was ever delivered since, dozens of
// times a second, also where nothing was due. After ten minutes of work at 30 calls a
// second claims were half as many for it. So a process looks once a second where what
// is due begins, and where that is far from the front, it is taken from there.

// lateCommit is how long a transaction may last before what it puts into the outbox,
// which is due from the transaction's beginning, waits for the next look.
const lateCommit = 2 * time.Second

// newOutboxHeads begin before everything, which is the zero time.
func newOutboxHeads() *heads[Urgency, time.Time] { return newHeads[Urgency](time.Time{}) }

// headOfOutbox returns since when rows of an urgency are due that are there: those
// that were due before were delivered. After a look that failed it is the front, once.
func (s *Store) headOfOutbox(ctx context.Context, u Urgency) time.Time {
	at, look := s.due.begin(u)
	if !look {
		return at
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	found, err := s.lookForDue(ctx, u)
	if err != nil { // it may be what takes long: nothing before the head would be found otherwise
		s.due.looked(u, nil)
		return time.Time{}
	}
	return s.due.looked(u, &found)
}

// lookForDue is the front, unless it is far from the first row that is there, or
// where there is none, from now. A row that a dispatcher has in its hands counts: it
// is due again where it is.
func (s *Store) lookForDue(ctx context.Context, u Urgency) (time.Time, error) {
	var at, now time.Time
	var before, after int64
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(blocksReadSQL, "outbox").QueryRow(func(row pgx.Row) error { return row.Scan(&before) })
	b.Queue(`SELECT next_attempt_at FROM outbox WHERE next_attempt_at <= now() AND priority BETWEEN $1 AND $2
		ORDER BY priority, next_attempt_at LIMIT 1`, u, u.last()).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&at); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	b.Queue(blocksReadSQL, "outbox").QueryRow(func(row pgx.Row) error { return row.Scan(&after) })
	b.Queue(`SELECT now() - $1::interval`, lateCommit).QueryRow(func(row pgx.Row) error { return row.Scan(&now) })
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return time.Time{}, err
	}
	switch {
	case after-before <= littleRead:
		return time.Time{}, nil
	case at.IsZero() || at.After(now):
		return now, nil
	}
	return at, nil
}
