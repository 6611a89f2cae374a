package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// NewUpload is an upload that was accepted (spec 4.2.1).
type NewUpload struct {
	ID                uuid.UUID
	OrgID, PipelineID int64
	Actor             int64
	// KeyID is the API key of the request, whose creator must still be a member; 0 for
	// what is no request.
	KeyID         int64
	ObjectKey     string
	FileSizeBytes *int64
	// Lives is how long the archive can be put.
	Lives time.Duration
	// Rows are the tasks of the request; nil when they come from the archive.
	Rows []UploadRow
	// Idempotency, when set, stores what Answer makes of the upload in the same
	// transaction.
	Idempotency *IdempotencyKey
	Answer      func(Upload) (status int, body []byte)
}

// CreateUpload stores an upload and its rows, of which those with errors are
// done: they count from now on, as the upload may end before anybody looks into
// its archive. The answer is that of an earlier
// request with the same idempotency key, if there was one. It fails with InvalidAPIKey
// or ErrCreatorRemoved when the request's own key is not good for it any more.
func (s *Store) CreateUpload(ctx context.Context, in NewUpload) (Upload, *Answer, error) {
	var out Upload
	failed := failedRows(in.Rows)
	replay, err := s.answerOnce(ctx, in.Idempotency, func(tx pgx.Tx) (func() (int, []byte), error) {
		var err error
		out, err = oneUploadFor(ctx, tx, in.OrgID, in.KeyID, in.ID, `INSERT INTO uploads
			(id, org_id, pipeline_id, created_by, object_key, derived, file_size_bytes, rows_total, expires_at, rows_done, error_count)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval, $10, $10) RETURNING `+uploadColumns,
			in.ID, in.OrgID, in.PipelineID, in.Actor, in.ObjectKey, in.Rows == nil, in.FileSizeBytes, len(in.Rows), in.Lives, failed)
		if err != nil {
			return nil, err
		}
		if err := copyUploadRows(ctx, tx, in.ID, in.Rows); err != nil {
			return nil, err
		}
		return func() (int, []byte) { return in.Answer(out) }, nil
	})
	return out, replay, err
}

// answerOnce runs fn in a transaction and keeps what it answers under the
// idempotency key; or it returns what an earlier request was answered.
func (s *Store) answerOnce(ctx context.Context, key *IdempotencyKey, fn func(tx pgx.Tx) (func() (int, []byte), error)) (*Answer, error) {
	var replay *Answer
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		replay = nil
		if key != nil {
			earlier, err := key.begin(ctx, tx)
			if err != nil || earlier != nil {
				replay = earlier
				return err
			}
		}
		answer, err := fn(tx)
		if err != nil || key == nil {
			return err
		}
		status, body := answer()
		return key.keep(ctx, tx, Answer{Status: status, Body: body})
	})
	return replay, err
}

// failedRows counts the rows that copyUploadRows stores as failed.
func failedRows(rows []UploadRow) int {
	n := 0
	for _, r := range rows {
		if len(r.Errors) > 0 {
			n++
		}
	}
	return n
}

// copyUploadRows stores rows; those with errors are done already.
func copyUploadRows(ctx context.Context, tx pgx.Tx, id uuid.UUID, rows []UploadRow) error {
	var fields []byte // of the row that is on its way: COPY takes one after the other
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"upload_rows"}, []string{"upload_id", "row_index", "status", "fields", "errors"},
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			r := rows[i]
			if len(r.Errors) > 0 {
				errs, err := json.Marshal(r.Errors)
				return []any{id, r.Index, rowFailed, []byte("{}"), errs}, err
			}
			var err error
			fields, err = appendObject(fields[:0], r.Fields)
			return []any{id, r.Index, rowWaiting, fields, []byte("[]")}, err
		}))
	return err
}

// States of a row that has made no task.
const (
	rowWaiting = "waiting"
	rowFailed  = "failed"
)

