package store

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
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
// dispatcher died, or never heard that it has the row, is delivered again after
// it. A dead worker's work goes on within 15 s, of which the delivery and its
// consequences need some.
const outboxLease = 12 * time.Second

// Urgency is the priority of an outbox row: what waits longer has a higher one.
type Urgency int16

const (
	// UrgencyHanded rows are what people handed in, and whatever else has consequences
	// that somebody waits for: the next node.
	UrgencyHanded Urgency = 0
	// UrgencyClaimed rows are claims, and rings for tasks that lag. The run must hear of
	// them, but who has claimed a node works on it now.
	UrgencyClaimed Urgency = 5
	// UrgencyCreated rows are the starts of new tasks, in bulk.
	UrgencyCreated Urgency = 9
)

// urgencyOf is that of an event that is told to a run which is there.
func urgencyOf(kind pipeline.EventKind) Urgency {
	if kind == pipeline.EventClaim {
		return UrgencyClaimed
	}
	return UrgencyHanded
}

// liftSQL makes all rows of a task (%[2]s) at least as urgent as one that comes
// after them (%[1]d): its run must hear of them before. A row that a dispatcher
// has in its hands is on its way already.
const liftSQL = `UPDATE outbox SET priority = %[1]d WHERE id = ANY (ARRAY(SELECT id FROM outbox
    WHERE task_id IN (%[2]s) AND priority > %[1]d FOR UPDATE SKIP LOCKED))`

// Delivery is one outbox row with the event that it carries.
type Delivery struct {
	ID                        int64
	Topic                     string
	TaskID, OrgID, PipelineID int64
	PipelineName              string
	Attempts                  int
	// Bulk marks the start of a new task, which waits for what people do.
	Bulk bool
	// Event is empty for TopicSync.
	Event     pipeline.Event
	CreatedAt time.Time
}

const takeOutboxSQL = `WITH due AS (
			SELECT o.id FROM outbox o
			WHERE o.next_attempt_at <= now() AND o.priority BETWEEN $5 AND $3 AND (o.leased_until IS NULL OR o.leased_until <= now())
				AND o.seq = (SELECT min(p.seq) FROM outbox p WHERE p.task_id = o.task_id)
			ORDER BY o.priority, o.next_attempt_at, o.id LIMIT $1 FOR UPDATE OF o SKIP LOCKED
		), taken AS (
			UPDATE outbox o SET leased_until = now() + $2::interval, attempts = o.attempts + 1
			FROM due WHERE o.id = due.id
			RETURNING o.id, o.topic, o.task_id, o.seq, o.priority, o.attempts, o.created_at
		)
		SELECT o.id, o.topic, o.task_id, t.org_id, t.pipeline_id, p.name,
			o.attempts, o.priority >= $4, o.created_at, coalesce(e.seq, 0), coalesce(e.kind, ''), coalesce(e.node_key, ''), coalesce(e.iteration, 0),
			coalesce(e.actor, 0), coalesce(e.claim_id::text, ''), e.lease_ends, coalesce(e.outcome, ''), e.skipped, e.returned,
			coalesce(e.reason, '')
		FROM taken o JOIN tasks t ON t.id = o.task_id JOIN pipelines p ON p.id = t.pipeline_id
		LEFT JOIN task_events e ON e.task_id = o.task_id AND e.seq = o.seq AND o.topic = 'task_event'
		ORDER BY o.priority, o.id`

func scanDelivery(row pgx.CollectableRow) (Delivery, error) {
	var d Delivery
	var lease *time.Time
	err := row.Scan(append([]any{
		&d.ID, &d.Topic, &d.TaskID, &d.OrgID, &d.PipelineID, &d.PipelineName,
		&d.Attempts, &d.Bulk, &d.CreatedAt,
	}, eventFields(&d.Event, &lease)...)...)
	d.Event.LeaseEnds = orZero(lease)
	return d, err
}

// TakeOutbox leases up to n rows that are due and at least as urgent as least,
// the most urgent first. Only the oldest row of each task is given out, so a
// task's events arrive in order however many dispatchers there are. A lease is in
// no index: the rows that dispatchers have in their hands are few, and passed
// over.
func (s *Store) TakeOutbox(ctx context.Context, n int, least Urgency) ([]Delivery, error) {
	return s.takeOutbox(ctx, n, UrgencyHanded, least)
}

// TakeStarts is TakeOutbox of bulk starts alone, for while people work there is
// always something more urgent, and of whatever waits for longer still, as rows of
// a newer version may.
func (s *Store) TakeStarts(ctx context.Context, n int) ([]Delivery, error) {
	return s.takeOutbox(ctx, n, UrgencyCreated, math.MaxInt16)
}

func (s *Store) takeOutbox(ctx context.Context, n int, most, least Urgency) ([]Delivery, error) {
	b := &pgx.Batch{}
	genericPlan(b)
	var out []Delivery
	b.Queue(takeOutboxSQL, n, outboxLease, least, UrgencyCreated, most).Query(func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, scanDelivery)
		return err
	})
	err := s.pool.SendBatch(ctx, b).Close()
	if planted.Enabled && planted.Is(planted.OutboxEarly) && err == nil {
		err = s.takenEarly(ctx, out)
	}
	return out, translate(err)
}

// DoneOutbox deletes rows that Temporal has accepted.
func (s *Store) DoneOutbox(ctx context.Context, ids []int64) error {
	return s.execByIndex(ctx, `DELETE FROM outbox WHERE id = ANY($1)`, ids)
}

// RetryOutbox lets a row wait before its next attempt and notes the cause.
func (s *Store) RetryOutbox(ctx context.Context, id int64, in time.Duration, cause string) error {
	return s.execByIndex(ctx, `UPDATE outbox SET next_attempt_at = now() + $2::interval, leased_until = NULL, last_error = left($3, 500) WHERE id = $1`,
		id, in, strings.ReplaceAll(strings.ToValidUTF8(cause, "?"), "\x00", "?"))
}

// GiveBackOutbox makes rows due at once, as if they had not been taken.
func (s *Store) GiveBackOutbox(ctx context.Context, ids []int64) error {
	return s.execByIndex(ctx, `UPDATE outbox SET leased_until = NULL, attempts = greatest(attempts - 1, 0) WHERE id = ANY($1)`, ids)
}

// behindMost is where StepsBehind stops looking: what lags for longer does so for
// a reason of its own, and is the reconciler's.
const behindMost = 10 * time.Second

// StepsBehind is how long the consequences of what people did have been waited
// for: the longest of those waits that last now, 0 when there are none.
func (s *Store) StepsBehind(ctx context.Context) (time.Duration, error) {
	var behind time.Duration
	err := s.pool.QueryRow(ctx, `SELECT coalesce(now() - min(since), interval '0') FROM task_lag WHERE since > now() - $1::interval`,
		behindMost).Scan(&behind)
	return max(0, behind), translate(err)
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
		(SELECT count(*) FROM task_lag)`).Scan(&st.Rows, &st.Oldest, &st.Lagging)
	return st, translate(err)
}
