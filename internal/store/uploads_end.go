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

// putGrace is how long after an address expired an archive may still be on its way
// under it: stores look at the signature when a transfer begins.
const putGrace = 24 * time.Hour

// A confirmation that found no worker, or no storage, is to be tried again: its
// upload is kept for askedGrace from then on, but no longer than askedMost after its
// address expired, however often it is tried.
const (
	askedGrace = time.Hour
	askedMost  = 24 * time.Hour
)

// sweepMissed is for how long Reconcile leaves it to the sweep to cancel an upload.
const sweepMissed = 15 * time.Minute

// stuckAfter is when a run that writes nothing is told again.
const stuckAfter = 15 * time.Minute

// UploadEnd is how an upload ends. An empty Status lets the counts decide:
// completed with at least one task, failed without.
type UploadEnd struct{ Status, Reason, Message string }

// FinishUpload ends an upload; one that has ended stays as it is. Where the counts
// shall decide, it must be done: after a failover to a standby that had not heard
// of the last rows, or of the look at the archive, it is not, and stays as it is.
func (s *Store) FinishUpload(ctx context.Context, id uuid.UUID, end UploadEnd) (Upload, error) {
	var out Upload
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		u, err := lockUpload(ctx, tx, id)
		out = u
		if err != nil || u.Ended() {
			return err
		}
		if end.Status == "" {
			if done, err := allRowsDone(ctx, tx, u); err != nil || !done {
				return err
			}
		}
		out, err = endUpload(ctx, tx, u, end)
		return err
	})
	return out, err
}

// allRowsDone tells whether everything that the archive asks for was done.
func allRowsDone(ctx context.Context, tx pgx.Tx, u Upload) (done bool, err error) {
	if u.Status != UploadProcessing || !u.Inspected {
		return false, nil
	}
	err = tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM upload_rows WHERE upload_id = $1 AND status = 'waiting')`, u.ID).Scan(&done)
	return done, err
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
	return oneUpload(ctx, tx, u.ID, `UPDATE uploads SET status = $2, reason = $3, message = $4, finished_at = now(), updated_at = now(),
		ring_at = NULL WHERE id = $1 RETURNING `+uploadColumns, u.ID, end.Status, end.Reason, message)
}

// AskedUpload notes that a pending upload was not confirmed for no fault of the
// caller's, who was told to try again.
func (s *Store) AskedUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `UPDATE uploads SET asked_at = now()
		WHERE id = $1 AND org_id = $2 AND pipeline_id = $3 AND status = 'pending'`, id, orgID, pipelineID)
	return translate(err)
}

// ExpireUploads cancels uploads whose archive did not come, or was not
// confirmed, in time, and returns them.
func (s *Store) ExpireUploads(ctx context.Context, limit int) ([]Upload, error) {
	return s.expireUploads(ctx, confirmGrace, limit)
}

// expireUploads does so for those whose addresses expired longer than grace ago.
func (s *Store) expireUploads(ctx context.Context, grace time.Duration, limit int) ([]Upload, error) {
	var out []Upload
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		out = nil
		rows, _ := tx.Query(ctx, `SELECT `+uploadColumns+` FROM uploads WHERE status = 'pending' AND expires_at < now() - $1::interval
				AND (asked_at IS NULL OR asked_at < now() - $3::interval OR expires_at < now() - $4::interval)
			ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`, grace, limit, askedGrace, askedMost)
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

// UploadsToSweep returns uploads that have ended and whose address takes no archive
// any more, nor one that was on its way when it expired: what is still stored
// under their key can go for good. Until then it is what an upload goes on with whose
// end Postgres has lost, in a restore or a failover. They come behind the given one,
// the zero Upload being before all.
func (s *Store) UploadsToSweep(ctx context.Context, after Upload, limit int) ([]Upload, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+uploadColumns+` FROM uploads WHERE finished_at IS NOT NULL AND swept_at IS NULL
		AND expires_at < now() - $1::interval AND (expires_at, id) > ($2, $3) ORDER BY expires_at, id LIMIT $4`,
		putGrace, after.ExpiresAt, after.ID, limit)
	out, err := pgx.CollectRows(rows, scanUpload)
	return out, translate(err)
}

// EmptyRows takes away what the next rows of an upload that has ended hold,
// those that did not come to their turn: nobody will need it again. It begins
// behind the given index, does at most so many, and returns the index of the
// last one; false when there is none.
func (s *Store) EmptyRows(ctx context.Context, id uuid.UUID, after, limit int) (last int, more bool, err error) {
	var index *int
	err = s.pool.QueryRow(ctx, `WITH next AS (
			SELECT r.row_index FROM upload_rows r JOIN uploads u ON u.id = r.upload_id
			WHERE r.upload_id = $1 AND r.status = 'waiting' AND r.row_index > $2 AND u.finished_at IS NOT NULL
			ORDER BY r.row_index LIMIT $3
		), emptied AS (
			UPDATE upload_rows r SET fields = '{}' FROM next n
			WHERE r.upload_id = $1 AND r.row_index = n.row_index AND r.status = 'waiting' AND r.fields <> '{}'
		)
		SELECT max(row_index) FROM next`, id, after, limit).Scan(&index)
	if err != nil || index == nil {
		return after, false, translate(err)
	}
	return *index, true, nil
}

// SweptUpload notes that nothing is left of the archive, and of what its rows
// held.
func (s *Store) SweptUpload(ctx context.Context, id uuid.UUID) error {
	_, err := s.pool.Exec(ctx, `UPDATE uploads SET swept_at = now() WHERE id = $1 AND finished_at IS NOT NULL`, id)
	return translate(err)
}
