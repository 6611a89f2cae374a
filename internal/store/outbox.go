package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Topics of outbox rows.
const (
	// TopicEvent delivers one journal event to the task's run; the event that
	// created the task starts the run.
	TopicEvent = "task_event"
	// TopicSync nudges the run to look at the journal.
	TopicSync = "task_sync"
)

// outboxLease is how long a dispatcher has a row to itself: a row whose
// dispatcher died is delivered again after it.
const outboxLease = 30 * time.Second

// Delivery is one outbox row with the event that it carries.
type Delivery struct {
	ID                        int64
	Topic                     string
	TaskID, OrgID, PipelineID int64
	PipelineName              string
	// Terminal says that the task is over and every event is applied: a run
	// that no longer exists needs no new one.
	Terminal bool
	// Applied is the task's applied_seq.
	Applied  int64
	Attempts int
	// Event is empty for TopicSync.
	Event     pipeline.Event
	CreatedAt time.Time
}

// TakeOutbox leases up to n rows that are due, people's commands before bulk
// starts. Only the oldest row of each task is given out, so a task's events
// arrive in order however many dispatchers there are.
func (s *Store) TakeOutbox(ctx context.Context, n int) ([]Delivery, error) {
	rows, _ := s.pool.Query(ctx, `WITH due AS (
			SELECT o.id FROM outbox o
			WHERE o.next_attempt_at <= now()
				AND o.seq = (SELECT min(p.seq) FROM outbox p WHERE p.task_id = o.task_id)
			ORDER BY o.priority, o.next_attempt_at, o.id LIMIT $1 FOR UPDATE OF o SKIP LOCKED
		), taken AS (
			UPDATE outbox o SET next_attempt_at = now() + $2::interval, attempts = o.attempts + 1
			FROM due WHERE o.id = due.id
			RETURNING o.id, o.topic, o.task_id, o.seq, o.priority, o.attempts, o.created_at
		)
		SELECT o.id, o.topic, o.task_id, t.org_id, t.pipeline_id, p.name, t.status, t.seq = t.applied_seq, t.applied_seq,
			o.attempts, o.created_at, coalesce(e.seq, 0), coalesce(e.kind, ''), coalesce(e.node_key, ''), coalesce(e.iteration, 0),
			coalesce(e.actor, 0), coalesce(e.claim_id::text, ''), e.lease_ends, coalesce(e.outcome, ''), e.skipped, e.returned,
			coalesce(e.reason, '')
		FROM taken o JOIN tasks t ON t.id = o.task_id JOIN pipelines p ON p.id = t.pipeline_id
		LEFT JOIN task_events e ON e.task_id = o.task_id AND e.seq = o.seq AND o.topic = 'task_event'
		ORDER BY o.priority, o.id`, n, outboxLease)
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Delivery, error) {
		var d Delivery
		var lease *time.Time
		var status task.Status
		var settled bool
		err := row.Scan(append([]any{
			&d.ID, &d.Topic, &d.TaskID, &d.OrgID, &d.PipelineID, &d.PipelineName, &status, &settled, &d.Applied,
			&d.Attempts, &d.CreatedAt,
		}, eventFields(&d.Event, &lease)...)...)
		d.Event.LeaseEnds, d.Terminal = orZero(lease), status.Terminal() && settled
		return d, err
	})
	return out, translate(err)
}

// DoneOutbox deletes rows that Temporal has accepted.
func (s *Store) DoneOutbox(ctx context.Context, ids []int64) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM outbox WHERE id = ANY($1)`, ids)
	return translate(err)
}

// RetryOutbox lets a row wait before its next attempt and notes the cause.
func (s *Store) RetryOutbox(ctx context.Context, id int64, in time.Duration, cause string) error {
	_, err := s.pool.Exec(ctx, `UPDATE outbox SET next_attempt_at = now() + $2::interval, last_error = left($3, 500) WHERE id = $1`,
		id, in, cause)
	return translate(err)
}

// GiveBackOutbox makes rows due at once, as if they had not been taken.
func (s *Store) GiveBackOutbox(ctx context.Context, ids []int64) error {
	_, err := s.pool.Exec(ctx, `UPDATE outbox SET next_attempt_at = now(), attempts = greatest(attempts - 1, 0) WHERE id = ANY($1)`, ids)
	return translate(err)
}

// OutboxStats says how far the runs are behind the journal.
type OutboxStats struct {
	Rows    int64
	Oldest  time.Duration
	Lagging int64
}

// OutboxStats counts what waits for delivery and the tasks whose consequences
// are not written yet.
func (s *Store) OutboxStats(ctx context.Context) (OutboxStats, error) {
	var st OutboxStats
	err := s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox),
		(SELECT coalesce(now() - min(created_at), interval '0') FROM outbox),
		(SELECT count(*) FROM tasks WHERE applied_seq < seq)`).Scan(&st.Rows, &st.Oldest, &st.Lagging)
	return st, translate(err)
}

// Times after which the reconciler looks at a task.
const (
	lagBeforeRing      = 60 * time.Second
	deadlineBeforeRing = 5 * time.Minute
)

// Reconcile rings the runs of tasks that lag: events that nobody applied for a
// minute, leases and time limits that ran out five minutes ago. It returns how
// many it rang; each costs one outbox row.
func (s *Store) Reconcile(ctx context.Context, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, `INSERT INTO outbox (topic, task_id, seq, priority)
		SELECT 'task_sync', r.id, 0, 5 FROM (
			(SELECT t.id FROM tasks t WHERE t.applied_seq < t.seq AND t.updated_at < now() - $1::interval
				AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = t.id) ORDER BY t.updated_at LIMIT $3)
			UNION
			SELECT l.task_id FROM pipelines p CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind)
				CROSS JOIN LATERAL (SELECT n.task_id FROM task_nodes n WHERE n.pipeline_id = p.id AND n.kind = k.kind
					AND n.status = 'claimed' AND n.lease_expires_at < now() - $2::interval LIMIT $3) l
			UNION
			(SELECT n.task_id FROM task_nodes n WHERE n.sla_at < now() - $2::interval AND n.sla_at IS NOT NULL
				AND n.status IN ('available', 'claimed') LIMIT $3)
		) r LIMIT $3 ON CONFLICT DO NOTHING`, lagBeforeRing, deadlineBeforeRing, limit)
	return int(tag.RowsAffected()), translate(err)
}
