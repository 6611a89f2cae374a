package activities

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"github.com/taskloom/taskloom/internal/store"
)

// emptyPage is how many rows one statement empties.
const emptyPage = 2000

// How long an archive that nobody confirmed may keep the others waiting, and how long
// all of them may keep what is due.
const (
	dropTime  = 1500 * time.Millisecond
	dropsTime = time.Minute
)

// SweepUploads rings the runs of uploads that stand still, ends uploads that
// were abandoned, and deletes what is left of archives and of files of people
// that nobody needs. Each of them goes on when another fails, and the last two go at
// the same time, so that neither waits for an object store that takes its time to
// refuse what is of the other.
//
// What cannot be deleted is passed over, and told in the end. An attempt that has no
// time for the rest leaves it to the next, which goes on where this one was: an attempt
// that began at the front again would come no further than the one before.
func (a *Uploads) SweepUploads(ctx context.Context) (SweepResult, error) {
	s := &sweep{Uploads: a, far: sweptBefore(ctx)}
	defer keepAliveAt(ctx, func() any { return s.progress() })()
	working, stop := untilStopped(ctx)
	defer stop()
	beginning := working
	if deadline, bounded := ctx.Deadline(); bounded {
		var done context.CancelFunc
		beginning, done = context.WithDeadline(working, deadline.Add(-handOver))
		defer done()
	}
	s.over = func() bool { return beginning.Err() != nil || stopping(ctx) }
	ended := s.ringAndExpire(working)
	var kinds sync.WaitGroup
	var uploads, files error
	kinds.Go(func() { uploads = s.goThrough(working, &s.far.Uploads, a.uploadsLeft) })
	kinds.Go(func() { files = s.goThrough(working, &s.far.Files, a.filesLeft) })
	kinds.Wait()

	is := s.progress()
	switch broken := errors.Join(ended, uploads, files); {
	case ctx.Err() != nil:
		return is.Done, ctx.Err() // called off; whatever failed then failed of it
	case broken != nil && working.Err() == nil:
		return is.Done, outwardOf(ctx, broken)
	case !is.Uploads.Through || !is.Files.Through:
		return is.Done, errSweepGoesOn()
	case is.Done.Failed > 0:
		return is.Done, errUnswept(is.Done)
	}
	return is.Done, nil
}

func (s *sweep) ringAndExpire(ctx context.Context) error {
	rung, err := s.Store.RingStuckUploads(ctx)
	s.note(func(p *SweepProgress) { p.Done.Rung += rung })
	return errors.Join(err, s.expire(ctx))
}

func (s *sweep) expire(ctx context.Context) error {
	dropping, done := context.WithTimeout(ctx, dropsTime)
	defer done()
	for {
		ended, err := s.Store.ExpireUploads(ctx, sweepPage)
		if err != nil {
			return err
		}
		s.note(func(p *SweepProgress) { p.Done.Expired += len(ended) })
		for _, u := range ended {
			s.dropArchive(dropping, u)
		}
		if len(ended) < sweepPage {
			return nil
		}
	}
}

// dropArchive deletes the archive of an upload that nobody confirmed: it made no task,
// and where Postgres loses its end it only ends once more. The sweep does it again a
// day later, as the archive may still be on its way: this is tried as long as there is
// time for it.
func (a *Uploads) dropArchive(ctx context.Context, u store.Upload) {
	if ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, dropTime)
	defer cancel()
	if err := a.Objects.Delete(ctx, u.ObjectKey); err != nil {
		activity.GetLogger(ctx).Warn("An archive is not deleted yet; the sweep comes for it.", "upload", u.ID.String(), "cause", err.Error())
	}
}

// uploadsLeft returns uploads to which nothing can be put any more, and of which
// something is left behind the given place: the archive, files that no task came to
// have, and what rows held that did not come to their turn.
func (a *Uploads) uploadsLeft(ctx context.Context, after SweepPlace) ([]leftover, error) {
	page, err := a.Store.UploadsToSweep(ctx, store.Upload{ExpiresAt: after.Due, ID: after.ID}, sweepPage)
	out := make([]leftover, len(page))
	for i, u := range page {
		out[i] = leftover{
			place: SweepPlace{Due: u.ExpiresAt, ID: u.ID},
			sweep: func(ctx context.Context) error { return a.sweepOne(ctx, u) },
		}
	}
	return out, err
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
