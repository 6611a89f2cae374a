package store

import (
	"context"
	"fmt"
	"time"
)

// Beat notes that a worker is alive, which task queues it serves, and whether
// it reaches Temporal. Workers that have been silent for a day are forgotten.
func (s *Store) Beat(ctx context.Context, workerID string, queues []string, temporalOK bool) error {
	_, err := s.pool.Exec(ctx, `
		WITH forgotten AS (DELETE FROM worker_heartbeats WHERE at < now() - interval '1 day' AND worker_id <> $1)
		INSERT INTO worker_heartbeats (worker_id, queues, temporal_ok) VALUES ($1, coalesce($2, '{}'::text[]), $3)
		ON CONFLICT (worker_id) DO UPDATE
			SET queues = excluded.queues, temporal_ok = excluded.temporal_ok, at = now()`,
		workerID, queues, temporalOK)
	if err != nil {
		return translate(fmt.Errorf("write heartbeat: %w", err))
	}
	return nil
}

// DropBeat notes that a worker stopped on purpose.
func (s *Store) DropBeat(ctx context.Context, workerID string) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM worker_heartbeats WHERE worker_id = $1`, workerID); err != nil {
		return translate(fmt.Errorf("delete heartbeat: %w", err))
	}
	return nil
}

// WorkersAlive counts the workers of a task queue that were heard within the
// time and reach Temporal.
func (s *Store) WorkersAlive(ctx context.Context, queue string, within time.Duration) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT count(*) FROM worker_heartbeats
		WHERE $1 = ANY (queues) AND temporal_ok AND at > now() - make_interval(secs => $2)`,
		queue, within.Seconds()).Scan(&n)
	if err != nil {
		return 0, translate(fmt.Errorf("count workers: %w", err))
	}
	return n, nil
}
