package activities

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// UploadStore is what the ingestion of archives needs of Postgres. A write for
// an upload that has ended fails with fault.Conflict, and doing one again
// changes nothing: an activity that was given up may still be at work.
type UploadStore interface {
	// LoadUpload fails with fault.NotFound when there is no such upload.
	LoadUpload(ctx context.Context, id uuid.UUID) (store.Upload, error)
	// BeginUploadLook gives a look into an archive its number. What an earlier
	// look still writes fails with store.ErrNewerLook, as does a look that begins
	// when one is complete.
	BeginUploadLook(ctx context.Context, id uuid.UUID) (look int64, err error)
	SaveUploadRows(ctx context.Context, id uuid.UUID, look int64, rows []store.UploadRow) error
	SaveUploadPlan(ctx context.Context, id uuid.UUID, plan store.UploadPlan) error
	// WaitingRows returns the rows that are not done, in their order.
	WaitingRows(ctx context.Context, id uuid.UUID, limit int) ([]store.UploadRow, error)
	// FinishRows fails with store.ErrVersionChanged, and with fault.Validation
	// when the pipeline takes no tasks.
	FinishRows(ctx context.Context, in store.FinishRows) (store.FinishedRows, error)
	// FinishUpload leaves an upload that has ended as it is.
	FinishUpload(ctx context.Context, id uuid.UUID, end store.UploadEnd) (store.Upload, error)
	FilesByID(ctx context.Context, orgID int64, ids []uuid.UUID) ([]store.File, error)
	Pipeline(ctx context.Context, orgID, pipelineID int64) (store.PipelineRow, error)
	Version(ctx context.Context, versionID int64) (*pipeline.Pipeline, error)
	ExpireUploads(ctx context.Context, limit int) ([]store.Upload, error)
	// UploadsToSweep and TaskFilesToSweep return what is left behind the given one.
	UploadsToSweep(ctx context.Context, after store.Upload, limit int) ([]store.Upload, error)
	// EmptyRows empties the next rows that an ended upload did not use.
	EmptyRows(ctx context.Context, id uuid.UUID, after, limit int) (last int, more bool, err error)
	SweptUpload(ctx context.Context, id uuid.UUID) error
	RingStuckUploads(ctx context.Context) (int, error)
	TaskFilesToSweep(ctx context.Context, after store.TaskFileLeft, limit int) ([]store.TaskFileLeft, error)
	SweptTaskFile(ctx context.Context, f store.TaskFileLeft) error
	// StepsBehind is how long people wait for what follows from what they handed in.
	StepsBehind(ctx context.Context) (time.Duration, error)
}

// Objects is what the ingestion needs of the object store.
type Objects interface {
	// Archive reads an object as it was when it had this size and ETag; reads
	// fail with fault.Conflict when it was changed.
	Archive(ctx context.Context, key string, size int64, etag string) archive.Source
	// Put stores size bytes and tells their SHA-256 in hexadecimal digits; when the
	// body fails or has another length nothing is stored, and the body's error comes
	// through.
	Put(ctx context.Context, key, contentType string, size int64, body io.Reader) (sum string, err error)
	// Delete succeeds for what is not there.
	Delete(ctx context.Context, key string) error
	// List returns the first keys with the prefix that come after one of them.
	List(ctx context.Context, prefix, after string) ([]string, error)
}

// UploadsAtOnce is how many archives one worker reads at a time: each keeps its
// directory in memory, and the files that are on their way.
const UploadsAtOnce = 2

const (
	// slotWait is how long a step waits in line for one of them before another
	// worker may have it.
	slotWait = 10 * time.Second
	// slotRetry is when a step that was sent away comes again.
	slotRetry = 3 * time.Second
)

// Uploads are the steps of an upload's run.
type Uploads struct {
	Store   UploadStore
	Objects Objects
	Limits  archive.Limits

	slots   chan struct{}
	waiting atomic.Int32
	turns   *fileTurns
}

// NewUploads makes the activities of a worker.
func NewUploads(s UploadStore, o Objects, l archive.Limits) *Uploads {
	return &Uploads{
		Store: s, Objects: o, Limits: l,
		slots: make(chan struct{}, UploadsAtOnce), turns: newFileTurns(s, UploadsAtOnce*filesAtOnce),
	}
}

// enter takes one of the worker's slots. What finds none goes back to the task
// queue, where a worker that has time may find it: that costs no history.
func (a *Uploads) enter(ctx context.Context) (leave func(), err error) {
	a.waiting.Add(1)
	defer a.waiting.Add(-1)
	patience := time.NewTimer(slotWait)
	defer patience.Stop()
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-patience.C:
		return nil, temporal.NewApplicationErrorWithOptions("the worker reads other archives", "busy", temporal.ApplicationErrorOptions{
			NextRetryDelay: slotRetry, Category: temporal.ApplicationErrorCategoryBenign,
		})
	}
}

// fileID names the file that an entry of an archive becomes: the same one
// however often it is stored.
func fileID(upload uuid.UUID, entry string) uuid.UUID { return uuid.NewSHA1(upload, []byte(entry)) }
