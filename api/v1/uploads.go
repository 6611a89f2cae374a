package v1

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// Uploads is what ZIP ingestion needs beside the database.
type Uploads struct {
	// Objects is the object store; nil when the deployment has none.
	Objects Objects
	// Reachable reports whether a worker can take an upload now: nil for yes.
	// It answers within two seconds.
	Reachable func(ctx context.Context) error
	// MaxArchiveBytes bounds an archive; 0 means 5 GiB, the most that one PUT
	// carries.
	MaxArchiveBytes int64
}

// Objects is the part of the object store that uploads need.
type Objects interface {
	PresignPut(ctx context.Context, key, contentType string, lives time.Duration) (string, error)
	Head(ctx context.Context, key string) (blob.Object, error)
}

// defaultMaxArchive is the most that S3 takes in one PUT.
const defaultMaxArchive = 5 << 30

func (u Uploads) maxArchive() int64 {
	if u.MaxArchiveBytes > 0 {
		return u.MaxArchiveBytes
	}
	return defaultMaxArchive
}

// How long the address for an archive works (spec 4.2): an hour, and as much
// more as the archive takes at a slow line's pace, up to twelve.
const (
	uploadLivesLeast = time.Hour
	uploadLivesMost  = 12 * time.Hour
	uploadPace       = 1 << 20 // bytes a second
)

func uploadLives(size *int64) time.Duration {
	if size == nil {
		return uploadLivesLeast
	}
	// Compared before it is multiplied: any size may be announced.
	extra := min(*size/uploadPace, int64((uploadLivesMost-uploadLivesLeast)/time.Second))
	return uploadLivesLeast + time.Duration(extra)*time.Second
}

// InUpload is embedded by the operations on an upload.
type InUpload struct {
	InWorkflow
	UploadID string `path:"upload_id" format:"uuid" doc:"Id of the upload, within the workflow."`
}

// id returns the upload's id: what is no UUID names nothing.
func (in InUpload) id() (uuid.UUID, error) {
	id, err := uuid.Parse(in.UploadID)
	if err != nil || len(in.UploadID) != len(uuid.Nil.String()) {
		return uuid.Nil, fault.New(fault.NotFound, "upload not found: upload_id in the path is a UUID")
	}
	return id, nil
}

func (a *api) registerUploads() {
	a.registerInit()
	a.registerConfirm()
	huma.Register(a.huma, a.operation(huma.Operation{
		OperationID: "getUpload", Method: http.MethodGet, Path: uploadPath + "/{upload_id}", Tags: []string{"Uploads"},
		Summary: "Get the status of an upload",
		Description: "Poll it until status is completed (at least one task was created), failed (the archive cannot be used, or every row failed) or cancelled " +
			"(not confirmed in time, or cancelled in the web app; tasks made before stay). While it is processing, progress counts rows and bytes. " +
			"An ended upload carries the counts, the errors by row, and the ids of its tasks.",
		Responses: notModified(), SkipValidateParams: true,
	}, http.StatusNotFound, http.StatusUnprocessableEntity), a.getUpload)
}

// uploadPath is where uploads of a workflow live.
const uploadPath = "/workflows/{workflow_id}/tasks/upload"

// mayUpload refuses keys whose creator was removed: the three ZIP endpoints act
// in that person's name (spec 5.6).
func (a *api) mayUpload(ctx context.Context) error {
	if caller(ctx).CreatorRemoved {
		return store.ErrCreatorRemoved
	}
	return nil
}

// upload finds an upload in the workflow of the path.
func (a *api) upload(ctx context.Context, in InUpload) (store.Upload, error) {
	id, err := in.id()
	if err != nil {
		return store.Upload{}, err
	}
	u, err := a.Store.FindUpload(ctx, caller(ctx).OrgID, in.WorkflowID, id)
	if err != nil {
		return u, absent(err, "upload %s not found in workflow %d", id, in.WorkflowID)
	}
	return u, a.mayUpload(ctx)
}

// schemaOf returns a reference to the document's schema of a type.
func (a *api) schemaOf(t reflect.Type, name string) *huma.Schema {
	return a.huma.OpenAPI().Components.Schemas.Schema(t, true, name)
}
