package v1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// UploadConfirmed is the answer of a confirmation (spec 4.2.3).
type UploadConfirmed struct {
	UploadID uuid.UUID `json:"upload_id" format:"uuid" doc:"The id of the path."`
	Status   string    `json:"status" enum:"processing" doc:"Poll the upload until it has ended."`
}

type confirmInput struct {
	InUpload
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"257" doc:"Makes retries safe: for 24 hours the same key gets the first success again. It belongs to the API key and the path. At most 255 printable ASCII characters, bare or in double quotes."`
	Payload        edge.Payload
}

func (a *api) registerConfirm() {
	huma.Register(a.huma, a.operation(huma.Operation{
		OperationID: "confirmUpload", Method: http.MethodPost, Path: uploadPath + "/{upload_id}/confirm", Tags: []string{"Uploads"},
		DefaultStatus: http.StatusAccepted,
		Summary:       "Confirm that the archive is stored",
		Description: "Starts the processing, once. 422 while the archive is not stored and 503 while no worker can take it leave the upload pending: try again. " +
			"So does 422 while the workflow is neither ACTIVE nor PAUSED: try again once it is. 409 says that it was confirmed already or is no longer pending.",
		SkipValidateParams: true,
		Responses: map[string]*huma.Response{"202": {
			Description: "Accepted: poll the upload.",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: a.schemaOf(reflect.TypeFor[UploadConfirmed](), "UploadConfirmed")}},
		}},
	}, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), a.confirmUpload)
}

// confirmUpload asks in an order in which every refusal leaves the upload as
// it is, the dear questions last (spec section 3).
func (a *api) confirmUpload(ctx context.Context, in *confirmInput) (*createOutput, error) {
	u, err := a.upload(ctx, in.InUpload)
	if err != nil {
		return nil, err
	}
	route := fmt.Sprintf("POST %s/workflows/%d/tasks/upload/%s/confirm", Prefix, u.PipelineID, u.ID)
	key, earlier, err := a.idempotent(ctx, in.Payload, route, nil)
	if err != nil || earlier != nil {
		return earlier, err
	}
	if u.Status != store.UploadPending {
		return nil, store.NotPending(u)
	}
	p, err := a.workflow(ctx, u.PipelineID)
	if err != nil {
		return nil, err
	}
	if !pipeline.AcceptsTasks(p.Status) { // ConfirmUpload asks again, when nobody can close it any more
		return nil, store.NotAccepting(p.Status)
	}
	edge.From(ctx).Leave() // others are asked, each for a bounded time
	object, err := a.stored(ctx, u)
	if err == nil {
		err = a.reachable(ctx)
	}
	if err != nil {
		return nil, a.asked(ctx, u, err)
	}
	answer := func(u store.Upload) (int, []byte) {
		return http.StatusAccepted, encode(UploadConfirmed{UploadID: u.ID, Status: u.Status})
	}
	u, replayed, err := a.Store.ConfirmUpload(ctx, store.ConfirmUpload{
		OrgID: u.OrgID, PipelineID: u.PipelineID, KeyID: caller(ctx).ID, ID: u.ID, ArchiveBytes: object.Size, ArchiveETag: object.ETag,
		Idempotency: key, Answer: answer,
	})
	if err != nil || replayed != nil {
		return replay(replayed), err
	}
	return jsonOutput(answer(u)), nil
}

// asked notes a refusal that says to try again, so that the upload is still pending
// by then. It returns the refusal, with what kept it from being noted.
func (a *api) asked(ctx context.Context, u store.Upload, refusal error) error {
	if !fault.Is(refusal, fault.Unavailable) {
		return refusal
	}
	if err := a.Store.AskedUpload(ctx, u.OrgID, u.PipelineID, u.ID); err != nil {
		return errors.Join(refusal, err)
	}
	return refusal
}

// stored finds the archive in the object store.
func (a *api) stored(ctx context.Context, u store.Upload) (blob.Object, error) {
	if a.Uploads.Objects == nil {
		return blob.Object{}, fault.New(fault.Unavailable, "this deployment has no object store for uploads; its operator sets S3_BUCKET")
	}
	object, err := a.Uploads.Objects.Head(ctx, u.ObjectKey)
	most := a.Uploads.maxArchive()
	switch {
	case fault.Is(err, fault.NotFound):
		return object, fault.New(fault.Validation,
			"the archive is not stored yet: PUT it to upload_url with Content-Type: %s, then confirm again", zipType).Because(err)
	case err != nil:
		return object, err
	case object.Size == 0:
		return object, fault.New(fault.Validation, "the stored archive is empty: PUT it to upload_url again, then confirm")
	case object.Size > most:
		return object, fault.New(fault.Validation,
			"the stored archive has %d bytes, %d are the most; PUT a smaller one to upload_url, then confirm, and send the rest in another upload", object.Size, most)
	}
	return object, nil
}

// workerRetry is how soon a confirmation is worth another try.
const workerRetry = 5 * time.Second

func (a *api) reachable(ctx context.Context) error {
	if a.Uploads.Reachable == nil {
		return nil
	}
	if err := a.Uploads.Reachable(ctx); err != nil {
		return fault.New(fault.Unavailable, "no worker can take the upload right now; it stays pending, try again").After(workerRetry).Because(err)
	}
	return nil
}
