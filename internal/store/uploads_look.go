package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A look into an archive takes several transactions, and the worker that does it
// may be given up for dead in between while another begins a look of its own. So
// each look has a number, and only the last that began may write.
var (
	// ErrNewerLook says that another look into the archive has begun since, or that
	// one is complete: what this one found is not wanted.
	ErrNewerLook = errors.New("another look into the archive has taken over")
	// ErrForeignPlan says that the look is the last one, and yet the upload has a
	// plan that is not its: a worker of an older release, which knows no numbers,
	// made it of rows that were not complete.
	ErrForeignPlan = errors.New("a worker of an older release made the plan while rows were being written")
)

// BeginUploadLook begins a look into an archive and returns its number. It makes
// room for the rows: the pipeline may have changed since a look that was not
// completed. Rows that came with the request stay, and need no number.
func (s *Store) BeginUploadLook(ctx context.Context, id uuid.UUID) (look int64, err error) {
	err = s.processing(ctx, id, func(tx pgx.Tx, u Upload) error {
		look = u.Look
		switch {
		case u.Inspected:
			return ErrNewerLook
		case !u.Derived:
			return nil
		}
		if _, err := tx.Exec(ctx, `DELETE FROM upload_rows WHERE upload_id = $1`, id); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `UPDATE uploads SET look = look + 1, updated_at = now() WHERE id = $1 RETURNING look`, id).Scan(&look)
	})
	return look, err
}

// SaveUploadRows stores rows that a look derived from the archive. Rows that are
// there already stay as they are.
func (s *Store) SaveUploadRows(ctx context.Context, id uuid.UUID, look int64, rows []UploadRow) error {
	return s.processing(ctx, id, func(tx pgx.Tx, u Upload) error {
		switch {
		case u.Look != look:
			return ErrNewerLook
		case u.Inspected:
			return ErrForeignPlan
		}
		indexes := make([]int, len(rows))
		for i, r := range rows {
			indexes[i] = r.Index
		}
		found, _ := tx.Query(ctx, `SELECT row_index FROM upload_rows WHERE upload_id = $1 AND row_index = ANY($2)`, id, indexes)
		there, err := pgx.CollectRows(found, pgx.RowTo[int])
		if err != nil {
			return err
		}
		known := make(map[int]bool, len(there))
		for _, i := range there {
			known[i] = true
		}
		var missing []UploadRow
		for _, r := range rows {
			if !known[r.Index] {
				missing = append(missing, r)
			}
		}
		return copyUploadRows(ctx, tx, id, missing)
	})
}

// UploadPlan is what the look into an archive found.
type UploadPlan struct {
	// Look is its number, and Derived how many rows it made of the archive; both
	// are 0 for an upload whose rows came with the request.
	Look       int64
	Derived    int
	BytesTotal int64 // of the files that rows name, uncompressed
	// Skipped are the first of SkippedCount entries that belong to no row.
	Skipped      []UploadSkip
	SkippedCount int
}

// SaveUploadPlan notes what there is to do; the first plan stays. A plan of other
// rows than those that are stored is refused: what it counts is final.
func (s *Store) SaveUploadPlan(ctx context.Context, id uuid.UUID, plan UploadPlan) error {
	skipped, err := json.Marshal(plan.Skipped[:min(len(plan.Skipped), MaxSkipped)])
	if err != nil {
		return fmt.Errorf("encode skipped entries: %w", err)
	}
	if plan.Skipped == nil {
		skipped = []byte("[]")
	}
	return s.processing(ctx, id, func(tx pgx.Tx, u Upload) error {
		switch {
		case u.Look != plan.Look:
			return ErrNewerLook
		case u.Inspected && u.Derived && u.RowsTotal != plan.Derived:
			return ErrForeignPlan
		case u.Inspected: // by the same call, whose answer was lost
			return nil
		}
		// Rows that failed before anybody looked are done. So are those that became tasks
		// after a look that a failover lost, which earlier releases let them: the plan counts
		// the bytes of the others, and theirs are done.
		var total int
		err := tx.QueryRow(ctx, `UPDATE uploads u SET rows_total = r.n, bytes_total = $2 + u.bytes_done, skipped = $3, skipped_count = $4,
				rows_done = r.failed + r.created, success_count = r.created, error_count = r.failed, inspected_at = now(), updated_at = now()
			FROM (SELECT count(*) AS n, count(*) FILTER (WHERE status = 'failed') AS failed,
				count(*) FILTER (WHERE status = 'created') AS created FROM upload_rows WHERE upload_id = $1) r
			WHERE u.id = $1 RETURNING u.rows_total`, id, plan.BytesTotal, skipped, plan.SkippedCount).Scan(&total)
		if err == nil && u.Derived && total != plan.Derived {
			err = fmt.Errorf("upload %s: %d rows are stored of %d that were derived from its archive", id, total, plan.Derived)
		}
		return err
	})
}
