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

// OutboxLease is how long a dispatcher has a row to itself: a row whose
// dispatcher died, or never heard that it has the row, is delivered again after
// it, which changes nothing. A dead worker's work goes on within 15 s: this, and five
// that Temporal may wait for the dead, when the run, too, was in its memory.
const OutboxLease = 8 * time.Second

// Urgency is the priority of an outbox row: what waits longer has a higher one.
type Urgency int16

const (
	// UrgencyHanded rows are what people handed in, and whatever else has consequences
	// that somebody waits for: the next node.
	UrgencyHanded Urgency = 0
	// UrgencyRung rows are rings for tasks that lag. They are taken with what was handed
	// in, after it.
	UrgencyRung Urgency = 4
	// UrgencyClaimed rows are claims. The run must hear of them, but who has claimed a
	// node works on it now.
	UrgencyClaimed Urgency = 5
	// UrgencyCreated rows are the starts of new tasks.
	UrgencyCreated Urgency = 9
)

// urgencyOf is that of an event that is told to a run which is there.
func urgencyOf(kind pipeline.EventKind) Urgency {
	if kind == pipeline.EventClaim {
		return UrgencyClaimed
	}
	return UrgencyHanded
}

// last is the highest priority that goes with the urgency: rows of a newer version
// may have one in between, or one that waits for longer still.
func (u Urgency) last() Urgency {
	switch {
	case u < UrgencyClaimed:
		return UrgencyClaimed - 1
	case u < UrgencyCreated:
		return UrgencyCreated - 1
	}
	return math.MaxInt16
}

// Delivery is one outbox row with the event that it carries.
type Delivery struct {
	ID                        int64
	Topic                     string
	TaskID, OrgID, PipelineID int64
	PipelineName              string
	Attempts                  int
	Urgency                   Urgency
	// Event is empty for TopicSync.
	Event pipeline.Event
	// Waited is how long the row had been there when it was taken, by the database's
	// clock: that of whoever took it may tell another time.
	Waited time.Duration
}

// coveredSQL is for rows o that need not be told: a later one of their task is at
// least as urgent, and what a run hears of it makes it read all before it in the
// journal. A nudge, which has no number, is told by itself. It is an aggregate with
// a filter, so that the planner looks at the rows of the one task only. That o has a
// number is asked in there: outside, an index by number would do for finding o.
const coveredSQL = `(SELECT count(*) FILTER (WHERE p.priority <= o.priority) FROM outbox p WHERE o.seq > 0 AND p.task_id = o.task_id AND p.seq > o.seq) > 0`

// toldSomebodySQL is whether the task of a row o of the outbox is there. It is asked after
// what is in the outbox itself, and by a value: of an EXISTS the planner would make a join.
const toldSomebodySQL = `(SELECT true FROM tasks t WHERE t.id = o.task_id)`

