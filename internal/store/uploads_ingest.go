package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
)

// notProcessing is what a late write of a run meets: the upload has ended, or
// was never confirmed.
func notProcessing(u Upload) error {
	return fault.New(fault.Conflict, "upload %s is %s, not processing", u.ID, u.Status)
}

// notLookedAt is what a batch meets that was under way when Postgres was put back to
// before the look into the archive. No plan counts its rows yet, so the look comes first.
func notLookedAt(u Upload) error {
	return fault.New(fault.Unavailable, "the archive of upload %s has not been looked at, or the look is lost; "+
		"its rows are tried again after another look", u.ID)
}

// processing runs fn with an upload that is locked and still processed.
func (s *Store) processing(ctx context.Context, id uuid.UUID, fn func(tx pgx.Tx, u Upload) error) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		u, err := lockUpload(ctx, tx, id)
		if err != nil {
			return err
		}
		if u.Status != UploadProcessing {
			return notProcessing(u)
		}
		return fn(tx, u)
	})
}

// WaitingRows returns the first rows that are not done.
func (s *Store) WaitingRows(ctx context.Context, id uuid.UUID, limit int) ([]UploadRow, error) {
	rows, _ := s.pool.Query(ctx, `SELECT row_index, fields FROM upload_rows
		WHERE upload_id = $1 AND status = 'waiting' ORDER BY row_index LIMIT $2`, id, limit)
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (UploadRow, error) {
		var r UploadRow
		return r, row.Scan(&r.Index, &r.Fields)
	})
	return out, translate(err)
}

// UploadTask is a row whose files are stored and whose values are checked.
type UploadTask struct {
	Index int
	Input form.Values
	State pipeline.State
	Files []File
	Bytes int64 // of its files
}

// FinishRows says what became of rows.
type FinishRows struct {
	UploadID uuid.UUID
	// VersionID is the version that the rows were checked against.
	VersionID int64
	Created   []UploadTask
	Failed    []UploadRow
}

// FinishedRows says how many rows a call moved; those that were done before
// are left alone.
type FinishedRows struct{ Created, Failed int }

// FinishRows stores the tasks of rows, or why they failed, in one transaction.
// It fails with Conflict when the upload is not processed any more, with Unavailable
// when nobody has looked into its archive, with ErrVersionChanged, and with Validation
// when the pipeline takes no tasks.
func (s *Store) FinishRows(ctx context.Context, in FinishRows) (FinishedRows, error) {
	var out FinishedRows
	err := s.processing(ctx, in.UploadID, func(tx pgx.Tx, u Upload) error {
		out = FinishedRows{}
		if !u.Inspected {
			return notLookedAt(u)
		}
		waiting, err := in.waiting(ctx, tx)
		if err != nil {
			return err
		}
		bytes, err := in.create(ctx, tx, u, waiting, &out)
		if err != nil {
			return err
		}
		if err := in.fail(ctx, tx, waiting, &out); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE uploads SET rows_done = rows_done + $2 + $3, success_count = success_count + $2,
			error_count = error_count + $3, bytes_done = bytes_done + $4, updated_at = now() WHERE id = $1`,
			u.ID, out.Created, out.Failed, bytes)
		return err
	})
	return out, err
}

// waiting locks the rows that are still to be done.
func (in FinishRows) waiting(ctx context.Context, tx pgx.Tx) (map[int]bool, error) {
	var indexes []int
	for _, t := range in.Created {
		indexes = append(indexes, t.Index)
	}
	for _, r := range in.Failed {
		indexes = append(indexes, r.Index)
	}
	rows, _ := tx.Query(ctx, `SELECT row_index FROM upload_rows WHERE upload_id = $1 AND row_index = ANY($2) AND status = 'waiting'
		ORDER BY row_index FOR UPDATE`, in.UploadID, indexes)
	found, err := pgx.CollectRows(rows, pgx.RowTo[int])
	waiting := make(map[int]bool, len(found))
	for _, i := range found {
		waiting[i] = true
	}
	return waiting, err
}

// create makes the tasks of rows and returns how many bytes their files have.
func (in FinishRows) create(ctx context.Context, tx pgx.Tx, u Upload, waiting map[int]bool, out *FinishedRows) (int64, error) {
	batch := CreateTasks{OrgID: u.OrgID, PipelineID: u.PipelineID, VersionID: in.VersionID, Actor: u.Actor}
	var indexes []int
	var files []File
	var bytes int64
	seen := map[uuid.UUID]bool{} // many rows may have the same file
	for _, t := range in.Created {
		if waiting[t.Index] {
			delete(waiting, t.Index)
			batch.Tasks = append(batch.Tasks, NewTask{Input: t.Input, State: t.State})
			indexes = append(indexes, t.Index)
			for _, f := range t.Files {
				if !seen[f.ID] {
					seen[f.ID] = true
					files = append(files, f)
				}
			}
			bytes += t.Bytes
		}
	}
	if len(batch.Tasks) == 0 {
		return 0, nil
	}
	p, err := batch.holdPipeline(ctx, tx)
	if err != nil {
		return 0, err
	}
	if err := insertFiles(ctx, tx, u, files); err != nil {
		return 0, err
	}
	ids, err := batch.insert(ctx, tx, p)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `UPDATE upload_rows r SET status = 'created', task_id = c.task_id, fields = '{}'
		FROM unnest($2::int[], $3::bigint[]) AS c(row_index, task_id) WHERE r.upload_id = $1 AND r.row_index = c.row_index`,
		u.ID, indexes, ids)
	out.Created = len(ids)
	return bytes, err
}

func (in FinishRows) fail(ctx context.Context, tx pgx.Tx, waiting map[int]bool, out *FinishedRows) error {
	var indexes []int
	var reasons []string
	for _, r := range in.Failed {
		if !waiting[r.Index] {
			continue
		}
		delete(waiting, r.Index)
		errs := r.Errors
		if len(errs) == 0 {
			errs = []seeding.ItemError{{Index: r.Index, Message: "the row failed"}}
		}
		raw, err := json.Marshal(errs)
		if err != nil {
			return fmt.Errorf("encode row errors: %w", err)
		}
		indexes, reasons = append(indexes, r.Index), append(reasons, string(raw))
	}
	out.Failed = len(indexes)
	if len(indexes) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE upload_rows r SET status = 'failed', errors = f.errors::jsonb, fields = '{}'
		FROM unnest($2::int[], $3::text[]) AS f(row_index, errors) WHERE r.upload_id = $1 AND r.row_index = f.row_index`,
		in.UploadID, indexes, reasons)
	return err
}
