package worker

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/workflows"
)

// When a schedule that could not be made is tried again, and when one that is
// there is looked for again: it may be lost with a Temporal cluster.
const (
	sweepAgain = 30 * time.Second
	sweepCheck = 10 * time.Minute
)

// ensureSweep makes the schedule of the sweep, or brings it up to date. Uploads
// are unpacked without it as well: where this client may not make it, it says
// in the log what an operator has to do, and looks again and again.
func ensureSweep(ctx context.Context, d Deps) {
	var next time.Duration
	for told := false; ctx.Err() == nil; pause(ctx, next) {
		err := makeSweep(ctx, d)
		next = sweepAgain
		switch {
		case err == nil:
			next, told = sweepCheck, false
		case ctx.Err() == nil && !told:
			told = true
			d.Logger.Warn("The schedule of the sweep cannot be made; the archives of ended uploads stay until it is there.",
				"run", "temporal schedule create --schedule-id "+sweepID(d)+" --interval "+d.SweepEvery.String()+
					" --overlap-policy Skip --type SweepUploads --workflow-id "+sweepID(d)+" --task-queue "+d.IngestQueue,
				"error", err)
		}
	}
}

// sweepID is the schedule's: one for each task queue.
func sweepID(d Deps) string {
	if d.IngestQueue == workflows.IngestQueue {
		return workflows.SweepSchedule
	}
	return workflows.SweepSchedule + "-" + d.IngestQueue
}

// makeSweep may be called by many workers at a time, of different releases, too.
func makeSweep(ctx context.Context, d Deps) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	schedules := d.Client.ScheduleClient()
	action := &client.ScheduleWorkflowAction{ID: sweepID(d), Workflow: workflows.SweepUploads, TaskQueue: d.IngestQueue}
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: d.SweepEvery}}}
	_, err := schedules.Create(ctx, client.ScheduleOptions{
		ID: sweepID(d), Spec: spec, Action: action, Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: d.SweepEvery,
		Note: "Ends abandoned uploads and deletes their archives. The worker makes it.",
	})
	var there *serviceerror.AlreadyExists
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) && !errors.As(err, &there) {
		return err
	}
	return schedules.GetHandle(ctx, sweepID(d)).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			is := in.Description.Schedule
			if sameSweep(is, d) {
				return nil, temporal.ErrSkipScheduleUpdate
			}
			is.Spec, is.Action = &spec, action
			is.Policy = &client.SchedulePolicies{Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: d.SweepEvery}
			return &client.ScheduleUpdate{Schedule: &is}, nil
		},
	})
}

// sameSweep tells whether a schedule is as this worker would make it. Whether
// it is paused is for operators to say.
func sameSweep(is client.Schedule, d Deps) bool {
	action, ok := is.Action.(*client.ScheduleWorkflowAction)
	return ok && action.Workflow == "SweepUploads" && action.TaskQueue == d.IngestQueue &&
		is.Spec != nil && len(is.Spec.Intervals) == 1 && is.Spec.Intervals[0].Every == d.SweepEvery &&
		is.Policy != nil && is.Policy.Overlap == enums.SCHEDULE_OVERLAP_POLICY_SKIP
}
