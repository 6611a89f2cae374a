// Package activities holds the side effects of the workflows, grouped by what
// they depend on. Every activity is idempotent, because Temporal may run it
// again after a crash, and every error that leaves it is made in errors.go.
package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// journalPage is how many events one query brings.
const journalPage = 500

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
}

// LoadTask reads where a task stands.
func (a *Tasks) LoadTask(ctx context.Context, in TaskRef) (LoadTaskResult, error) {
	t, err := a.Store.LoadTask(ctx, in.TaskID)
	if err != nil {
		return LoadTaskResult{}, outward(ctx, err)
	}
	holders, err := a.holders(ctx, t)
	if err != nil {
		return LoadTaskResult{}, outward(ctx, err)
	}
	return LoadTaskResult{
		PipelineID: t.PipelineID, PipelineName: t.PipelineName,
		Graph: t.Graph, State: wireState(t.State), Seq: t.Seq, Holders: holders,
	}, nil
}

// holders finds in the journal who made the claims that hold nodes now. Most
// runs load a task that nobody has claimed yet and pay nothing for it.
func (a *Tasks) holders(ctx context.Context, t store.LoadedTask) ([]Holder, error) {
	claimed := 0
	for _, n := range t.State.Nodes {
		if n.Status == task.NodeClaimed {
			claimed++
		}
	}
	var out []Holder
	for after := int64(0); len(out) < claimed; {
		events, err := a.Store.LoadEvents(ctx, t.TaskID, after, journalPage)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			n, _ := t.State.Node(e.Node)
			if e.Kind == pipeline.EventClaim && n.Status == task.NodeClaimed && n.Claim == e.Claim {
				out = append(out, Holder{Node: e.Node, Claim: e.Claim, User: e.Actor})
			}
			after = e.Seq
		}
		if len(events) < journalPage {
			break
		}
	}
	return out, nil
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
	out, err := a.Store.ApplyStep(ctx, in)
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
