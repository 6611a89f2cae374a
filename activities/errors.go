package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/internal/fault"
)

// outward turns an error into what may enter a history: its kind and a fixed
// sentence, no SQL and no values, since histories are read by more people than
// the database is. The full text goes to the worker's log, which is the only
// place that still has it.
func outward(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ctx.Err() // the SDK's own word for a step that was called off
	}
	kind := fault.KindOf(err)
	activity.GetLogger(ctx).Warn("A database step failed.", "kind", string(kind), "cause", err.Error())
	return temporal.NewApplicationErrorWithOptions(sentence(kind), string(kind),
		temporal.ApplicationErrorOptions{NonRetryable: !passing(kind)})
}

// passing reports whether another attempt may succeed. An internal error
// counts: the run waits for its repair instead of dying of it.
func passing(kind fault.Kind) bool {
	switch kind {
	case fault.Unavailable, fault.Internal, fault.RateLimited, fault.Conflict:
		return true
	case fault.NotFound, fault.Validation, fault.InvalidRequest, fault.Forbidden, fault.Unauthorized,
		fault.MissingAPIKey, fault.InvalidAPIKey, fault.PayloadTooLarge:
	}
	return false
}

func sentence(kind fault.Kind) string {
	switch kind {
	case fault.Unavailable, fault.RateLimited:
		return "the database is not available; the step is tried again"
	case fault.NotFound:
		return "there is no such task"
	case fault.Conflict, fault.Internal, fault.Validation, fault.InvalidRequest, fault.Forbidden, fault.Unauthorized,
		fault.MissingAPIKey, fault.InvalidAPIKey, fault.PayloadTooLarge:
	}
	return "the step failed; the worker's log says why"
}
