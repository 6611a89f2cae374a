package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
)

// Claim is the lease that a person holds on a task node.
type Claim struct {
	ID             string        `db:"claim_id"`
	OrgID          int64         `db:"org_id"`
	PipelineID     int64         `db:"pipeline_id"`
	VersionID      int64         `db:"version_id"`
	TaskID         int64         `db:"task_id"`
	UserID         int64         `db:"claimed_by"`
	Node           string        `db:"key"`
	Kind           pipeline.Kind `db:"kind"`
	Iteration      int           `db:"iteration"`
	LeaseExpiresAt time.Time     `db:"lease_expires_at"`
}

const claimColumns = `n.claim_id::text AS claim_id, n.org_id, n.pipeline_id, t.version_id, n.task_id, n.claimed_by, n.key, n.kind, n.iteration, n.lease_expires_at`

// takeSQL turns one chosen node (CTE c: task_id, key) into a claim: node,
// task, journal and outbox in one statement, so that a claim is one round
// trip. $3 is the user, $5 the random part of the claim id.
var takeSQL = `
, tk AS (
    UPDATE tasks t SET seq = t.seq + 1, touched = true, updated_at = now(),
        status = CASE WHEN t.status = 'pending' THEN 'in_progress' ELSE t.status END
    FROM c WHERE t.id = c.task_id
    RETURNING t.id, t.seq, t.version_id
), n AS (
    UPDATE task_nodes n SET status = 'claimed', claim_id = ` + claimSQL("n.task_id", "$5::text") + `, claimed_by = $3,
        lease_expires_at = now() + n.lease_seconds * interval '1 second',
        reserved_for = NULL, reserved_until = NULL, last_seq = tk.seq
    FROM c JOIN tk ON tk.id = c.task_id
    WHERE n.task_id = c.task_id AND n.key = c.key
    RETURNING n.*, tk.seq AS event_seq, tk.version_id
), ev AS (
    INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends)
    SELECT task_id, event_seq, 'claim', key, iteration, claimed_by, claim_id, lease_expires_at FROM n
), ob AS (
    INSERT INTO outbox (topic, task_id, seq, priority) SELECT 'task_event', task_id, event_seq, ` + strconv.Itoa(int(UrgencyClaimed)) + ` FROM n
)
SELECT claim_id::text AS claim_id, org_id, pipeline_id, version_id, task_id, claimed_by, key, kind, iteration, lease_expires_at FROM n`

// notTheirsSQL keeps people from four-eyes reviews of their own work. It is an
// aggregate so that the planner looks at the one task only: an EXISTS it may
// turn into a hash of the whole table.
const notTheirsSQL = notOfSQL + `$3) = 0)`

// notOfSQL is notTheirsSQL up to the user.
const notOfSQL = `(NOT n.four_eyes OR (SELECT count(*) FROM task_nodes o
           WHERE o.task_id = n.task_id AND o.kind = 'subtask' AND o.actor = `

// allowedSQL has a row when work may be claimed in the pipeline and the person may do
// such work there now (standing.go). A statement asks for it once.
var allowedSQL = `allowed AS (SELECT FROM pipelines p WHERE p.id = $1 AND p.org_id = $2 AND p.status = 'ACTIVE'
    AND ` + mayWorkSQL("$2", "$3", "$4") + `)`

// lapsedSQL is the condition that the lease on node n of task t ran out and that the node is
// somebody else's to take. Who works on a subtask keeps it while a step before it is done
// again, or while the task goes another way; nobody is to begin with it anew then: an edge
// into it is taken and all are decided, as walk.taken and walk.waits of internal/pipeline
// say. What waits to be applied is not seen. Reviews are taken from their holders as it is.
const lapsedSQL = `n.status = 'claimed' AND n.lease_expires_at <= now() AND (n.kind = 'review' OR (
        SELECT bool_and(b.key IS NULL OR b.status IN ('submitted', 'finished', 'na')) AND bool_or(CASE
            WHEN b.key IS NULL THEN n.key <> ALL(coalesce(t.start_skipped, '{}'))
            WHEN b.status = 'na' THEN b.passed ELSE n.key <> ALL(coalesce(b.skipped, '{}')) END)
        FROM pipeline_versions v CROSS JOIN jsonb_array_elements(v.definition->'edges') e
            LEFT JOIN task_nodes b ON b.task_id = n.task_id AND b.key = e->>'from'
        WHERE v.id = t.version_id AND e->>'to' = n.key))`

// lapsedOfSQL is lapsedSQL where no task is at hand.
const lapsedOfSQL = `(SELECT ` + lapsedSQL + ` FROM tasks t WHERE t.id = n.task_id)`

// candidatesSQL finds the nodes that the user may have, in an order; %s is the state
// that they must be in.
const candidatesSQL = `SELECT n.task_id, n.key FROM task_nodes n JOIN tasks t ON t.id = n.task_id
    WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $4 AND NOT t.held AND %s
      AND ` + notTheirsSQL + `
      AND EXISTS (SELECT FROM allowed)
    ORDER BY %s`

// candidateSQL picks the first of them. Task and node are locked together and what
// another claimer holds is passed over, so nobody waits and nobody gets the same node.
const candidateSQL = candidatesSQL + ` LIMIT 1 FOR UPDATE OF n, t SKIP LOCKED`

