package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// Upload is the status of an upload (spec section 2). What it has beyond the
// status depends on how far it is.
type Upload struct {
	UploadID  uuid.UUID `json:"upload_id" format:"uuid" doc:"The id of the path."`
	Status    string    `json:"status" enum:"pending,processing,completed,failed,cancelled" doc:"The last three are final."`
	CreatedAt time.Time `json:"created_at" doc:"UTC."`
	UpdatedAt time.Time `json:"updated_at" doc:"When anything of it last changed, UTC."`
	ExpiresAt time.Time `json:"expires_at" doc:"When upload_url stops working. An upload that is not confirmed within five minutes after that is cancelled soon, unless a confirmation was answered with 503 within the last hour."`
	Message   string    `json:"message,omitempty" doc:"Why it failed or was cancelled."`
	Progress  *Progress `json:"progress,omitempty" doc:"Once it is confirmed."`

	SuccessCount *int                `json:"success_count,omitempty" minimum:"0" doc:"Tasks created. This and what follows is there once the upload has ended."`
	ErrorCount   *int                `json:"error_count,omitempty" minimum:"0" doc:"Rows that became no task."`
	Errors       []seeding.ItemError `json:"errors,omitzero" required:"false" doc:"The first 10,000, ordered by index, then by field name; error_count counts all rows. index is the position in tasks, or among the archive's files or folders in the order of their names."`
	TaskIDs      []int64             `json:"task_ids,omitzero" required:"false" doc:"Ids of the created tasks, in the order of their rows."`
	SkippedCount *int                `json:"skipped_count,omitempty" minimum:"0" doc:"Entries of the archive that belong to no task."`
	Skipped      []store.UploadSkip  `json:"skipped,omitzero" required:"false" doc:"The first 100 of them, and why."`
}

// Progress counts what is done.
type Progress struct {
	RowsTotal  int   `json:"rows_total" minimum:"0" doc:"0 until the archive was looked into, when the rows come from there."`
	RowsDone   int   `json:"rows_done" minimum:"0" doc:"Created or failed."`
	BytesTotal int64 `json:"bytes_total" minimum:"0" doc:"Of the files that rows name, unpacked; 0 until the archive was looked into."`
	BytesDone  int64 `json:"bytes_done" minimum:"0" doc:"Of the files that are stored for tasks."`
}

type uploadInput struct {
	InUpload
	Conditional
}

type uploadOutput struct {
	Status     int
	ETag       string `header:"ETag"`
	RetryAfter string `header:"Retry-After" doc:"Seconds until the next poll is worth it; absent once the upload has ended."`
	Body       Upload
}

// pollAfter is how many seconds a poller should wait for news.
const pollAfter = "2"

// getUpload answers 304 before it reads what became of the rows: the tag is
// that of the upload's own row, which changes with every batch and not after
// the end.
func (a *api) getUpload(ctx context.Context, in *uploadInput) (*uploadOutput, error) {
	u, err := a.upload(ctx, in.InUpload)
	if err != nil {
		return nil, err
	}
	out := &uploadOutput{Body: newUpload(u)}
	if !u.Ended() {
		out.RetryAfter = pollAfter
	}
	out.Status, out.ETag, _, err = in.answer(out.Body)
	if err != nil || out.Status == http.StatusNotModified || !u.Ended() {
		return out, err
	}
	result, err := a.Store.UploadResult(ctx, u.OrgID, u.ID)
	out.Body.Errors, out.Body.TaskIDs = result.Errors, result.TaskIDs
	return out, err
}

func newUpload(u store.Upload) Upload {
	out := Upload{
		UploadID: u.ID, Status: u.Status, CreatedAt: u.CreatedAt.UTC(), UpdatedAt: u.UpdatedAt.UTC(), ExpiresAt: u.ExpiresAt.UTC(),
		Message: u.Message,
	}
	if u.ConfirmedAt != nil {
		out.Progress = &Progress{RowsTotal: u.RowsTotal, RowsDone: u.RowsDone, BytesTotal: u.BytesTotal, BytesDone: u.BytesDone}
	}
	if u.Ended() {
		out.SuccessCount, out.ErrorCount, out.SkippedCount = &u.SuccessCount, &u.ErrorCount, &u.SkippedCount
		if out.Skipped = u.Skipped; out.Skipped == nil {
			out.Skipped = []store.UploadSkip{}
		}
	}
	return out
}
