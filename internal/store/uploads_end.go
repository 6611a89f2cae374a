package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// confirmGrace is how long after its address expired an upload can still be
// confirmed, and an object may still be on its way.
const confirmGrace = 5 * time.Minute

// stuckAfter is when a run that writes nothing is told again.
const stuckAfter = 15 * time.Minute

// UploadEnd is how an upload ends. An empty Status lets the counts decide:
// completed with at least one task, failed without.
type UploadEnd struct{ Status, Reason, Message string }

// FinishUpload ends an upload that is processed; one that has ended stays as
// it is.
func (s *Store) FinishUpload(ctx context.Context, id uuid.UUID, end UploadEnd) (Upload, error) {
	var out Upload
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		u, err := lockUpload(ctx, tx, id)
		if err != nil || u.Ended() {
			out = u
			return err
		}
		out, err = endUpload(ctx, tx, u, end)
		return err
	})
	return out, err
}

func endUpload(ctx context.Context, tx pgx.Tx, u Upload, end UploadEnd) (Upload, error) {
	if end.Status == "" {
		end = UploadEnd{Status: UploadCompleted}
		if u.SuccessCount == 0 {
			end = UploadEnd{Status: UploadFailed, Reason: UploadNoTasks, Message: fmt.Sprintf(
				"none of the %d tasks could be created; errors says why for each", u.RowsTotal)}
		}
	}
	// What callers named may be in the message; a text column takes no NUL.
	message := strings.ReplaceAll(strings.ToValidUTF8(end.Message, "?"), "\x00", "?")
	out, err := oneUpload(ctx, tx, u.ID, `UPDATE uploads SET status = $2, reason = $3, message = $4, finished_at = now(), updated_at = now(),
		ring_at = NULL WHERE id = $1 RETURNING `+uploadColumns, u.ID, end.Status, end.Reason, message)
	if err != nil {
		return out, err
	}
	// Rows that did not come to their turn hold what nobody will need again.
	_, err = tx.Exec(ctx, `UPDATE upload_rows SET fields = '{}' WHERE upload_id = $1 AND status = 'waiting'`, u.ID)
	return out, err
}

// ExpireUploads cancels uploads whose archive did not come, or was not
// confirmed, in time, and returns them.
func (s *Store) ExpireUploads(ctx context.Context, limit int) ([]Upload, error) {
	var out []Upload
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		out = nil
		rows, _ := tx.Query(ctx, `SELECT `+uploadColumns+` FROM uploads WHERE status = 'pending' AND expires_at < now() - $1::interval
			ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`, confirmGrace, limit)
		due, err := pgx.CollectRows(rows, scanUpload)
		if err != nil {
			return err
		}
		for _, u := range due {
			ended, err := endUpload(ctx, tx, u, UploadEnd{
				Status: UploadCancelled, Reason: UploadExpired, Message: "the upload was not confirmed before its upload_url expired",
			})
			if err != nil {
				return err
			}
			out = append(out, ended)
		}
		return nil
	})
	return out, err
}

// UploadsToSweep returns uploads that have ended and whose address no longer
// takes an archive: what is still stored under their key can go for good.
func (s *Store) UploadsToSweep(ctx context.Context, limit int) ([]Upload, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+uploadColumns+` FROM uploads WHERE finished_at IS NOT NULL AND swept_at IS NULL
		AND expires_at < now() - $1::interval ORDER BY expires_at LIMIT $2`, confirmGrace, limit)
	out, err := pgx.CollectRows(rows, scanUpload)
	return out, translate(err)
}

// SweptUpload notes that nothing is left of the archive.
func (s *Store) SweptUpload(ctx context.Context, id uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `UPDATE uploads SET swept_at = now() WHERE id = $1 AND finished_at IS NOT NULL`, id)
	return translate(err)
}
