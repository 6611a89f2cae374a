package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// lockedTask is a task row that the transaction holds. Every command locks the
// task first and its nodes after, so that no two commands wait for each other.
type lockedTask struct {
	ID         int64       `db:"id"`
	OrgID      int64       `db:"org_id"`
	PipelineID int64       `db:"pipeline_id"`
	VersionID  int64       `db:"version_id"`
	Status     task.Status `db:"status"`
	Held       bool        `db:"held"`
	Touched    bool        `db:"touched"`
	Seq        int64       `db:"seq"`
	AppliedSeq int64       `db:"applied_seq"`
	CreatedAt  time.Time   `db:"created_at"`

	// By the database's clock:
	readAt     time.Time // when state was asked
	handedInAt time.Time // when the first of what a step applies was handed in
	writtenAt  time.Time // when refresh wrote
}

const lockTaskSQL = `SELECT id, org_id, pipeline_id, version_id, status, held, touched, seq, applied_seq, created_at
	FROM tasks`

// lockTheirTaskSQL locks task $1 of organization $2 and pipeline $3.
const lockTheirTaskSQL = lockTaskSQL + ` WHERE id = $1 AND org_id = $2 AND pipeline_id = $3 FOR UPDATE`

// lockTask locks a task of the organization and pipeline; NotFound when there
// is none.
func lockTask(ctx context.Context, tx pgx.Tx, orgID, pipelineID, taskID int64) (*lockedTask, error) {
	return lockOne(ctx, tx, taskID, lockTheirTaskSQL, taskID, orgID, pipelineID)
}

func lockOne(ctx context.Context, tx pgx.Tx, taskID int64, sql string, args ...any) (*lockedTask, error) {
	rows, _ := tx.Query(ctx, sql, args...)
	return lockedOne(rows, taskID)
}

func lockedOne(rows pgx.Rows, taskID int64) (*lockedTask, error) {
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[lockedTask])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, taskNotFound(taskID)
	}
	if err != nil {
		return nil, err
	}
	return &t, nil
}

func taskNotFound(id int64) error { return fault.New(fault.NotFound, "task %d not found", id) }

// journal appends an event to the locked task and numbers it. ring says
// whether the task's run must hear of it; what the run itself caused it finds
// in the journal.
func (t *lockedTask) journal(ctx context.Context, tx pgx.Tx, e pipeline.Event, ring bool) (int64, error) {
	b := &pgx.Batch{}
	seq := t.queueEvent(b, e, ring)
	return seq, tx.SendBatch(ctx, b).Close()
}

// queueEvent is journal with the statements of a batch.
func (t *lockedTask) queueEvent(b *pgx.Batch, e pipeline.Event, ring bool) (seq int64) {
	t.Seq++
	b.Queue(`UPDATE tasks SET seq = $2, updated_at = now() WHERE id = $1`, t.ID, t.Seq)
	b.Queue(`INSERT INTO task_events (task_id, seq, kind, node_key, iteration, actor, claim_id, lease_ends,
			outcome, skipped, returned, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		t.ID, t.Seq, e.Kind, e.Node, e.Iteration, nullID(e.Actor), nullText(e.Claim), nullTime(e.LeaseEnds),
		e.Outcome, e.Skipped, e.Returned, e.Reason)
	if ring {
		b.Queue(`INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_event', $1, $2, $3)`, t.ID, t.Seq, urgencyOf(e.Kind))
	}
	return t.Seq
}

// refresh writes the status and the node_summary that follow from the task's
// nodes and flags.
func (t *lockedTask) refresh(ctx context.Context, tx pgx.Tx) error {
	rows, _ := tx.Query(ctx, `SELECT status FROM task_nodes WHERE task_id = $1`, t.ID)
	nodes, err := pgx.CollectRows(rows, pgx.RowTo[task.NodeStatus])
	if err != nil {
		return err
	}
	sum := task.Summarize(nodes)
	t.Status = task.Derive(nodes, task.Flags{Failed: t.Status == task.Failed, Held: t.Held, Touched: t.Touched})
	if t.Status == task.Finished && t.AppliedSeq < t.Seq {
		t.Status = task.InProgress // what waits to be applied may open nodes
	}
	return tx.QueryRow(ctx, `UPDATE tasks SET status = $2, held = $3, n_total = $4, n_finished = $5, n_in_progress = $6,
			n_pending = $7, applied_seq = $8, updated_at = now() WHERE id = $1 RETURNING clock_timestamp()`,
		t.ID, t.Status, t.Held, sum.Total, sum.Finished, sum.InProgress, sum.Pending, t.AppliedSeq).Scan(&t.writtenAt)
}

func nullID(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

func nullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
