package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// Repaired is one thing that a repair changed, or would change.
type Repaired struct {
	// What says in words, with ids, what was there and what is there now.
	What string `json:"what"`
	// Then is the command that is to be run afterwards, "" for none.
	Then string `json:"then,omitempty"`
}

// noting takes down what a repair changes, and returns it for what is to be said besides.
type noting func(format string, args ...any) *Repaired

// Repairs run as a trial unless apply is set: they then do everything and roll
// it back. Each can be run again and again, and while people work; what has
// nothing wrong with it is left alone.

// repair runs fn in a transaction that is kept only with apply.
func (s *Store) repair(ctx context.Context, apply bool, fn func(tx pgx.Tx, note noting) error) ([]Repaired, error) {
	var out []Repaired
	trial := fmt.Errorf("a trial") //nolint:perfsprint // a value to compare with
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		out = nil
		err := fn(tx, func(format string, args ...any) *Repaired {
			out = append(out, Repaired{What: fmt.Sprintf(format, args...)})
			return &out[len(out)-1]
		})
		if err == nil && !apply {
			return trial
		}
		return err
	})
	if err == trial { //nolint:errorlint // the very value
		err = nil
	}
	return out, err
}

// RepairCounts makes the kept counts those of the rows, as the reconciler does
// once an hour.
func (s *Store) RepairCounts(ctx context.Context, apply bool) ([]Repaired, error) {
	return s.repair(ctx, apply, func(tx pgx.Tx, note noting) error {
		// The lock of checkCounts: what one of the two has corrected and not yet
		// committed the other would not see, and correct once more.
		_, err := tx.Exec(ctx, `UPDATE count_checks SET at = now()`)
		if ranOut(err) {
			return fault.New(fault.Unavailable, "the reconciler, or another repair, compares the kept counts now; try again in a few minutes").Because(err)
		}
		if err != nil {
			return err
		}
		// The difference is read and written in one statement, so in one
		// snapshot; commands add to the same table meanwhile, and lose nothing.
		rows, _ := tx.Query(ctx, `INSERT INTO count_changes (pipeline_id, version_id, what, n) `+driftSQL+` RETURNING pipeline_id, version_id, what, n`)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[kept])
		if err != nil {
			return err
		}
		for _, k := range found {
			note("pipeline %d version %d: the count of %s changes by %+d", k.PipelineID, k.VersionID, k.What, k.N)
			var orgID int64
			if err := tx.QueryRow(ctx, `SELECT org_id FROM pipelines WHERE id = $1`, k.PipelineID).Scan(&orgID); err != nil {
				return err
			}
			if err := audit(ctx, tx, orgID, nil, "pipeline.repair", object("pipeline", k.PipelineID),
				map[string]any{"version": k.VersionID, "count": k.What, "by": k.N}); err != nil {
				return err
			}
		}
		return nil
	})
}

// RepairUploads makes the counts of uploads those of their rows, where these are
// as many as were found in the archive. Elsewhere rows were lost, or came past the
// product: which of the two is right only a backup can tell.
func (s *Store) RepairUploads(ctx context.Context, apply bool) ([]Repaired, error) {
	return s.repair(ctx, apply, func(tx pgx.Tx, note noting) error {
		// Locked before they are counted: what an upload under way commits while this waits
		// for its row would be missing in a count that began before.
		rows, _ := tx.Query(ctx, `SELECT u.id::text FROM uploads u CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE r.status = 'created') AS created,
				count(*) FILTER (WHERE r.status = 'failed') AS failed FROM upload_rows r WHERE r.upload_id = u.id) r
			WHERE u.inspected_at IS NOT NULL AND (u.success_count, u.error_count) IS DISTINCT FROM (r.created, r.failed)
			ORDER BY u.id FOR UPDATE OF u`)
		wrong, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `UPDATE uploads u SET success_count = r.created, error_count = r.failed, rows_done = r.created + r.failed,
				updated_at = now()
			FROM (SELECT u.id, u.org_id, count(r.*) AS n, count(*) FILTER (WHERE r.status = 'created') AS created,
					count(*) FILTER (WHERE r.status = 'failed') AS failed
				FROM uploads u LEFT JOIN upload_rows r ON r.upload_id = u.id WHERE u.id = ANY($1::uuid[]) GROUP BY u.id) r
			WHERE u.id = r.id AND u.rows_total = r.n AND (u.success_count, u.error_count) IS DISTINCT FROM (r.created, r.failed)
			RETURNING u.id::text, u.org_id, u.success_count, u.error_count`, wrong)
		type fixed struct {
			ID              string
			OrgID           int64
			Created, Failed int
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fixed])
		if err != nil {
			return err
		}
		for _, f := range found {
			note("upload %s: %d created, %d failed", f.ID, f.Created, f.Failed)
			if err := audit(ctx, tx, f.OrgID, nil, "upload.repair", "upload/"+f.ID, map[string]any{"created": f.Created, "failed": f.Failed}); err != nil {
				return err
			}
		}
		return nil
	})
}

// RepairOutbox deletes outbox rows that nobody can deliver, because their task
// is not there. It stands in no audit log: whose they were went with the task.
func (s *Store) RepairOutbox(ctx context.Context, apply bool) ([]Repaired, error) {
	return s.repair(ctx, apply, func(tx pgx.Tx, note noting) error {
		rows, _ := tx.Query(ctx, `DELETE FROM outbox o WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = o.task_id) RETURNING task_id, seq`)
		var id, seq int64
		_, err := pgx.ForEachRow(rows, []any{&id, &seq}, func() error {
			note("outbox row of task %d, event %d: deleted, there is no such task", id, seq)
			return nil
		})
		return err
	})
}

// RepairRun has the run of a task look at the journal again: one that is
// missing is started, one that has nothing to do any more ends.
func (s *Store) RepairRun(ctx context.Context, taskID int64, apply bool) ([]Repaired, error) {
	return s.repair(ctx, apply, func(tx pgx.Tx, note noting) error {
		t, err := lockAnyTask(ctx, tx, taskID)
		if err != nil {
			return err
		}
		n, err := t.ring(ctx, tx)
		switch {
		case err != nil:
			return err
		case n == 0:
			note("task %d: its run will be told already", taskID)
			return nil
		}
		note("task %d: its run is told to look at the journal, where %d of %d events are applied", taskID, t.AppliedSeq, t.Seq)
		return audit(ctx, tx, t.OrgID, nil, "run.repair", object("task", t.ID), map[string]any{"seq": t.Seq, "applied_seq": t.AppliedSeq})
	})
}

// ring puts a nudge for the task's run into the outbox, unless one is there.
func (t *lockedTask) ring(ctx context.Context, tx pgx.Tx) (int64, error) {
	tag, err := tx.Exec(ctx, `INSERT INTO outbox (topic, task_id, seq) VALUES ('task_sync', $1, 0) ON CONFLICT DO NOTHING`, t.ID)
	return tag.RowsAffected(), err
}

// ringAnew is ring for what the run cannot notice by itself. A nudge that is there may be
// on its way: the run would have looked before this was written.
func (t *lockedTask) ringAnew(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `DELETE FROM outbox WHERE task_id = $1 AND seq = 0`, t.ID); err != nil {
		return err
	}
	_, err := t.ring(ctx, tx)
	return err
}