// The order of service: what was returned to this person, the queue, what was
// kept for somebody who did not come, and leases that ran out. The last one
// works while Temporal is down. What the person skipped is left out of all but
// the first. The queue is served from $6 and $7 on.
var (
	claimFreshSQL = `WITH ` + allowedSQL + `, mine AS (` + fmt.Sprintf(candidateSQL, `n.status = 'available' AND n.reserved_for = $3`, `n.priority, n.task_id`) + `
), free AS (` + fmt.Sprintf(candidateSQL, `n.status = 'available' AND n.reserved_for IS NULL AND (n.priority, n.task_id) >= ($6::smallint, $7::bigint)
      AND `+notSkippedSQL+` AND NOT EXISTS (SELECT 1 FROM mine)`, `n.priority, n.task_id`) + `
), c AS (SELECT * FROM mine UNION ALL SELECT * FROM free)` + takeSQL

	claimLapsedSQL = `WITH ` + allowedSQL + `, kept AS (` + fmt.Sprintf(candidateSQL, `n.status = 'available' AND n.reserved_for IS NOT NULL AND n.reserved_until <= now() AND `+notSkippedSQL, `n.reserved_until`) + `
), late AS (` + fmt.Sprintf(candidateSQL, lapsedSQL+` AND `+notSkippedSQL+` AND NOT EXISTS (SELECT 1 FROM kept)`, `n.lease_expires_at`) + `
), c AS (SELECT * FROM kept UNION ALL SELECT * FROM late)` + takeSQL
)

// ClaimNext gives the person the next node of a kind in a pipeline, or nil
// when none is there for them. What is only locked is waited for a moment
// (claims_locked.go). Conflict when the pipeline is not ACTIVE, Forbidden or
// NotFound when they may not work there any more.
func (s *Store) ClaimNext(ctx context.Context, m Member, kind pipeline.Kind) (*Claim, error) {
	head := s.headOfQueue(ctx, m, kind)
	c, err := s.claimFresh(ctx, m, kind, head)
	if c == nil && err == nil && head != queueFront {
		c, err = s.claimFresh(ctx, m, kind, queueFront)
	}
	if c == nil && err == nil {
		c, err = s.take(ctx, claimLapsedSQL, m.PipelineID, m.OrgID, m.UserID, kind, claimTail())
	}
	if c != nil || err != nil {
		return c, err
	}
	passed, err := s.passedOver(ctx, m, kind)
	if err != nil {
		return nil, err
	}
	return s.takeLocked(ctx, m, kind, passed)
}

func (s *Store) claimFresh(ctx context.Context, m Member, kind pipeline.Kind, from queuePosition) (*Claim, error) {
	return s.take(ctx, claimFreshSQL, m.PipelineID, m.OrgID, m.UserID, kind, claimTail(), from.Priority, from.TaskID)
}

func (s *Store) take(ctx context.Context, sql string, args ...any) (*Claim, error) {
	c, err := takeIn(ctx, s.pool, sql, args...)
	return c, translate(err)
}

// takeIn runs a claim's statement for user $3.
func takeIn(ctx context.Context, q querier, sql string, args ...any) (*Claim, error) {
	b := &pgx.Batch{}
	b.Queue(claimBeginSQL, args[2])
	return takeBehind(ctx, q, b, sql, args...)
}

// takeBehind runs a claim's statement behind what the batch holds.
func takeBehind(ctx context.Context, q querier, b *pgx.Batch, sql string, args ...any) (*Claim, error) {
	if planted.Enabled && planted.Is(planted.ClaimUnlocked) {
		sql = unlocked(sql)
	}
	var c *Claim
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		c, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Claim])
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // an empty queue is no error
		}
		return err
	})
	return c, q.SendBatch(ctx, b).Close()
}

// claimsOpen explains an empty answer: nil when the pipeline is ACTIVE, the person may
// work there, and there is just nothing to do.
func (s *Store) claimsOpen(ctx context.Context, m Member, kind pipeline.Kind) error {
	return s.claimsOpenAnd(ctx, m, kind, &pgx.Batch{})
}

// claimsOpenAnd asks that behind what the batch holds.
func (s *Store) claimsOpenAnd(ctx context.Context, m Member, kind pipeline.Kind, b *pgx.Batch) error {
	var status string
	var may bool
	b.Queue(`SELECT p.status, `+mayWorkSQL("$2", "$3", "$4")+` FROM pipelines p WHERE p.id = $1 AND p.org_id = $2`,
		m.PipelineID, m.OrgID, m.UserID, kind).QueryRow(func(row pgx.Row) error { return row.Scan(&status, &may) })
	err := s.pool.SendBatch(ctx, b).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return pipelineNotFound(m.PipelineID)
	case err != nil:
		return translate(fmt.Errorf("look at the pipeline: %w", err))
	case !may:
		return s.mayNotWork(ctx, m, kind)
	case !pipeline.AllowsClaims(status):
		return fault.New(fault.Conflict, "the pipeline is %s; work can be claimed only while it is ACTIVE", status)
	}
	return nil
}

// mayNotWork tells who was let in and may not work any more what they would hear if
// they came now.
func (s *Store) mayNotWork(ctx context.Context, m Member, kind pipeline.Kind) error {
	if _, err := s.MemberOfPipeline(ctx, m.UserID, m.PipelineID); err != nil {
		return err
	}
	return fault.New(fault.Forbidden, "your role in this project does not let you work on a %s any more", kind)
}
