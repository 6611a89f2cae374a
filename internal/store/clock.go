package store

import (
	"context"
	"time"
)

// Clock tells the time by the clock of the database, by which keys end.
func (s *Store) Clock(ctx context.Context) (now time.Time, err error) {
	err = s.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now, translate(err)
}

// farthestAttempt is longer than a delivery is ever put off.
const farthestAttempt = 7 * time.Minute

// fromTheFuture makes due what a database clock that stepped back left in the
// future, where it would wait until the clock is there again: a row that was
// never tried is due from its beginning, no attempt is put off for longer than
// farthestAttempt, and no lease of a row is longer than OutboxLease. A clock
// steps back when somebody sets it, or when a server takes over whose clock is
// behind. Nor has a task or an upload been waiting since a time to come: it would
// not be rung until a while after that; nor were the kept counts compared then. What
// people were told stays: a lease, a reservation and a time limit last until the hour
// that they say. It looks at a few rows at the ends of an index only.
func (s *Store) fromTheFuture(ctx context.Context, limit int) error {
	_, err := s.pool.Exec(ctx, `WITH ahead AS (
			SELECT f.id FROM generate_series(0, 9) AS p(priority) CROSS JOIN LATERAL (
				(SELECT id FROM outbox WHERE priority = p.priority AND next_attempt_at > now() + interval '1 second'
					AND (attempts = 0 OR next_attempt_at > now() + $1::interval) ORDER BY next_attempt_at DESC LIMIT $3)
				UNION
				SELECT id FROM (SELECT id, leased_until FROM outbox WHERE priority = p.priority ORDER BY next_attempt_at LIMIT $3) AS head
					WHERE leased_until > now() + $2::interval) f
		) UPDATE outbox o SET next_attempt_at = least(o.next_attempt_at, now()), leased_until = NULL FROM ahead WHERE o.id = ahead.id`,
		farthestAttempt, OutboxLease+time.Second, limit)
	if err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, `UPDATE uploads SET ring_at = now() WHERE ring_at > now() + interval '1 second'
		AND (ring_attempts = 0 OR ring_at > now() + $1::interval)`, farthestAttempt)
	if err != nil {
		return err
	}
	err = s.execByIndex(ctx, `WITH ahead AS (
			SELECT t.id FROM (SELECT task_id FROM task_lag WHERE since > now() + interval '1 second' ORDER BY since DESC LIMIT $1) g
				JOIN tasks t ON t.id = g.task_id FOR UPDATE OF t SKIP LOCKED
		) UPDATE tasks t SET updated_at = now() FROM ahead WHERE t.id = ahead.id`, limit) // a trigger notes it in task_lag
	if err != nil {
		return err
	}
	err = s.execByIndex(ctx, `WITH ahead AS (
			SELECT id FROM uploads WHERE status = 'processing' AND updated_at > now() + interval '1 second'
			ORDER BY updated_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED
		) UPDATE uploads u SET updated_at = now() FROM ahead WHERE u.id = ahead.id`, limit)
	if err != nil {
		return err
	}
	_, err = s.pool.Exec(ctx, `UPDATE count_checks SET at = now() WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM count_checks WHERE at > now() + interval '1 second' FOR UPDATE SKIP LOCKED))`)
	return err
}
