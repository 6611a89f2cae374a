package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// Statuses of an upload (spec section 3).
const (
	UploadPending    = "pending"
	UploadProcessing = "processing"
	UploadCompleted  = "completed"
	UploadFailed     = "failed"
	UploadCancelled  = "cancelled"
)

// Reasons why an upload failed or was cancelled.
const (
	UploadExpired   = "expired"   // the archive did not come, or was not confirmed, in time
	UploadWithdrawn = "withdrawn" // cancelled before it was confirmed
	UploadStopped   = "cancelled" // cancelled while it was processed
	UploadOperator  = "operator"  // its run was cancelled in Temporal
	UploadArchive   = "archive"   // the archive cannot be used
	UploadNoTasks   = "no_tasks"  // every row failed
	UploadTimeout   = "timeout"   // it took too long
)

// Upload is one ZIP ingestion.
type Upload struct {
	ID                uuid.UUID
	OrgID, PipelineID int64
	// Actor is the creator of the key, whom the journal of the tasks names.
	Actor  int64
	Status string
	// Reason and Message tell why it failed or was cancelled.
	Reason, Message string
	ObjectKey       string
	// Derived says that the rows come from the archive's listing.
	Derived       bool
	FileSizeBytes *int64
	// ArchiveBytes and ArchiveETag are those of the object that was confirmed.
	ArchiveBytes         int64
	ArchiveETag          string
	RowsTotal, RowsDone  int
	BytesTotal           int64
	BytesDone            int64
	SuccessCount         int
	ErrorCount           int
	SkippedCount         int
	Skipped              []UploadSkip // the first MaxSkipped
	CancelRequested      bool
	Inspected            bool
	Look                 int64 // the number of the last look into the archive that began
	ExpiresAt, CreatedAt time.Time
	UpdatedAt            time.Time
	ConfirmedAt          *time.Time
	FinishedAt           *time.Time
}

// Ended reports whether the upload's status is final.
func (u Upload) Ended() bool { return u.FinishedAt != nil }

// MaxSkipped is how many skipped entries an upload names.
const MaxSkipped = 100

// UploadSkip is an entry of the archive that belongs to no task.
type UploadSkip struct {
	Entry  string `json:"entry"`
	Reason string `json:"reason"`
}

// UploadRow is a future task: its fields, with paths of the archive where
// files belong, or why it cannot become one.
type UploadRow struct {
	Index  int
	Fields form.Values
	Errors []seeding.ItemError
}

const uploadColumns = `id, org_id, pipeline_id, created_by, status, reason, message, object_key, derived, file_size_bytes,
	archive_bytes, archive_etag, rows_total, rows_done, bytes_total, bytes_done, success_count, error_count, skipped_count, skipped,
	cancel_at IS NOT NULL, inspected_at IS NOT NULL, look, expires_at, created_at, updated_at, confirmed_at, finished_at`

func scanUpload(row pgx.CollectableRow) (Upload, error) {
	var u Upload
	err := row.Scan(&u.ID, &u.OrgID, &u.PipelineID, &u.Actor, &u.Status, &u.Reason, &u.Message, &u.ObjectKey, &u.Derived, &u.FileSizeBytes,
		&u.ArchiveBytes, &u.ArchiveETag, &u.RowsTotal, &u.RowsDone, &u.BytesTotal, &u.BytesDone, &u.SuccessCount, &u.ErrorCount,
		&u.SkippedCount, &u.Skipped, &u.CancelRequested, &u.Inspected, &u.Look, &u.ExpiresAt, &u.CreatedAt, &u.UpdatedAt, &u.ConfirmedAt, &u.FinishedAt)
	return u, err
}

// oneUpload reads the upload that a query finds; NotFound when it finds none.
func oneUpload(ctx context.Context, q querier, id uuid.UUID, sql string, args ...any) (Upload, error) {
	rows, _ := q.Query(ctx, sql, args...)
	u, err := pgx.CollectExactlyOneRow(rows, scanUpload)
	return foundUpload(u, err, id)
}

func foundUpload(u Upload, err error, id uuid.UUID) (Upload, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return u, fault.New(fault.NotFound, "upload %s not found", id)
	}
	return u, translate(err)
}

// FindUpload returns an upload of the organization's pipeline.
func (s *Store) FindUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID) (Upload, error) {
	return oneUpload(ctx, s.pool, id, `SELECT `+uploadColumns+` FROM uploads WHERE id = $1 AND org_id = $2 AND pipeline_id = $3`,
		id, orgID, pipelineID)
}

// LoadUpload returns an upload to its run, which got the id from Postgres.
func (s *Store) LoadUpload(ctx context.Context, id uuid.UUID) (Upload, error) {
	return oneUpload(ctx, s.pool, id, `SELECT `+uploadColumns+` FROM uploads WHERE id = $1`, id)
}