// ConfirmUpload says that the archive is there, as which object.
type ConfirmUpload struct {
	OrgID, PipelineID int64
	KeyID             int64 // as with NewUpload
	ID                uuid.UUID
	ArchiveBytes      int64
	ArchiveETag       string
	Idempotency       *IdempotencyKey
	Answer            func(Upload) (status int, body []byte)
}

// ConfirmUpload moves a pending upload to processing and lets its run be
// started. It does so once: Conflict for every other call. A pipeline that takes no
// tasks any more is Validation, and the upload stays pending. Keys are refused as by
// CreateUpload.
func (s *Store) ConfirmUpload(ctx context.Context, in ConfirmUpload) (Upload, *Answer, error) {
	var out Upload
	replay, err := s.answerOnce(ctx, in.Idempotency, func(tx pgx.Tx) (func() (int, []byte), error) {
		u, err := oneUploadFor(ctx, tx, in.OrgID, in.KeyID, in.ID, lockUploadOfSQL, in.ID, in.OrgID, in.PipelineID)
		if err == nil && u.Status != UploadPending {
			err = NotPending(u)
		}
		if err == nil {
			err = takesTasks(ctx, tx, u)
		}
		if err != nil {
			return nil, err
		}
		out, err = oneUpload(ctx, tx, in.ID, `UPDATE uploads SET status = 'processing', archive_bytes = $2, archive_etag = $3,
			confirmed_at = now(), updated_at = now(), ring_at = now(), ring_gen = ring_gen + 1
			WHERE id = $1 RETURNING `+uploadColumns, in.ID, in.ArchiveBytes, in.ArchiveETag)
		if err != nil {
			return nil, err
		}
		return func() (int, []byte) { return in.Answer(out) }, nil
	})
	return out, replay, err
}

// takesTasks refuses an upload into a pipeline that takes no tasks any more, and keeps it
// from being closed up to the end of the transaction: each row would only fail.
func takesTasks(ctx context.Context, tx pgx.Tx, u Upload) error {
	var status string
	b := &pgx.Batch{}
	b.Queue(holdPipelineSQL, u.PipelineID)
	b.Queue(`SELECT status FROM pipelines WHERE id = $1 AND org_id = $2`, u.PipelineID, u.OrgID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&status) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if !pipeline.AcceptsTasks(status) {
		return NotAccepting(status)
	}
	return nil
}

// NotPending is the error of a confirmation that comes too late or twice.
func NotPending(u Upload) error {
	if u.Status == UploadProcessing {
		return fault.New(fault.Conflict, "upload %s was confirmed already and is processing; poll its status", u.ID)
	}
	return fault.New(fault.Conflict, "upload %s is %s and no longer pending; make a new upload for more tasks", u.ID, u.Status)
}

// CancelUpload ends a pending upload at once and asks the run of one that is
// processed to stop; tasks that were made stay. An upload that has ended stays
// as it is. The actor is an admin of the pipeline's project.
func (s *Store) CancelUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID, actor int64) (Upload, error) {
	var out Upload
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillPipelineAdmin(ctx, tx, actor, pipelineID); err != nil {
			return err
		}
		u, err := oneUpload(ctx, tx, id, lockUploadOfSQL, id, orgID, pipelineID)
		if err != nil {
			return err
		}
		switch {
		case u.Ended() || u.CancelRequested:
			out = u
			return nil
		case u.Status == UploadPending:
			out, err = endUpload(ctx, tx, u, UploadEnd{
				Status: UploadCancelled, Reason: UploadWithdrawn, Message: "the upload was cancelled before it was confirmed",
			})
		default:
			out, err = oneUpload(ctx, tx, id, `UPDATE uploads SET cancel_by = $2, cancel_at = now(), updated_at = now(),
				ring_at = now(), ring_gen = ring_gen + 1 WHERE id = $1 RETURNING `+uploadColumns, id, actor)
		}
		if err != nil {
			return err
		}
		return audit(ctx, tx, orgID, person(actor), "upload.cancel", "upload/"+id.String(), nil)
	})
	return out, err
}
