package activities

import (
	"context"
	"errors"
)

// sweepPage is how many uploads one look of the sweep takes up.
const sweepPage = 100

// SweepUploads ends uploads that were abandoned, deletes what is left of
// archives that nobody needs, and rings the runs of uploads that stand still.
// Each of the three goes on when another fails.
func (a *Uploads) SweepUploads(ctx context.Context) (SweepResult, error) {
	defer keepAlive(ctx)()
	var out SweepResult
	expired := a.expire(ctx, &out)
	swept := a.sweep(ctx, &out)
	var rung error
	out.Rung, rung = a.Store.RingStuckUploads(ctx)
	return out, outwardOf(ctx, errors.Join(expired, swept, rung))
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

// sweep deletes the archives of uploads to which nothing can be put any more.
func (a *Uploads) sweep(ctx context.Context, out *SweepResult) error {
	for {
		left, err := a.Store.UploadsToSweep(ctx, sweepPage)
		if err != nil {
			return err
		}
		for _, u := range left {
			if err := a.Objects.Delete(ctx, u.ObjectKey); err != nil {
				return err // the next sweep goes on here
			}
			if err := a.Store.SweptUpload(ctx, u.ID); err != nil {
				return err
			}
			out.Swept++
		}
		if len(left) < sweepPage {
			return nil
		}
	}
}
