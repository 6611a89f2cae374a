package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/store"
)

// filesLeft returns files that people uploaded of which something is left behind the
// given place: the object that the browser put, copies that did not become the file,
// and files that are in no submission.
func (a *Uploads) filesLeft(ctx context.Context, after SweepPlace) ([]leftover, error) {
	page, err := a.Store.TaskFilesToSweep(ctx, store.TaskFileLeft{CreatedAt: after.Due, ID: after.ID}, sweepPage)
	out := make([]leftover, len(page))
	for i, f := range page {
		out[i] = leftover{
			place: SweepPlace{Due: f.CreatedAt, ID: f.ID},
			sweep: func(ctx context.Context) error { return a.sweepPeoplesFile(ctx, f) },
		}
	}
	return out, err
}

func (a *Uploads) sweepPeoplesFile(ctx context.Context, f store.TaskFileLeft) error {
	for _, key := range f.Keys {
		if err := a.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	if err := a.dropCopies(ctx, f); err != nil {
		return err
	}
	return a.Store.SweptTaskFile(ctx, f)
}

// dropCopies deletes what a completion copied and did not live to note.
func (a *Uploads) dropCopies(ctx context.Context, f store.TaskFileLeft) error {
	for after := ""; ; {
		keys, err := a.Objects.List(ctx, f.Copies, after)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, key := range keys {
			if key == f.Kept {
				continue
			}
			if err := a.Objects.Delete(ctx, key); err != nil {
				return err
			}
		}
		after = keys[len(keys)-1]
	}
}