// takeOutboxSQL passes over rows whose task is gone: they can be told to nobody, and stay
// where they are until taskloom repair outbox.
const takeOutboxSQL = `WITH due AS (
			SELECT o.id FROM outbox o
			WHERE o.next_attempt_at <= now() AND (o.priority, o.next_attempt_at) >= ($3::smallint, $5::timestamptz) AND o.priority <= $4
				AND (o.leased_until IS NULL OR o.leased_until <= now())
				AND CASE WHEN ` + coveredSQL + ` THEN false ELSE ` + toldSomebodySQL + ` END
			ORDER BY o.priority, o.next_attempt_at LIMIT $1 FOR UPDATE OF o SKIP LOCKED
		), taken AS (
			UPDATE outbox o SET leased_until = now() + $2::interval, attempts = o.attempts + 1
			WHERE o.id = ANY (ARRAY(SELECT id FROM due))
			RETURNING o.id, o.topic, o.task_id, o.seq, o.priority, o.attempts, o.created_at
		)
		SELECT o.id, o.topic, o.task_id, t.org_id, t.pipeline_id, p.name,
			o.attempts, $3::smallint, now() - o.created_at, coalesce(e.seq, 0), coalesce(e.kind, ''), coalesce(e.node_key, ''), coalesce(e.iteration, 0),
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
		&d.Attempts, &d.Urgency, &d.Waited,
	}, eventFields(&d.Event, &lease)...)...)
	d.Event.LeaseEnds = orZero(lease)
	return d, err
}

// dropCoveredSQL deletes those of the rows that would be told next which need not
// be. After an outage these are the claims of all that was handed in meanwhile, and
// each look for one that is to be told would pass over thousands.
const dropCoveredSQL = `DELETE FROM outbox WHERE id = ANY (ARRAY(
		SELECT o.id FROM outbox o WHERE o.id = ANY (ARRAY(
				SELECT id FROM outbox WHERE next_attempt_at <= now() AND (priority, next_attempt_at) >= ($1::smallint, $4::timestamptz) AND priority <= $2
				ORDER BY priority, next_attempt_at LIMIT $3))
			AND ` + coveredSQL + ` FOR UPDATE OF o SKIP LOCKED))`

// dropCovered is how many rows are looked at for it at a time.
const dropCovered = 256

// TakeOutbox leases up to n rows of an urgency that are due. Of each task it is the
// latest, which stands for those before it, whoever has them in their hands: a run
// takes events in any order and applies them in the journal's. A lease is in no
// index: the rows that dispatchers have in their hands are few, and passed over.
func (s *Store) TakeOutbox(ctx context.Context, n int, u Urgency) ([]Delivery, error) {
	from := s.headOfOutbox(ctx, u)
	b := &pgx.Batch{}
	genericPlan(b)
	if u == UrgencyClaimed {
		b.Queue(dropCoveredSQL, u, u.last(), dropCovered, from)
	}
	var out []Delivery
	b.Queue(takeOutboxSQL, n, OutboxLease, u, u.last(), from).Query(func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, scanDelivery)
		return err
	})
	err := s.pool.SendBatch(ctx, b).Close()
	if planted.Enabled && planted.Is(planted.OutboxEarly) && err == nil {
		err = s.DoneOutbox(ctx, out)
	}
	return out, translate(err)
}

// DoneOutbox deletes rows that Temporal has accepted, and those that they stand
// for. What somebody else has locked is passed over: they delete it, or deliver it
// once more.
func (s *Store) DoneOutbox(ctx context.Context, rows []Delivery) error {
	ids, tasks, seqs := make([]int64, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
	for i, d := range rows {
		ids[i], tasks[i], seqs[i] = d.ID, d.TaskID, d.Event.Seq
	}
	return s.execByIndex(ctx, `DELETE FROM outbox WHERE id = ANY (ARRAY(
			SELECT o.id FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS done(id, task_id, seq) CROSS JOIN LATERAL (
				SELECT id FROM outbox WHERE task_id = done.task_id AND (id = done.id OR seq BETWEEN 1 AND done.seq)
				FOR UPDATE SKIP LOCKED) o))`,
		ids, tasks, seqs)
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

// StepsBehind is how long the consequences of what people handed in have been
// waited for: the longest of those waits that last now, 0 when there are none.
// Nobody waits for what follows from a claim.
func (s *Store) StepsBehind(ctx context.Context) (time.Duration, error) {
	var behind time.Duration
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(`SELECT coalesce(now() - min(g.since), interval '0') FROM task_lag g WHERE g.since > now() - $1::interval
			AND (SELECT count(*) FILTER (WHERE e.kind <> $2) FROM tasks t JOIN task_events e ON e.task_id = t.id AND e.seq > t.applied_seq
				WHERE t.id = g.task_id) > 0`, behindMost, pipeline.EventClaim).
		QueryRow(func(row pgx.Row) error { return row.Scan(&behind) })
	err := s.pool.SendBatch(ctx, b).Close()
	return max(0, behind), translate(err)
}
