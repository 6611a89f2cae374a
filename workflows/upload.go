package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/activities"
)

// uploadTime is how long an upload may be processed in all.
const uploadTime = 24 * time.Hour

// UploadInput names the upload of a run.
type UploadInput struct {
	UploadID string `json:"upload_id"`
}

// UploadResult is how an upload ended.
type UploadResult struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Created int    `json:"created"`
	Failed  int    `json:"failed"`
}

// UploadWorkflow unpacks one archive into tasks: it looks at the archive, has
// its rows made into tasks until none is left, and ends the upload. All that
// it learns stands in Postgres, so that a run in place of a lost one goes on
// where that was.
func UploadWorkflow(ctx workflow.Context, in UploadInput) (UploadResult, error) {
	run := &uploadRun{id: in.UploadID, cancels: workflow.GetSignalChannelWithOptions(ctx, CancelSignal,
		workflow.SignalChannelOptions{Description: "Somebody cancelled the upload; the tasks made until now stay."})}
	if err := run.answerQueries(ctx); err != nil {
		return UploadResult{}, fmt.Errorf("register query: %w", err)
	}
	return run.do(ctx)
}

// uploadRun is one run under way.
type uploadRun struct {
	id      string
	at      phase
	is      activities.UploadProgress
	cancels workflow.ReceiveChannel
	// reason says why the run was called off; "" while it is not.
	reason  string
	timeout workflow.Future
}

// Reasons for which a run ends an upload; the store's names.
const (
	uploadCancelled = "cancelled"
	uploadOperator  = "operator"
	uploadTooLong   = "timeout"
	uploadUnusable  = "archive"
)

// do takes one step after the other.
func (r *uploadRun) do(ctx workflow.Context) (UploadResult, error) {
	working, stop := workflow.WithCancel(ctx)
	defer stop()
	r.timeout = workflow.NewTimerWithOptions(working, uploadTime, workflow.TimerOptions{Summary: "time limit of the upload"})

	r.enter(ctx, inspecting)
	err := r.step(working, stop, "look at the archive", uploads.InspectArchive)
	for err == nil && r.reason == "" && !r.is.Over && !r.is.Done {
		r.enter(ctx, ingesting)
		err = r.step(working, stop, fmt.Sprintf("make tasks from row %d of %d on", r.is.RowsDone, r.is.RowsTotal), uploads.IngestRows)
	}
	switch {
	case r.reason != "":
	case err != nil: // no further attempt can help, or there would be one
		r.reason = uploadUnusable
	case r.is.Over:
		return UploadResult{Status: r.is.Status, Reason: r.is.Reason, Created: r.is.Created, Failed: r.is.Failed}, nil
	}
	stop() // the timer
	r.enter(ctx, finishing)
	return r.finish(ctx)
}

// step runs an activity until its end, and calls it off when the run shall
// stop. Only an end that it gave itself counts: what was lost on the way is
// told by the next step, or by Postgres.
func (r *uploadRun) step(ctx workflow.Context, stop workflow.CancelFunc, summary string, activity any) error {
	done := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, longStep(summary)), activity, activities.UploadRef{UploadID: r.id})
	for over := false; !over; {
		sel := workflow.NewNamedSelector(ctx, "the end of the step").AddFuture(done, func(workflow.Future) { over = true })
		if r.reason == "" {
			sel.AddReceive(r.cancels, func(c workflow.ReceiveChannel, _ bool) {
				c.Receive(ctx, nil)
				r.reason = uploadCancelled
			})
			sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) { r.reason = uploadOperator })
			sel.AddFuture(r.timeout, func(workflow.Future) {
				if ctx.Err() == nil {
					r.reason = uploadTooLong
				}
			})
		}
		sel.Select(ctx)
		if r.reason != "" {
			stop()
		}
	}
	var is activities.UploadProgress
	err := done.Get(ctx, &is)
	if err == nil {
		r.is = is
	}
	return err
}

// finish ends the upload, whatever happened to the run. An operator who
// cancels it sees it cancelled.
func (r *uploadRun) finish(ctx workflow.Context) (UploadResult, error) {
	detached, _ := workflow.NewDisconnectedContext(ctx)
	got, err := dbCall[activities.FinishUploadResult](detached, "end the upload", uploads.FinishUpload,
		activities.FinishUploadInput{UploadID: r.id, Reason: r.reason})
	if err != nil {
		return UploadResult{}, err
	}
	if r.reason == uploadOperator {
		return UploadResult{}, temporal.NewCanceledError("the run was cancelled, the upload has ended")
	}
	return UploadResult(got), nil
}
