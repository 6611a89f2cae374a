package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// Upload is a ZIP ingestion as admins see it.
type Upload struct {
	UploadID        uuid.UUID  `json:"upload_id" format:"uuid"`
	Status          string     `json:"status" enum:"pending,processing,completed,failed,cancelled"`
	Reason          string     `json:"reason" doc:"Why it failed or was cancelled, for programs: expired, withdrawn, cancelled, operator, archive, no_tasks, timeout; empty otherwise."`
	Message         string     `json:"message" doc:"The same for people."`
	ArchiveBytes    int64      `json:"archive_bytes"`
	RowsTotal       int        `json:"rows_total" doc:"0 until the archive was looked into, when the rows come from there."`
	RowsDone        int        `json:"rows_done"`
	BytesTotal      int64      `json:"bytes_total"`
	BytesDone       int64      `json:"bytes_done"`
	SuccessCount    int        `json:"success_count" doc:"Tasks created so far."`
	ErrorCount      int        `json:"error_count" doc:"Rows that became no task so far."`
	SkippedCount    int        `json:"skipped_count" doc:"Entries of the archive that belong to no task."`
	CancelRequested bool       `json:"cancel_requested"`
	CreatedAt       time.Time  `json:"created_at"`
	ExpiresAt       time.Time  `json:"expires_at"`
	ConfirmedAt     *time.Time `json:"confirmed_at"`
	FinishedAt      *time.Time `json:"finished_at"`
}

// UploadDetail is an upload with what became of its rows so far.
type UploadDetail struct {
	Upload
	Errors  []seeding.ItemError `json:"errors" doc:"Ordered by row, then by field name: the first 250 while the upload runs, the first 10,000 once it has ended. error_count counts all rows."`
	TaskIDs []int64             `json:"task_ids" doc:"The first 100, in the order of the rows; success_count counts all."`
	Skipped []store.UploadSkip  `json:"skipped" doc:"The first 100 of the skipped entries."`
}

// OnUpload is embedded by every operation on an upload.
type OnUpload struct {
	InPipeline
	UploadID string `path:"upload_id" maxLength:"64"`
}

func (in OnUpload) id() (uuid.UUID, error) {
	id, err := uuid.Parse(in.UploadID)
	if err != nil {
		return uuid.Nil, fault.New(fault.NotFound, "upload not found: upload_id in the path is a UUID")
	}
	return id, nil
}

type uploadsInput struct {
	InPipeline
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	After string `query:"after" maxLength:"64" doc:"Id of the last upload of the page before."`
}

type uploadsOutput struct {
	Body struct {
		Uploads []Upload `json:"uploads" doc:"Newest first."`
		HasMore bool     `json:"has_more"`
	} `nameHint:"UploadList"`
}

type (
	uploadOutput       struct{ Body Upload }
	uploadDetailOutput struct{ Body UploadDetail }
)

func (a *api) registerUploads() {
	register(a, huma.Operation{
		OperationID: "listUploads", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/uploads", Tags: []string{"Uploads"},
		Summary: "List the ZIP uploads of a pipeline", Description: "Newest first.",
	}, a.listUploads)
	register(a, huma.Operation{
		OperationID: "getUploadDetail", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/uploads/{upload_id}", Tags: []string{"Uploads"},
		Summary: "Get a ZIP upload", Description: "With its progress, its first errors by row and its first tasks.",
	}, a.getUpload)
	register(a, huma.Operation{
		OperationID: "cancelUpload", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/uploads/{upload_id}/cancel", Tags: []string{"Uploads"},
		Summary: "Cancel a ZIP upload",
		Description: "One that is not confirmed ends at once; one that is processing stops as soon as it can, and tasks made so far stay. " +
			"One that has ended stays as it is.",
	}, a.cancelUpload)
}

func newUpload(u store.Upload) Upload {
	return Upload{
		UploadID: u.ID, Status: u.Status, Reason: u.Reason, Message: u.Message, ArchiveBytes: u.ArchiveBytes,
		RowsTotal: u.RowsTotal, RowsDone: u.RowsDone, BytesTotal: u.BytesTotal, BytesDone: u.BytesDone,
		SuccessCount: u.SuccessCount, ErrorCount: u.ErrorCount, SkippedCount: u.SkippedCount, CancelRequested: u.CancelRequested,
		CreatedAt: u.CreatedAt.UTC(), ExpiresAt: u.ExpiresAt.UTC(), ConfirmedAt: u.ConfirmedAt, FinishedAt: u.FinishedAt,
	}
}

func (a *api) listUploads(ctx context.Context, in *uploadsInput) (*uploadsOutput, error) {
	after := uuid.Nil
	if in.After != "" {
		var err error
		if after, err = uuid.Parse(in.After); err != nil {
			return nil, fault.New(fault.InvalidRequest, "after is no id of an upload: send the upload_id of the last one of the page before")
		}
	}
	found, err := a.Store.ListUploads(ctx, membership(ctx).OrgID, in.PipelineID, in.Limit+1, after)
	if err != nil {
		return nil, err
	}
	out := &uploadsOutput{}
	out.Body.HasMore = len(found) > in.Limit
	out.Body.Uploads = []Upload{}
	for _, u := range found[:min(len(found), in.Limit)] {
		out.Body.Uploads = append(out.Body.Uploads, newUpload(u))
	}
	return out, nil
}

func (a *api) getUpload(ctx context.Context, in *OnUpload) (*uploadDetailOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	u, err := a.Store.FindUpload(ctx, membership(ctx).OrgID, in.PipelineID, id)
	if err != nil {
		return nil, err
	}
	result, err := a.Store.ShownResult(ctx, u)
	if err != nil {
		return nil, err
	}
	out := &uploadDetailOutput{Body: UploadDetail{Upload: newUpload(u), Errors: result.Errors, TaskIDs: result.TaskIDs, Skipped: u.Skipped}}
	if out.Body.Skipped == nil {
		out.Body.Skipped = []store.UploadSkip{}
	}
	return out, nil
}

func (a *api) cancelUpload(ctx context.Context, in *OnUpload) (*uploadOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	m := membership(ctx)
	u, err := a.Store.CancelUpload(ctx, m.OrgID, in.PipelineID, id, m.UserID)
	if err != nil {
		return nil, err
	}
	return &uploadOutput{Body: newUpload(u)}, nil
}
