package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// journalPage is how many events one reading of the journal brings, and how
// many one step applies at most.
const journalPage = 100

// TaskInput names the task of a run.
type TaskInput struct {
	TaskID int64 `json:"task_id"`
	// Carried is what the run before this one knew; nil for a new run, which
	// asks Postgres.
	Carried *Carried `json:"carried,omitempty"`
}

// Carried is all that a run knows, in the shape that survives
// continue-as-new. Everything in it can be read from Postgres again.
type Carried struct {
	PipelineID   int64               `json:"pipeline_id"`
	PipelineName string              `json:"pipeline_name"`
	Identity     activities.Identity `json:"identity,omitzero"`
	Graph        pipeline.Graph      `json:"graph"`
	State        pipeline.State      `json:"state"`
	Holders      []activities.Holder `json:"holders,omitempty"`
	// Last is the event at State.Seq, where it is known.
	Last pipeline.Event `json:"last,omitzero"`
	// Known is the highest number that the journal is known to hold.
	Known int64 `json:"known"`
	// Label is the value of TaskStateAttribute that operators see now.
	Label string `json:"label"`
	// Misses counts the deadlines in a row that turned out not to be due.
	Misses int `json:"misses,omitempty"`
	// Ahead is how far the database's clock, by which deadlines are set, is
	// ahead of Temporal's, by which timers fire; 0 when it is about the same.
	Ahead time.Duration `json:"ahead,omitempty"`
	// Heard says that the database has told the time.
	Heard bool `json:"heard,omitempty"`
}

// TaskResult is how a task ended.
type TaskResult struct {
	Status task.Status `json:"status"`
	Seq    int64       `json:"seq"`
}

// TaskWorkflow walks one task through its pipeline. Postgres has accepted
// every event before it comes here; the run puts them in the order of the
// journal, asks pipeline.Step what follows and has that written.
func TaskWorkflow(ctx workflow.Context, in TaskInput) (TaskResult, error) {
	run := newTaskRun(ctx, in)
	if err := run.answerQueries(ctx); err != nil {
		return TaskResult{}, fmt.Errorf("register query: %w", err)
	}
	for {
		if ended, out, err := run.turn(ctx); ended {
			return out, err
		}
		run.next(ctx).Select(ctx)
	}
}

// taskRun is one run under way. One goroutine owns it and all its channels: a
// message that another one had received would be missed by the last look
// before the run ends.
type taskRun struct {
	Carried

	taskID int64
	loaded bool
	// behind says that the journal holds events whose signals may not come.
	behind  bool
	signals []workflow.ReceiveChannel
	inbox   inbox
	alarm   alarm
}

func newTaskRun(ctx workflow.Context, in TaskInput) *taskRun {
	r := &taskRun{taskID: in.TaskID}
	if in.Carried != nil {
		r.Carried, r.loaded = *in.Carried, true
	}
	if r.Label == "" {
		r.Label = TaskActive // the dispatcher starts runs with it
	}
	for _, s := range []struct{ name, does string }{
		{ClaimSignal, "Somebody took a node."},
		{ReleaseSignal, "Somebody gave a node back."},
		{SubmitSignal, "Somebody handed in a node."},
		{ReviewSignal, "A reviewer gave a verdict."},
		{ControlSignal, "An admin acted; an empty {} only makes the run read the journal again."},
	} {
		r.signals = append(r.signals, workflow.GetSignalChannelWithOptions(ctx, s.name,
			workflow.SignalChannelOptions{Description: s.does}))
	}
	return r
}

// turn does one thing at a time, what arrived first and then the most urgent step,
// until nothing is left to do, or the run ends.
func (r *taskRun) turn(ctx workflow.Context) (ended bool, out TaskResult, err error) {
	for {
		r.receive()
		if ctx.Err() != nil {
			return true, TaskResult{}, r.cancelled(ctx)
		}
		moved, err := r.advance(ctx)
		switch {
		case ctx.Err() != nil:
			continue
		case err != nil:
			return true, TaskResult{}, err
		case moved:
			continue
		}
		r.describe(ctx)
		if r.State.Done() {
			return true, TaskResult{Status: r.State.Status(), Seq: r.State.Seq}, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			next := r.Carried
			return true, TaskResult{}, workflow.NewContinueAsNewError(ctx, TaskWorkflow, TaskInput{TaskID: r.taskID, Carried: &next})
		}
		r.arm(ctx)
		return false, TaskResult{}, nil
	}
}

// receive takes everything that has arrived, without blocking.
func (r *taskRun) receive() {
	for _, ch := range r.signals {
		for {
			var e pipeline.Event
			if !ch.ReceiveAsync(&e) {
				break
			}
			r.inbox.add(e)
		}
	}
}

// next selects a signal, the alarm or a cancellation. There is no default branch,
// and a signal stays in its channel until receive takes it. TaskWorkflow itself waits
// for it: runs spend their lives there, thousands of them in a worker's memory, and
// each function between would make all of their stacks larger.
func (r *taskRun) next(ctx workflow.Context) workflow.Selector {
	sel := workflow.NewNamedSelector(ctx, "what happens next")
	for _, ch := range r.signals {
		sel.AddReceive(ch, func(workflow.ReceiveChannel, bool) {})
	}
	if r.alarm.timer != nil {
		sel.AddFuture(r.alarm.timer, func(workflow.Future) { r.alarm.ring() })
	}
	sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	return sel
}

// advance does the most urgent step and reports whether there was one.
func (r *taskRun) advance(ctx workflow.Context) (bool, error) {
	switch {
	case !r.loaded, r.inbox.nudged:
		return true, r.load(ctx)
	case r.inbox.ready(r.State.Seq):
		return true, r.step(ctx)
	case r.inbox.gap(), r.Known > r.State.Seq && (r.behind || r.State.Done()):
		return true, r.refill(ctx)
	case r.alarm.rang:
		return true, r.checkDeadlines(ctx)
	}
	return false, nil
}

// cancelled carries out an operator's cancellation: the product's task fails,
// so that nobody waits for a run that will not come back.
func (r *taskRun) cancelled(ctx workflow.Context) error {
	detached, _ := workflow.NewDisconnectedContext(ctx)
	_, err := dbCall[struct{}](detached, "fail the task: its run was cancelled", tasks.FailTask, activities.TaskRef{TaskID: r.taskID})
	if err != nil {
		return err
	}
	return temporal.NewCanceledError("the run was cancelled, the task has failed")
}
