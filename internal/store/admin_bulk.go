package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Bulk actions.
const (
	BulkSetPriority = "set_priority"
	BulkHold        = "hold"
	BulkUnhold      = "unhold"
	BulkRelease     = "release"
	BulkRequeue     = "requeue"
	BulkFail        = "fail"
)

// MaxPriority bounds priorities both ways; lower ones are served first.
const MaxPriority = 100

// BulkAction is what is done to each of many tasks.
type BulkAction struct {
	Kind     string
	Priority int // of BulkSetPriority
	// AsOf lets BulkRelease end only claims that were made before it; nil lets it end all.
	AsOf   *time.Time
	Reason string
}

// BulkResult says on which tasks the action was done.
type BulkResult struct {
	Done   []int64
	Failed []BulkFailure
	// Left are the task at which something broke and all behind it. The same may be
	// asked for them again.
	Left []int64
}

// BulkFailure is a task on which it was not, and why.
type BulkFailure struct {
	TaskID  int64
	Message string
}

// Bulk does the same to many tasks of the member's pipeline, each in a
// transaction of its own: a task that refuses keeps no other from being done,
// and nobody waits for the whole. An error means that nothing was done. When
// something breaks halfway, or the member is no admin any more, it ends there: the
// others would most likely meet the same, each after a wait of its own.
func (s *Store) Bulk(ctx context.Context, m Member, taskIDs []int64, act BulkAction) (BulkResult, error) {
	out := BulkResult{Done: []int64{}, Failed: []BulkFailure{}, Left: []int64{}}
	ids := distinct(taskIDs)
	for i, id := range ids {
		err := s.bulkOne(ctx, m, id, act)
		var refused *fault.Error
		switch {
		case err == nil:
			out.Done = append(out.Done, id)
		case errors.As(err, &refused) && slices.Contains(refusals, refused.Kind) && !errors.Is(err, errNoAdmin):
			out.Failed = append(out.Failed, BulkFailure{TaskID: id, Message: refused.Message})
		case len(out.Done) == 0:
			return out, err
		default:
			out.Left = ids[i:]
			return out, nil
		}
	}
	return out, nil
}

// distinct returns each id once, where it comes first.
func distinct(ids []int64) []int64 {
	seen := map[int64]bool{}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// refusals are errors that are about the one task.
var refusals = []fault.Kind{fault.Conflict, fault.NotFound, fault.Validation}

func (s *Store) bulkOne(ctx context.Context, m Member, id int64, act BulkAction) error {
	switch act.Kind {
	case BulkSetPriority:
		return s.SetPriority(ctx, m, id, act.Priority)
	case BulkHold:
		return s.Hold(ctx, m, id, act.Reason)
	case BulkUnhold:
		return s.Unhold(ctx, m, id, act.Reason)
	case BulkRelease:
		return s.releaseTask(ctx, m, id, act.AsOf, act.Reason)
	case BulkRequeue:
		return s.Requeue(ctx, m, id, act.Reason)
	case BulkFail:
		return s.FailTask(ctx, m, id, act.Reason)
	}
	return fault.New(fault.InvalidRequest, "%q is nothing that can be done to tasks", cut(act.Kind))
}

// SetPriority says when a task is served: lower goes first, 0 is what tasks
// begin with. It holds for what is in the queue now and for what opens later.
func (s *Store) SetPriority(ctx context.Context, m Member, taskID int64, priority int) error {
	if priority < -MaxPriority || priority > MaxPriority {
		return fault.New(fault.Validation, "a priority is an integer from %d to %d", -MaxPriority, MaxPriority)
	}
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		if err := t.open(); err != nil {
			return err
		}
		var was int
		err := tx.QueryRow(ctx, `SELECT priority FROM tasks WHERE id = $1`, t.ID).Scan(&was)
		if err != nil || was == priority {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(`UPDATE tasks SET priority = $2, updated_at = now() WHERE id = $1`, t.ID, priority)
		b.Queue(`UPDATE task_nodes SET priority = $2 WHERE task_id = $1`, t.ID, priority)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("set priority: %w", err)
		}
		return audit(ctx, tx, t.OrgID, person(m.UserID), "task.priority", object("task", t.ID),
			map[string]any{"from": was, "to": priority})
	})
}

// releaseTask ends every claim on a task that was made before asOf, if it is given;
// Conflict when there is none.
func (s *Store) releaseTask(ctx context.Context, m Member, taskID int64, asOf *time.Time, reason string) error {
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		n, err := s.releaseClaims(ctx, tx, t, m.UserID, "", asOf, reason)
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "nobody holds anything on task %d", taskID)
		}
		return err
	})
}

// Requeue opens every escalated and quarantined node of a task again; Conflict
// when there is none.
func (s *Store) Requeue(ctx context.Context, m Member, taskID int64, reason string) error {
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		if err := t.open(); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `SELECT `+nodeRowColumns+` FROM task_nodes
			WHERE task_id = $1 AND status IN ('escalated', 'quarantined') ORDER BY key`, t.ID)
		nodes, err := pgx.CollectRows(rows, pgx.RowToStructByName[nodeRow])
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			return fault.New(fault.Conflict, "no node of task %d is %s or %s", taskID, task.NodeEscalated, task.NodeQuarantined)
		}
		for _, n := range nodes {
			e := pipeline.Event{
				Kind: pipeline.EventResolve, Node: n.Key, Iteration: n.Iteration, Actor: m.UserID,
				Outcome: pipeline.ResolveRequeue, Reason: reason,
			}
			if err := s.resolve(ctx, tx, t, n, e); err != nil {
				return err
			}
		}
		// What follows is not left to the run: a node before which something is still to be
		// done is closed again, and nobody may be given it meanwhile.
		return s.catchUp(ctx, tx, t)
	})
}
