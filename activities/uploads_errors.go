package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// unusable is the error of an archive that cannot be worked on, now or later.
// Its message is for the caller of the upload.
type unusable struct{ message string }

func (e *unusable) Error() string { return "the archive cannot be used: " + e.message }

// ofArchive sorts out an error of reading the archive: what its owner has to
// mend becomes unusable, the rest may pass.
func ofArchive(err error) error {
	f, known := errors.AsType[*fault.Error](err)
	switch {
	case !known:
		return err
	case f.Kind == fault.NotFound:
		return &unusable{"the archive is no longer in the object store; make a new upload"}
	case f.Kind == fault.Conflict, f.Kind == fault.Validation:
		return &unusable{f.Message}
	}
	return err
}

// outwardOf is outward for the steps of an upload, which also depend on the
// object store.
func outwardOf(ctx context.Context, err error) error {
	var own *temporal.ApplicationError
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case ctx.Err() != nil:
		return ctx.Err() // called off; whatever failed then failed of it
	}
	kind := fault.KindOf(err)
	activity.GetLogger(ctx).Warn("A step of an upload failed.", "kind", string(kind), "cause", err.Error())
	text := "the step failed; the worker's log says why"
	switch kind {
	case fault.Unavailable:
		text = "the database or the object store is not available; the step is tried again"
	case fault.NotFound:
		text = "there is no such upload"
	default:
	}
	// A plan of a part of the rows is final: better an upload that failed than one
	// that lacks them in silence.
	final := !passing(kind) || errors.Is(err, store.ErrForeignPlan)
	return temporal.NewApplicationErrorWithOptions(text, string(kind), temporal.ApplicationErrorOptions{NonRetryable: final})
}

// errSuperseded ends a look into an archive that another one took over from. It
// says nothing of the archive: Temporal knows which of the two it waits for.
func errSuperseded() error {
	return temporal.NewApplicationErrorWithOptions("another worker looks into the archive", "superseded", temporal.ApplicationErrorOptions{
		NextRetryDelay: lookRetry, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// cancelRetry is when a step of an upload that was cancelled comes again, should
// its run not have heard of it by then.
const cancelRetry = 3 * time.Second

// errCalledOff ends a step of an upload that was cancelled. It is the run that
// ends the upload, as soon as it hears of it, and that calls the step off which
// waits for its next attempt: no attempt costs history.
func errCalledOff() error {
	return temporal.NewApplicationErrorWithOptions("the upload was cancelled", "cancelled", temporal.ApplicationErrorOptions{
		NextRetryDelay: cancelRetry, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// sweepRetry is when a sweep goes on whose attempt had no time for the rest.
const sweepRetry = time.Second

// errSweepGoesOn ends an attempt at a sweep that hands the rest to the next one.
func errSweepGoesOn() error {
	return temporal.NewApplicationErrorWithOptions("the sweep goes on where it was", "unfinished", temporal.ApplicationErrorOptions{
		NextRetryDelay: sweepRetry, Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// errUnswept ends a sweep that is through, and passed over what it could not delete.
// It is for the next sweep to try that again: this one would find nothing else.
func errUnswept(done SweepResult) error {
	return temporal.NewApplicationErrorWithOptions("some of what is left could not be deleted; the worker's log says why, and the next sweep tries it again",
		"unswept", temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{done}})
}

func parseUpload(id string) (uuid.UUID, error) {
	out, err := uuid.Parse(id)
	if err != nil {
		return out, fault.New(fault.NotFound, "upload %q not found", id).Because(fmt.Errorf("parse id: %w", err))
	}
	return out, nil
}
