package activities

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"github.com/taskloom/taskloom/internal/store"
)

// sweepPage is how many uploads one look of the sweep takes up.
const sweepPage = 100

// sweepTold is how many failures of a sweep are told: with the object store away,
// there are as many as things to sweep.
const sweepTold = 10

// emptyPage is how many rows one statement empties.
const emptyPage = 2000

// dropTime is how long an archive that nobody confirmed may keep the others waiting.
const dropTime = 1500 * time.Millisecond

// SweepUploads rings the runs of uploads that stand still, ends uploads that
// were abandoned, and deletes what is left of archives and of files of people
// that nobody needs. Each of them goes on when another fails.
func (a *Uploads) SweepUploads(ctx context.Context) (SweepResult, error) {
	defer keepAlive(ctx)()
	var out SweepResult
	var rung error
	out.Rung, rung = a.Store.RingStuckUploads(ctx)
	expired := a.expire(ctx, &out)
	swept := a.sweep(ctx, &out)
	peoples := a.sweepPeoples(ctx, &out)
	return out, outwardOf(ctx, errors.Join(expired, swept, peoples, rung))
}

func (a *Uploads) expire(ctx context.Context, out *SweepResult) error {
	for {
		ended, err := a.Store.ExpireUploads(ctx, sweepPage)
		if err != nil {
			return err
		}
		out.Expired += len(ended)
		for _, u := range ended {
			a.dropArchive(ctx, u)
		}
		if len(ended) < sweepPage {
			return nil
		}
	}
}

// dropArchive deletes the archive of an upload that nobody confirmed: it made no task,
// and where Postgres loses its end it only ends once more. sweep does it again, as the
// archive may still be on its way.
func (a *Uploads) dropArchive(ctx context.Context, u store.Upload) {
	ctx, cancel := context.WithTimeout(ctx, dropTime)
	defer cancel()
	if err := a.Objects.Delete(ctx, u.ObjectKey); err != nil {
		activity.GetLogger(ctx).Warn("An archive is not deleted yet; the sweep comes for it.", "upload", u.ID.String(), "cause", err.Error())
	}
}

// sweep deletes what is left of uploads to which nothing can be put any more:
// the archive, files that no task came to have, and what rows held that did not
// come to their turn. What cannot be deleted now does not keep the others.
func (a *Uploads) sweep(ctx context.Context, out *SweepResult) error {
	n, err := sweepAll(
		func(after store.Upload) ([]store.Upload, error) { return a.Store.UploadsToSweep(ctx, after, sweepPage) },
		func(u store.Upload) error { return a.sweepOne(ctx, u) },
	)
	out.Swept += n
	return err
}

// sweepAll does each of what is left, in pages of sweepPage, and says how many it did.
// It goes on behind what fails: nothing due is kept waiting by what cannot go, however
// much of that there is.
func sweepAll[T any](left func(after T) ([]T, error), one func(T) error) (done int, err error) {
	var last T
	var failed []error
	for {
		page, err := left(last)
		if err != nil {
			return done, errors.Join(append(failed, err)...)
		}
		for _, last = range page {
			switch err := one(last); {
			case err == nil:
				done++
			case len(failed) < sweepTold:
				failed = append(failed, err)
			}
		}
		if len(page) < sweepPage {
			return done, errors.Join(failed...)
		}
	}
}

func (a *Uploads) sweepOne(ctx context.Context, u store.Upload) error {
	if err := a.Objects.Delete(ctx, u.ObjectKey); err != nil {
		return err
	}
	prefix, after := filesPrefix(u), ""
	for {
		keys, err := a.Objects.List(ctx, prefix, after)
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			break
		}
		if err := a.dropUnowned(ctx, u, prefix, keys); err != nil {
			return err
		}
		after = keys[len(keys)-1]
	}
	if err := a.emptyRows(ctx, u.ID); err != nil {
		return err
	}
	return a.Store.SweptUpload(ctx, u.ID)
}

// emptyRows goes over the rows in pages: an upload may have more than one
// statement can write in its time.
func (a *Uploads) emptyRows(ctx context.Context, id uuid.UUID) error {
	for last := -1; ; {
		var more bool
		var err error
		if last, more, err = a.Store.EmptyRows(ctx, id, last, emptyPage); err != nil || !more {
			return err
		}
	}
}

// dropUnowned deletes the objects whose files no task has: their worker died,
// or was stopped, before it wrote the rows.
func (a *Uploads) dropUnowned(ctx context.Context, u store.Upload, prefix string, keys []string) error {
	ids := make([]uuid.UUID, 0, len(keys))
	for _, key := range keys {
		if id, err := uuid.Parse(strings.TrimPrefix(key, prefix)); err == nil {
			ids = append(ids, id)
		}
	}
	known, err := a.Store.FilesByID(ctx, u.OrgID, ids)
	if err != nil {
		return err
	}
	owned := make(map[string]bool, len(known))
	for _, f := range known {
		owned[f.Key] = true
	}
	for _, key := range keys {
		if owned[key] {
			continue
		}
		if err := a.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
