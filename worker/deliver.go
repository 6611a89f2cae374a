package worker

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/time/rate"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

const (
	// callTimeout bounds one call, with the SDK's own retries inside.
	callTimeout = 5 * time.Second
	// sdkTimeout is the deadline that the SDK is given for that: it takes half of
	// the time until then for a call with all of its retries (newGRPCContext).
	sdkTimeout = 2 * callTimeout
)

// thinkTime is after what time a run's workflow task is given to another worker,
// or to the same one again: it bounds how long a run stands still when a worker
// dies, or when the answer to a poll is lost, as happens where a machine has more
// to do than it can. Steps that take longer, because Postgres does, tell Temporal
// in time that they go on. Temporal's default is 10 s.
const thinkTime = 5 * time.Second

// stickyTime is how long Temporal keeps a run's workflow task for the worker that
// has the run in its memory, before any other may have it: the SDK's default. Of a
// dead worker it knows so only 10 s after its last poll (stickyPollerUnavailableWindow
// in Temporal's matching): what is handed in until then waits, the last for 15 s.
const stickyTime = 5 * time.Second

// taskReader tells how far a task is.
type taskReader interface {
	LoadTask(ctx context.Context, taskID int64) (store.LoadedTask, error)
}

// deliverer turns one outbox row into one call to Temporal.
type deliverer struct {
	runs    Runs
	tasks   taskReader
	queue   string
	signals *rate.Limiter
	// calm paces the urgencies that give way to what somebody waits for.
	calm map[store.Urgency]*calm
}

func newDeliverer(d Deps) deliverer {
	return deliverer{
		runs: d.Runs, tasks: d.Store, queue: d.TaskQueue,
		signals: bucket(d.Rates.Signals), calm: calmOf(d.Rates),
	}
}

// bucket lets a tenth of a second's calls through at once.
func bucket(perSecond float64) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), atOnce(perSecond))
}

// atOnce is a tenth of a second's calls, at least one.
func atOnce(perSecond float64) int { return max(1, int(perSecond/10)) }

// row delivers an event, or the nudge of a row without one. A run that is not
// there is started by the same call, so a start is nothing that could be lost.
func (d deliverer) row(ctx context.Context, row store.Delivery) (outcome, error) {
	err := d.send(ctx, row, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
	if _, there := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); !there {
		return delivered, err
	}
	// The run has completed, or this is a creation and there is a run. That is right
	// when the task is over and nothing of the journal is left to apply.
	t, err := d.tasks.LoadTask(ctx, row.TaskID)
	switch {
	case fault.Is(err, fault.NotFound):
		return settled, nil
	case err != nil:
		return settled, err
	case t.Status.Terminal() && (t.State.Seq >= t.Seq || row.Event.Seq > 0 && t.State.Seq >= row.Event.Seq):
		return settled, nil
	}
	if row.Event.Kind == pipeline.EventCreate && row.Event.Seq == t.Seq {
		// The creation has been told before, or the run belongs to an older task of
		// this number, which a restore took away. It reads everything again either
		// way, or does so anew when it has completed.
		row.Event = pipeline.Event{}
		return delivered, d.send(ctx, row, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
	}
	// Postgres went back to an older state, or an admin reopened the task, and it
	// needs a run again: for what is left, and for the time limit of what is open.
	err = d.send(ctx, row, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
	if _, running := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); running {
		// What has happened since the creation was first, and is told by itself:
		// the run of another task learns from its next step that it is one.
		return delivered, nil
	}
	return restarted, err
}

func (d deliverer) send(ctx context.Context, row store.Delivery, reuse enums.WorkflowIdReusePolicy) error {
	wait := d.signals.Wait
	if c := d.calm[row.Urgency]; c != nil {
		wait = c.wait
	}
	if err := wait(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sdkTimeout)
	defer cancel()
	o, in := d.options(row, reuse), workflows.TaskInput{TaskID: row.TaskID}
	var err error
	if row.Event.Kind == pipeline.EventCreate {
		// The answer brings the first workflow task along when this process has a
		// slot free: no write to a queue, and no trip through matching.
		o.EnableEagerStart = true
		// Else the answer would hide that a run is under way. A start that is asked for
		// again, as the SDK does, is known by its request id and is no conflict.
		o.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL
		_, err = d.runs.ExecuteWorkflow(ctx, o, workflows.TaskWorkflow, in)
	} else {
		_, err = d.runs.SignalWithStartWorkflow(ctx, o.ID, workflows.SignalFor(row.Event.Kind), activities.Wire(row.Event), o,
			workflows.TaskWorkflow, in)
	}
	return err
}

func (d deliverer) options(row store.Delivery, reuse enums.WorkflowIdReusePolicy) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                       workflows.TaskID(row.TaskID),
		TaskQueue:                d.queue,
		WorkflowTaskTimeout:      thinkTime,
		WorkflowIDReusePolicy:    reuse,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		// The client's default hides that a run has completed.
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            workflows.TaskSummary(row.TaskID, row.PipelineID, row.PipelineName),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			workflows.OrgIDAttribute.ValueSet(row.OrgID),
			workflows.PipelineIDAttribute.ValueSet(row.PipelineID),
			workflows.TaskStateAttribute.ValueSet(workflows.TaskActive),
		),
	}
}