// oneUploadFor is oneUpload for a request with an API key, which must still be good.
func oneUploadFor(ctx context.Context, tx pgx.Tx, orgID, keyID int64, id uuid.UUID, sql string, args ...any) (Upload, error) {
	var u Upload
	b := &pgx.Batch{}
	queueUploadKey(b, orgID, keyID)
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		u, err = pgx.CollectExactlyOneRow(rows, scanUpload)
		return err
	})
	err := tx.SendBatch(ctx, b).Close()
	return foundUpload(u, err, id)
}

// lockUploadOfSQL is lockUpload for a caller: the upload $1 must be of organization $2
// and its pipeline $3.
const lockUploadOfSQL = `SELECT ` + uploadColumns + ` FROM uploads WHERE id = $1 AND org_id = $2 AND pipeline_id = $3 FOR UPDATE`

// lockUpload reads an upload and holds it until the transaction ends.
func lockUpload(ctx context.Context, tx pgx.Tx, id uuid.UUID) (Upload, error) {
	return oneUpload(ctx, tx, id, `SELECT `+uploadColumns+` FROM uploads WHERE id = $1 FOR UPDATE`, id)
}

// ListUploads returns a page of the pipeline's uploads, newest first, after
// the one with the id; all from the newest for the zero id.
func (s *Store) ListUploads(ctx context.Context, orgID, pipelineID int64, limit int, after uuid.UUID) ([]Upload, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+uploadColumns+` FROM uploads WHERE pipeline_id = $1 AND org_id = $2
		AND ($4 = '00000000-0000-0000-0000-000000000000'::uuid OR id < $4) ORDER BY id DESC LIMIT $3`, pipelineID, orgID, limit, after)
	out, err := pgx.CollectRows(rows, scanUpload)
	return out, translate(err)
}

// MaxUploadErrors is how many errors an upload's result lists: what one poll
// costs must not grow with an archive of a hundred thousand bad rows.
const MaxUploadErrors = seeding.MaxErrors

// UploadResult is what became of an upload's rows.
type UploadResult struct {
	// Errors are the first, ordered by row, then by field.
	Errors []seeding.ItemError
	// TaskIDs are in the order of the rows that succeeded.
	TaskIDs []int64
}

// resultBounds are how much of a result is read: of the rows that failed, too, as
// each has at least one error.
type resultBounds struct{ created, failed, errors int }

// UploadResult returns what became of the rows of an organization's upload: all tasks
// and the first MaxUploadErrors.
func (s *Store) UploadResult(ctx context.Context, orgID int64, id uuid.UUID) (UploadResult, error) {
	return s.uploadResult(ctx, orgID, id, resultBounds{created: noBound, failed: MaxUploadErrors, errors: MaxUploadErrors})
}

// ShownResult is the part of an upload's result that the console shows. It looks for no
// more rows than the upload counts: without an error, none is searched for one.
func (s *Store) ShownResult(ctx context.Context, u Upload) (UploadResult, error) {
	most := MaxShownErrors
	if u.Ended() {
		most = MaxUploadErrors
	}
	return s.uploadResult(ctx, u.OrgID, u.ID, resultBounds{
		created: min(u.SuccessCount, MaxShownTasks), failed: min(u.ErrorCount, most), errors: most,
	})
}

// uploadResult reads a result. Rows that a look into the archive stored before it was
// complete are none yet.
func (s *Store) uploadResult(ctx context.Context, orgID int64, id uuid.UUID, most resultBounds) (UploadResult, error) {
	out := UploadResult{Errors: []seeding.ItemError{}, TaskIDs: []int64{}}
	ids, _ := s.pool.Query(ctx, `SELECT r.task_id FROM upload_rows r JOIN uploads u ON u.id = r.upload_id
		WHERE r.upload_id = $1 AND u.org_id = $2 AND r.status = 'created' ORDER BY r.row_index LIMIT $3`, id, orgID, most.created)
	created, err := pgx.CollectRows(ids, pgx.RowTo[int64])
	if err != nil {
		return out, translate(err)
	}
	out.TaskIDs = append(out.TaskIDs, created...)
	rows, err := s.pool.Query(ctx, `SELECT r.errors FROM upload_rows r JOIN uploads u ON u.id = r.upload_id
		WHERE r.upload_id = $1 AND u.org_id = $2 AND r.status = 'failed' AND (NOT u.derived OR u.inspected_at IS NOT NULL)
		ORDER BY r.row_index LIMIT $3`, id, orgID, most.failed)
	if err != nil {
		return out, translate(err)
	}
	defer rows.Close()
	for len(out.Errors) < most.errors && rows.Next() {
		var errs []seeding.ItemError
		if err := rows.Scan(&errs); err != nil {
			return out, translate(err)
		}
		out.Errors = append(out.Errors, errs[:min(len(errs), most.errors-len(out.Errors))]...)
	}
	return out, translate(rows.Err())
}
