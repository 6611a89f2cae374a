package store

import (
	"context"
	"time"
)

// Times after which the reconciler looks at a task.
const (
	lagBeforeRing      = 60 * time.Second
	deadlineBeforeRing = 5 * time.Minute
)

// Reconcile heals what was lost on the way and tidies up: it rings the runs of
// tasks and uploads that lag, frees nodes that were kept for somebody who did
// not come, drops stored answers past their time, and adds kept counts up. It
// returns how many runs of tasks it rang; each costs one outbox row.
func (s *Store) Reconcile(ctx context.Context, limit int) (int, error) {
	if err := s.freeReservations(ctx, limit); err != nil {
		return 0, translate(err)
	}
	if err := s.dropOldAnswers(ctx); err != nil {
		return 0, translate(err)
	}
	if _, err := s.RingStuckUploads(ctx); err != nil {
		return 0, err
	}
	n, err := s.ringLagging(ctx, limit)
	if err != nil {
		return n, translate(err)
	}
	if err := s.checkCounts(ctx); err != nil {
		return n, err
	}
	return n, translate(s.foldCounts(ctx))
}

// ringLagging rings tasks with events that nobody applied for a minute, and
// with leases and time limits that ran out five minutes ago.
func (s *Store) ringLagging(ctx context.Context, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, `INSERT INTO outbox (topic, task_id, seq, priority)
		SELECT 'task_sync', r.id, 0, 5 FROM (
			(SELECT t.id FROM tasks t WHERE t.applied_seq < t.seq AND t.updated_at < now() - $1::interval
				AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = t.id) ORDER BY t.updated_at LIMIT $3)
			UNION
			SELECT l.task_id FROM pipelines p CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind)
				CROSS JOIN LATERAL (SELECT n.task_id FROM task_nodes n WHERE n.pipeline_id = p.id AND n.kind = k.kind
					AND n.status = 'claimed' AND n.lease_expires_at < now() - $2::interval
					AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = n.task_id)
					ORDER BY n.lease_expires_at LIMIT $3) l
			UNION
			(SELECT n.task_id FROM task_nodes n WHERE n.sla_at < now() - $2::interval AND n.sla_at IS NOT NULL
				AND n.status IN ('available', 'claimed')
				AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = n.task_id) ORDER BY n.sla_at LIMIT $3)
		) r LIMIT $3 ON CONFLICT DO NOTHING`, lagBeforeRing, deadlineBeforeRing, limit)
	return int(tag.RowsAffected()), err
}

// freeReservations puts returned nodes that nobody came for into the queue.
// The journal does not know of it: a reservation is the rows' own.
func (s *Store) freeReservations(ctx context.Context, limit int) error {
	_, err := s.pool.Exec(ctx, `UPDATE task_nodes n SET reserved_for = NULL, reserved_until = NULL
		FROM (SELECT task_id, key FROM task_nodes WHERE status = 'available' AND reserved_for IS NOT NULL
			AND reserved_until <= now() ORDER BY reserved_until LIMIT $1 FOR UPDATE SKIP LOCKED) k
		WHERE n.task_id = k.task_id AND n.key = k.key`, limit)
	return err
}
