package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/store"
)

// sweepPeoples deletes what is left of files that people uploaded: the object
// that the browser put, copies that did not become the file, and files that are in
// no submission. What cannot be
// deleted now does not keep the others.
func (a *Uploads) sweepPeoples(ctx context.Context, out *SweepResult) error {
	n, err := sweepAll(
		func(after store.TaskFileLeft) ([]store.TaskFileLeft, error) {
			return a.Store.TaskFilesToSweep(ctx, after, sweepPage)
		},
		func(f store.TaskFileLeft) error { return a.sweepPeoplesFile(ctx, f) },
	)
	out.Swept += n
	return err
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
