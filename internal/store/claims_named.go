package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Whoever names a node wants that one. A task is locked for some milliseconds by each
// step of its run and by each change of an admin, and what is locked is not taken: a
// claim by name waits for it. It locks the task first, as everybody does, and looks at
// the node in the next statement of the same trip: that sees what was committed while it
// waited, such as who did the work that a four-eyes review checks.

// taskNode names a node of a task.
type taskNode struct {
	TaskID int64
	Node   string
}

// namedSQL is the condition that node n of task t is in a state in which user $3 may be given it.
const namedSQL = `n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = $4
      AND (n.status = 'available' AND (n.reserved_for IS NULL OR n.reserved_for = $3 OR n.reserved_until <= now())
           OR ` + lapsedSQL + `)`

// lockNamedSQL locks task $5, unless its node $6 is one that nobody could claim: for
// that there is nothing to wait.
const lockNamedSQL = `SELECT FROM tasks t WHERE t.id = $5 AND t.pipeline_id = $1 AND t.org_id = $2
    AND EXISTS (SELECT FROM task_nodes n WHERE n.task_id = t.id AND n.key = $6 AND ` + namedSQL + `) FOR UPDATE`

// The claim of node $7 of task $6: claimNamedSQL waits where it is locked (a lease that
// is extended locks the node alone), claimNamedFreeSQL passes over it.
var (
	claimNamedSQL = `WITH ` + allowedSQL + `, c AS (SELECT n.task_id, n.key FROM task_nodes n JOIN tasks t ON t.id = n.task_id
    WHERE n.task_id = $6 AND n.key = $7 AND NOT t.held AND ` + namedSQL + `
      AND ` + notTheirsSQL + `
      AND EXISTS (SELECT FROM allowed)
    FOR UPDATE OF t, n)` + takeSQL

	claimNamedFreeSQL = strings.Replace(claimNamedSQL, "FOR UPDATE OF t, n", "FOR UPDATE OF n, t SKIP LOCKED", 1)
)

// namedWait is how long a claim by name waits for each lock: less than callers do for an
// answer, since all who wait take a place from others.
const namedWait = 2 * time.Second

// ClaimTask claims one named node. Conflict says why it cannot be had, Unavailable that
// it was locked for longer than one waits.
func (s *Store) ClaimTask(ctx context.Context, m Member, kind pipeline.Kind, taskID int64, node string) (*Claim, error) {
	c, err := takeNamed(ctx, s.pool, m, kind, taskNode{taskID, node}, s.waits.named)
	if wantsRetry(err) { // it and a change of roles waited for each other
		c, err = takeNamed(ctx, s.pool, m, kind, taskNode{taskID, node}, s.waits.named)
	}
	if lockedTooLong(err) {
		return nil, fault.New(fault.Unavailable, "node %q of task %d, or your role, is being changed at this moment; try again", cut(node), taskID).
			After(time.Second).Because(err)
	}
	if c != nil || err != nil {
		return c, translate(err)
	}
	if err := s.claimsOpen(ctx, m, kind); err != nil {
		return nil, err
	}
	var status string
	err = s.pool.QueryRow(ctx, `SELECT status FROM task_nodes WHERE task_id = $1 AND key = $2 AND pipeline_id = $3
		AND org_id = $4 AND kind = $5`, taskID, node, m.PipelineID, m.OrgID, kind).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "task %d has no %s node %q", taskID, kind, node)
	}
	if err != nil {
		return nil, translate(err)
	}
	return nil, fault.New(fault.Conflict,
		"node %q of task %d is %s and not free for you now; claim the next one instead", node, taskID, status)
}

// takeNamed claims a node, waiting for each lock on it as long as wait says, or as the
// session does.
func takeNamed(ctx context.Context, q querier, m Member, kind pipeline.Kind, n taskNode, wait time.Duration) (*Claim, error) {
	b := &pgx.Batch{}
	if wait > 0 {
		b.Queue(`SELECT set_config('lock_timeout', $1, true)`, milliseconds(wait))
	}
	b.Queue(claimBeginSQL, m.UserID)
	b.Queue(lockNamedSQL, m.PipelineID, m.OrgID, m.UserID, kind, n.TaskID, n.Node)
	return takeBehind(ctx, q, b, claimNamedSQL, m.PipelineID, m.OrgID, m.UserID, kind, claimTail(), n.TaskID, n.Node)
}

// lockedTooLong reports whether a lock was waited for in vain.
func lockedTooLong(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == codeLockTimeout
}
