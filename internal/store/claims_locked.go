package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// The queue passes over what is locked: mostly another claimer has it, and nobody is to
// wait. But a step of a task's run locks it, too, for some milliseconds, and where nothing
// else is free a person would hear that there is nothing. So who finds nothing looks what
// was passed over, in the trip that asks why, and waits for one of these for a moment.
//
// Not all wait for the same. Each takes them in another order, and of one process one
// waits for a node: if it can be had, that one gets it. Those who wait take no more than
// a part of the connections, should something lock a queue for long.

const (
	// lockedWait is how long a person waits for a lock on a node. Less than a second, for
	// which Postgres looks for deadlocks.
	lockedWait = 500 * time.Millisecond
	// passedOverMost is how many of each sort are looked at.
	passedOverMost = 16
	// lockedTries bounds how many a person tries, of which others may get each.
	lockedTries = 4
	// waitingPart of the connections may be waiting so at a time, one in so many: each
	// also takes a place of its process, of which the smallest stack has four for people.
	waitingPart = 8
)

// passedOverSQL finds what user $3 could be given, locked or not, in any order: each
// part is one of the order of service.
var passedOverSQL = `WITH ` + allowedSQL + ` SELECT task_id, key FROM (
(` + passedOver(`n.status = 'available' AND n.reserved_for = $3`, `n.priority, n.task_id`) + `) UNION ALL
(` + passedOver(`n.status = 'available' AND n.reserved_for IS NULL AND `+notSkippedSQL, `n.priority, n.task_id`) + `) UNION ALL
(` + passedOver(`n.status = 'available' AND n.reserved_for <> $3 AND n.reserved_until <= now() AND `+notSkippedSQL,
	`n.reserved_until`) + `) UNION ALL
(` + passedOver(lapsedSQL+` AND `+notSkippedSQL, `n.lease_expires_at`) + `)) n ORDER BY random()`

func passedOver(state, order string) string {
	return fmt.Sprintf(candidatesSQL+` LIMIT %d`, state, order, passedOverMost)
}

// passedOver returns nodes that the person was not given although they could be. Errors
// as claimsOpen.
func (s *Store) passedOver(ctx context.Context, m Member, kind pipeline.Kind) (found []taskNode, err error) {
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(passedOverSQL, m.PipelineID, m.OrgID, m.UserID, kind).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[taskNode])
		return err
	})
	return found, s.claimsOpenAnd(ctx, m, kind, b)
}

// takeLocked claims the first of the nodes that can be had, waiting for one that is
// locked. Nil when none can, or when they stay locked.
func (s *Store) takeLocked(ctx context.Context, m Member, kind pipeline.Kind, nodes []taskNode) (*Claim, error) {
	tries := 0
	for _, n := range nodes {
		if tries == lockedTries {
			break
		}
		if !s.waits.begin(n.TaskID) {
			continue
		}
		tries++
		c, err := s.takeWaiting(ctx, m, kind, n)
		if lockedTooLong(err) {
			return nil, nil //nolint:nilnil // the person has waited enough
		}
		if c != nil || err != nil {
			return c, translate(err)
		}
	}
	return nil, nil //nolint:nilnil // an empty queue is no error
}

// takeWaiting claims a node that begin let the caller wait for.
func (s *Store) takeWaiting(ctx context.Context, m Member, kind pipeline.Kind, n taskNode) (*Claim, error) {
	defer s.waits.end(n.TaskID)
	return takeNamed(ctx, s.pool, m, kind, n, s.waits.wait)
}

// lockWaits knows for which tasks somebody of this process waits.
type lockWaits struct {
	wait  time.Duration // of who asks for anything
	named time.Duration // of who names a node
	most  int
	mu    sync.Mutex
	tasks map[int64]bool
}

func newLockWaits(connections int32) *lockWaits {
	return &lockWaits{wait: lockedWait, named: namedWait, most: max(1, int(connections)/waitingPart), tasks: map[int64]bool{}}
}

// begin reports whether the caller may wait for the task; then they end it.
func (w *lockWaits) begin(taskID int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tasks[taskID] || len(w.tasks) >= w.most {
		return false
	}
	w.tasks[taskID] = true
	return true
}

func (w *lockWaits) end(taskID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tasks, taskID)
}
