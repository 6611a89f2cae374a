package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// How long one step goes on before it returns and is called again: a run of any
// size has a short history, and a step that is lost was not long.
const (
	stepRows = 20_000
	stepTime = 20 * time.Minute
	// shareTime is stepTime while other archives wait for this worker.
	shareTime = 2 * time.Minute
)

// errOver says that the upload has ended: nothing can be written any more.
var errOver = errors.New("the upload has ended")

// IngestRows makes tasks of rows, batch by batch, until all are done, it has
// worked long enough, or it is stopped. What it has done is in Postgres, where
// the next call goes on.
func (a *Uploads) IngestRows(ctx context.Context, in UploadRef) (UploadProgress, error) {
	defer keepAlive(ctx)()
	leave, err := a.enter(ctx)
	if err != nil {
		return UploadProgress{}, err
	}
	defer leave()
	out, err := a.ingestRows(ctx, in)
	return out, outwardOf(ctx, err)
}

func (a *Uploads) ingestRows(ctx context.Context, in UploadRef) (UploadProgress, error) {
	id, err := parseUpload(in.UploadID)
	if err != nil {
		return UploadProgress{}, err
	}
	u, err := a.Store.LoadUpload(ctx, id)
	if err != nil || u.Status != store.UploadProcessing {
		return progress(u), err
	}
	if u.CancelRequested {
		return UploadProgress{}, errCalledOff()
	}
	if !u.Inspected {
		// The run has had its look, and Postgres was put back to before it.
		return a.inspect(ctx, in)
	}
	waiting, err := a.Store.WaitingRows(ctx, id, 1)
	if err != nil {
		return UploadProgress{}, err
	}
	if len(waiting) == 0 {
		// Postgres may have lost only the end of the upload, so long ago that the archive
		// was swept. Nothing is left to read in it.
		return a.reached(ctx, id, true)
	}
	going, stop := untilStopped(ctx)
	defer stop()
	working, end := a.untilCancelled(going, id)
	defer end()
	done := false
	i, err := a.open(working, u)
	if err == nil {
		done, err = i.rows(working)
	}
	why, refused := errors.AsType[*unusable](err)
	switch {
	case refused:
		return a.refuse(ctx, u, why)
	case err != nil && errors.Is(context.Cause(working), errCancelled):
		return UploadProgress{}, errCalledOff()
	case errors.Is(err, errOver), err != nil && working.Err() != nil && ctx.Err() == nil: // another worker goes on
	case err != nil:
		return UploadProgress{}, err
	}
	return a.reached(ctx, id, done)
}

// reached is how far an upload is after a step that found no row waiting any more, or
// left some.
func (a *Uploads) reached(ctx context.Context, id uuid.UUID, done bool) (UploadProgress, error) {
	u, err := a.Store.LoadUpload(ctx, id)
	out := progress(u)
	out.Done = done && u.Inspected // else Postgres was put back meanwhile, and there was nothing to do yet
	return out, err
}

// ingestion is an archive that is being worked on.
type ingestion struct {
	*Uploads

	upload  store.Upload
	archive *archive.Archive
	known   *shape
	// kept are entries that another batch shall not read again: bad ones, and
	// large ones that are stored.
	kept map[*archive.Entry]*batchFile
	// orphans are files that were stored, but which no task has.
	orphans []uuid.UUID
}

// open reads the directory of the archive that was confirmed. Reading ends with
// ctx.
func (a *Uploads) open(ctx context.Context, u store.Upload) (*ingestion, error) {
	found, err := archive.Open(a.Objects.Archive(ctx, u.ObjectKey, u.ArchiveBytes, u.ArchiveETag), a.Limits)
	if err != nil {
		return nil, ofArchive(err)
	}
	return &ingestion{Uploads: a, upload: u, archive: found, kept: map[*archive.Entry]*batchFile{}}, nil
}

// rows works until every row is done, which it reports, or its time is over.
func (i *ingestion) rows(ctx context.Context) (done bool, err error) {
	began, n := time.Now(), 0
	for {
		waiting, err := i.Store.WaitingRows(ctx, i.upload.ID, batchRows)
		if err != nil {
			return false, err
		}
		if len(waiting) == 0 {
			// Nothing can name a file any more, not even from a step that was
			// given up and is still at work.
			return true, i.dropOrphans(ctx)
		}
		finished, err := i.batch(ctx, waiting)
		if errors.Is(err, errOver) {
			return false, errors.Join(err, i.dropOrphans(ctx))
		}
		if err != nil {
			return false, err
		}
		n += finished
		worked := time.Since(began)
		if n >= stepRows || worked >= stepTime || worked >= shareTime && i.waiting.Load() > 0 || stopping(ctx) {
			return false, nil
		}
	}
}

// dropOrphans deletes files that no task has, once none can get them any more.
// It is a courtesy: when it fails they stay.
func (i *ingestion) dropOrphans(ctx context.Context) error {
	if len(i.orphans) == 0 {
		return nil
	}
	kept, err := i.Store.FilesByID(ctx, i.upload.OrgID, i.orphans)
	if err != nil {
		return err
	}
	needed := make(map[uuid.UUID]bool, len(kept))
	for _, f := range kept {
		needed[f.ID] = true
	}
	for _, id := range i.orphans {
		if needed[id] {
			continue
		}
		if err := i.Objects.Delete(ctx, i.fileKey(id)); err != nil && fault.Is(err, fault.Unavailable) {
			return nil // the rows are done all the same
		}
	}
	i.orphans = nil
	return nil
}
