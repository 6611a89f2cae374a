package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
)

// tasks is a typed reference to the activities; the worker registers the real
// ones.
var tasks *activities.Tasks

// load reads the task from Postgres: at the start of a run, after a nudge, and
// when the rows turn out to be elsewhere than the run believes. The rows win,
// also when they are behind: then the database came back from a backup.
func (r *taskRun) load(ctx workflow.Context) error {
	asked := workflow.Now(ctx)
	got, err := dbCall[activities.LoadTaskResult](ctx, fmt.Sprintf("load task %d", r.taskID),
		tasks.LoadTask, activities.TaskRef{TaskID: r.taskID})
	if err != nil {
		return err
	}
	r.PipelineID, r.PipelineName, r.Identity = got.PipelineID, got.PipelineName, got.Identity
	r.Graph, r.State, r.Holders, r.Known, r.Last = got.Graph, got.State, got.Holders, got.Seq, got.Last
	r.clock(ctx, asked, got.Now)
	// Whoever begins in the middle of a task's life replaces a lost run, and
	// the signals may have gone to that one. The first event is on its way.
	r.behind = r.inbox.nudged || r.State.Seq > 1
	r.loaded, r.inbox.nudged, r.Misses = true, false, 0
	return r.relabel(ctx)
}

// step applies the events that are next in the journal's order, all of them in
// one write.
func (r *taskRun) step(ctx workflow.Context) error {
	events := r.inbox.next(r.State.Seq)
	state, from := r.State, r.State.Seq
	in := activities.ApplyStepInput{
		TaskID: r.taskID, Identity: r.Identity, From: from, To: events[len(events)-1].Seq, Events: events, Last: r.Last,
	}
	for _, e := range events {
		if !e.Kind.Known() {
			// Not an error of the run, which would end it: the workflow task fails, and
			// Temporal gives it out again until a newer worker takes it.
			panic(pipeline.Unknown(e))
		}
		if planted.Enabled && planted.Is(planted.PlanPanics) && planted.Poisoned(r.taskID) {
			panic("planted")
		}
		var changes []pipeline.Change
		state, changes = pipeline.Step(r.Graph, state, e)
		in.Changes = append(in.Changes, changes...)
	}
	asked := workflow.Now(ctx)
	got, err := dbCall[activities.StepResult](ctx, stepSummary(events), tasks.ApplyStep, in)
	if err != nil {
		return err
	}
	r.Known = max(r.Known, got.Seq)
	switch {
	case got.Diverged:
		// What was signalled, or all that the run knows, belongs to a past that is gone: the rows win.
		r.loaded, r.inbox = false, inbox{nudged: true}
		return nil
	case !got.Applied:
		if got.AppliedSeq == from {
			return temporal.NewNonRetryableApplicationError("a step was refused although the rows are where it begins", "stuck_step", nil)
		}
		r.loaded = false
		return nil
	}
	r.State, r.Last, r.Misses = state, events[len(events)-1], 0
	r.behind = r.behind && r.Known > r.State.Seq
	for _, e := range events {
		if e.Kind == pipeline.EventClaim {
			r.hold(e)
		}
	}
	r.adopt(ctx, asked, got)
	return r.relabel(ctx)
}

func stepSummary(events []pipeline.Event) string {
	first := events[0]
	if len(events) > 1 {
		return fmt.Sprintf("apply events %d to %d", first.Seq, events[len(events)-1].Seq)
	}
	if first.Node == "" {
		return fmt.Sprintf("apply %s (event %d)", first.Kind, first.Seq)
	}
	return fmt.Sprintf("apply %s of %s (event %d)", first.Kind, first.Node, first.Seq)
}

// refill reads the journal: after a nudge, and when an event arrived before
// the ones ahead of it. The journal is complete, so what it does not hold is
// not waited for.
func (r *taskRun) refill(ctx workflow.Context) error {
	got, err := dbCall[activities.LoadEventsResult](ctx, fmt.Sprintf("read the journal after event %d", r.State.Seq),
		tasks.LoadEvents, activities.LoadEventsInput{TaskID: r.taskID, After: r.State.Seq, Limit: journalPage})
	if err != nil {
		return err
	}
	full := len(got.Events) == journalPage
	r.inbox = inbox{nudged: r.inbox.nudged}
	r.behind = full
	if !full {
		r.Known = r.State.Seq
	}
	if len(got.Events) > 0 && got.Events[0].Seq != r.State.Seq+1 {
		// As for an event of a newer version: it is tried again, ever later, until
		// somebody has mended the journal. Asking for it at once would never end.
		panic(fmt.Sprintf("the journal of task %d has event %d and not %d before it; `taskloom doctor --deep` tells what to do",
			r.taskID, got.Events[0].Seq, r.State.Seq+1))
	}
	for _, e := range got.Events {
		r.inbox.add(e)
		r.Known = max(r.Known, e.Seq)
	}
	return nil
}

// hold notes who works on a node.
func (r *taskRun) hold(claim pipeline.Event) {
	r.Holders = slices.DeleteFunc(slices.Clone(r.Holders), func(h activities.Holder) bool { return h.Node == claim.Node })
	r.Holders = append(r.Holders, activities.Holder{Node: claim.Node, Claim: claim.Claim, User: claim.Actor})
}

// relabel tells operators when the task enters or leaves a state that needs
// somebody.
func (r *taskRun) relabel(ctx workflow.Context) error {
	label := labelOf(r.State.Status())
	if label == r.Label {
		return nil
	}
	r.Label = label
	return workflow.UpsertTypedSearchAttributes(ctx, TaskStateAttribute.ValueSet(label))
}
