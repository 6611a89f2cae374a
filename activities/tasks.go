// Package activities holds the side effects of the workflows, grouped by what
// they depend on. Every activity is idempotent, because Temporal may run it
// again after a crash, and every error that leaves it is made in errors.go.
package activities

import (
	"context"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TaskStore is what task activities need of Postgres. Each write is fenced by
// the task's applied_seq, so that doing it again changes nothing.
type TaskStore interface {
	// LoadTask fails with fault.NotFound when there is no such task.
	LoadTask(ctx context.Context, taskID int64) (store.LoadedTask, error)
	LoadEvents(ctx context.Context, taskID, after int64, limit int) ([]pipeline.Event, error)
	ApplyStep(ctx context.Context, in store.StepInput) (store.StepResult, error)
	CheckDeadlines(ctx context.Context, taskID int64) (store.StepResult, error)
	// FailByOperator fails the task; a task that is over stays as it is.
	FailByOperator(ctx context.Context, taskID int64) error
}

// Tasks are the database steps of a task's run.
type Tasks struct {
	Store TaskStore
	// Waited hears how long people waited for each step that follows from what they
	// handed in; nil for nobody who listens.
	Waited func(time.Duration)
}

// LoadTask reads where a task stands.
func (a *Tasks) LoadTask(ctx context.Context, in TaskRef) (LoadTaskResult, error) {
	t, err := a.Store.LoadTask(ctx, in.TaskID)
	if err != nil {
		return LoadTaskResult{}, outward(ctx, err)
	}
	out, err := a.loaded(ctx, t)
	return out, outward(ctx, err)
}

// LoadEvents reads a page of a task's journal.
func (a *Tasks) LoadEvents(ctx context.Context, in LoadEventsInput) (LoadEventsResult, error) {
	events, err := a.Store.LoadEvents(ctx, in.TaskID, in.After, in.Limit)
	for i := range events {
		events[i] = Wire(events[i])
	}
	return LoadEventsResult{Events: events}, outward(ctx, err)
}

// ApplyStep writes what follows from a run of events.
func (a *Tasks) ApplyStep(ctx context.Context, in ApplyStepInput) (StepResult, error) {
	// A local activity is given the workflow's own values: what people wrote must not
	// come into them, from where they would go into the history with the next try.
	in.Changes = slices.Clone(in.Changes)
	if err := a.unwire(ctx, in.TaskID, in.Changes); err != nil {
		return StepResult{}, outward(ctx, err)
	}
	out, err := a.Store.ApplyStep(ctx, in)
	if err == nil && out.Waited > 0 && a.Waited != nil {
		a.Waited(out.Waited)
	}
	return out, outward(ctx, err)
}

// CheckDeadlines ends leases that ran out and escalates what took too long.
func (a *Tasks) CheckDeadlines(ctx context.Context, in TaskRef) (StepResult, error) {
	out, err := a.Store.CheckDeadlines(ctx, in.TaskID)
	return out, outward(ctx, err)
}

// FailTask fails the task of a run that an operator cancelled.
func (a *Tasks) FailTask(ctx context.Context, in TaskRef) error {
	return outward(ctx, a.Store.FailByOperator(ctx, in.TaskID))
}
