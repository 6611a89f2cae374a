package v1

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// zipType is the content type that the archive must be put with.
const zipType = "application/zip"

// UploadStarted is the answer of an init (spec 4.2.1).
type UploadStarted struct {
	UploadID  uuid.UUID `json:"upload_id" format:"uuid" doc:"What confirm and the status ask for."`
	UploadURL string    `json:"upload_url" format:"uri" doc:"PUT the archive here, with the header Content-Type: application/zip. It goes straight to storage."`
	ExpiresAt time.Time `json:"expires_at" doc:"When upload_url stops working."`
	Status    string    `json:"status" enum:"pending" doc:"Confirm the upload once the archive is stored."`
}

func (a *api) registerInit() {
	op := a.operation(huma.Operation{
		OperationID: "initUpload", Method: http.MethodPost, Path: uploadPath, Tags: []string{"Uploads"},
		DefaultStatus: http.StatusAccepted,
		Summary:       "Start an upload of tasks with files",
		Description: "For workflows whose schema says has_file_upload_fields. Answers with the address that takes the archive. tasks may be left out only when " +
			"has_only_file_upload_fields is true. Then the top level of the archive gives the rows: with one file upload field each file there becomes a task, " +
			"with several each folder becomes a task, and the files in it go to the fields of their names (front.png to front). " +
			"Items are checked now as far as that is possible without the files; what is wrong with some is told with the result, " +
			"and when every item is wrong the answer is 422 and carries the result fields.",
		SkipValidateParams: true,
		Responses: map[string]*huma.Response{"202": {
			Description: "Accepted: put the archive to upload_url, then confirm.",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: a.schemaOf(reflect.TypeFor[UploadStarted](), "UploadStarted")}},
		}},
	}, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	refused := op.Responses["422"].Content["application/json"]
	refused.Schema = &huma.Schema{AnyOf: []*huma.Schema{refused.Schema, a.schemaOf(reflect.TypeFor[FailedResult](), "FailedResult")}}
	huma.Register(a.huma, op, a.initUpload)
	// Described only now: huma reads the body of an operation that has one when
	// it is registered, and would parse 32 MB twice.
	a.huma.OpenAPI().Paths[op.Path].Post.RequestBody = &huma.RequestBody{
		Content: map[string]*huma.MediaType{"application/json": {
			Schema:  a.schemaOf(reflect.TypeFor[uploadRequest](), "InitUpload"),
			Example: map[string]any{"tasks": []any{map[string]any{"fields": map[string]any{"scan": "scans/0001.png"}}}, "file_size_bytes": 1 << 20},
		}},
	}
}

func (a *api) initUpload(ctx context.Context, in *createInput) (*createOutput, error) {
	if in.WorkflowID < 1 {
		return nil, fault.New(fault.NotFound, "workflow %d not found", in.WorkflowID)
	}
	p, err := a.workflow(ctx, in.WorkflowID)
	if err != nil {
		return nil, err
	}
	if err := a.mayUpload(ctx); err != nil {
		return nil, err
	}
	body, err := in.Payload.ReadOptional(a.Bodies, edge.MaxBody)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	route := fmt.Sprintf("POST %s/workflows/%d/tasks/upload", Prefix, p.ID)
	key, earlier, err := a.idempotent(ctx, in.Payload, route, body.Bytes)
	if err != nil || earlier != nil {
		return earlier, err
	}
	return a.acceptUpload(ctx, p, body.Bytes, key)
}

// idempotent returns the request's idempotency key, or the answer that an
// earlier request with it got.
func (a *api) idempotent(ctx context.Context, p edge.Payload, route string, body []byte) (*store.IdempotencyKey, *createOutput, error) {
	key, err := idempotency(p.Header(idempotencyHeader), caller(ctx), route, body)
	if err != nil || key == nil {
		return nil, nil, err
	}
	earlier, err := a.Store.FindAnswer(ctx, *key)
	return key, replay(earlier), err
}

func (a *api) acceptUpload(ctx context.Context, p store.PipelineRow, body []byte, key *store.IdempotencyKey) (*createOutput, error) {
	version, err := a.uploadable(ctx, p)
	if err != nil {
		return nil, err
	}
	asked, err := decodeUpload(body, version.Seed.Seeds)
	if err != nil {
		return nil, err
	}
	if asked.tasks == nil && !version.Seed.OnlyFileUpload() {
		return nil, fault.New(fault.Validation,
			"tasks is required: workflow %d has fields that are no file uploads (has_only_file_upload_fields is false)", p.ID)
	}
	rows, refused, err := uploadRows(version, asked.tasks)
	if err != nil || refused != nil {
		return refused, err
	}
	if a.Uploads.Objects == nil {
		return nil, fault.New(fault.Unavailable, "this deployment has no object store for uploads; its operator sets S3_BUCKET")
	}
	return a.storeUpload(ctx, p, asked.size, rows, key)
}

// uploadable returns the version that new tasks get, or why the workflow takes
// none by this endpoint.
func (a *api) uploadable(ctx context.Context, p store.PipelineRow) (*pipeline.Pipeline, error) {
	if !pipeline.AcceptsTasks(p.Status) || p.VersionID == nil {
		return nil, store.NotAccepting(p.Status)
	}
	version, err := a.Store.Version(ctx, *p.VersionID)
	if err != nil {
		return nil, err
	}
	if !version.Seed.HasFileUpload() {
		return nil, fault.New(fault.Validation,
			"workflow %d has no file upload fields (has_file_upload_fields is false); create its tasks from JSON", p.ID)
	}
	return version, nil
}

// uploadRows makes rows of items; the answer when none of them is good.
func uploadRows(version *pipeline.Pipeline, items []seeding.Item) ([]store.UploadRow, *createOutput, error) {
	if items == nil {
		return nil, nil, nil
	}
	errs, ok := seeding.PreCheck(version, items, seeding.Budget(items))
	rows := make([]store.UploadRow, len(items))
	good := 0
	for i, item := range items {
		rows[i] = store.UploadRow{Index: i, Fields: item.Fields}
		if ok[i] {
			good++
		}
	}
	if good == 0 {
		refused, err := refuseAll(len(items), errs)
		return nil, refused, err
	}
	for _, e := range errs {
		rows[e.Index].Errors = append(rows[e.Index].Errors, e)
	}
	return rows, nil, nil
}

func (a *api) storeUpload(ctx context.Context, p store.PipelineRow, size *int64, rows []store.UploadRow, key *store.IdempotencyKey) (*createOutput, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make upload id: %w", err)
	}
	lives := uploadLives(size)
	object := fmt.Sprintf("org/%d/uploads/%s.zip", p.OrgID, id)
	url, err := a.Uploads.Objects.PresignPut(ctx, object, zipType, lives)
	if err != nil {
		return nil, err
	}
	answer := func(u store.Upload) (int, []byte) {
		return http.StatusAccepted, encode(UploadStarted{UploadID: u.ID, UploadURL: url, ExpiresAt: u.ExpiresAt.UTC(), Status: u.Status})
	}
	u, replayed, err := a.Store.CreateUpload(ctx, store.NewUpload{
		ID: id, OrgID: p.OrgID, PipelineID: p.ID, Actor: caller(ctx).CreatedBy, KeyID: caller(ctx).ID, ObjectKey: object,
		FileSizeBytes: size, Lives: lives, Rows: rows, Idempotency: key, Answer: answer,
	})
	if err != nil || replayed != nil {
		return replay(replayed), err
	}
	return jsonOutput(answer(u)), nil
}
