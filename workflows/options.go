package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Short writes run inside the worker that holds the run: one marker in the
// history and no trip through a task queue.
const (
	localTimeout  = 3 * time.Second
	localAttempts = 2
	localRetryIn  = 100 * time.Millisecond
)

// localWrite is the policy of a step that Postgres answers in milliseconds.
func localWrite(summary string) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: localTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: localRetryIn, BackoffCoefficient: 2, MaximumAttempts: localAttempts,
		},
		Summary: summary,
	}
}

// patientWrite is the policy of the same step while Postgres is away: the
// server repeats it for as long as it takes and the history does not grow. The
// longest pause is half of the minute within which everything works again after
// an outage.
func patientWrite(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: stepTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
		},
		Summary: summary,
	}
}

// stepTimeout bounds a step that the server repeats. A worker that is paused
// keeps what its polls are given until then, and all that it keeps must go on
// elsewhere within 30 s: the run's workflow task on its own queue and then on the
// common one (5 s each), the step tried locally behind the lock of the paused
// process (localTimeout), and twice as a patient one. It is less than Postgres
// lets it wait for a lock, so a step behind one ends by this.
const stepTimeout = 6 * time.Second

// dbCall runs an idempotent database step, which reads or writes one task or one
// upload. It tries it locally; when that
// fails for a reason that time may cure, it hands the step to the server's
// patience once. Each call starts locally again, so an outage costs a run one
// step of history, however long it lasts.
func dbCall[R any](ctx workflow.Context, summary string, activity, in any) (R, error) {
	var out R
	local := workflow.WithLocalActivityOptions(ctx, localWrite(summary))
	err := workflow.ExecuteLocalActivity(local, activity, in).Get(ctx, &out)
	if err == nil || ctx.Err() != nil || final(err) {
		return out, err
	}
	workflow.GetLogger(ctx).Info("The database step goes on as a patient activity.", "step", summary)
	patient := workflow.WithActivityOptions(ctx, patientWrite(summary))
	err = workflow.ExecuteActivity(patient, activity, in).Get(ctx, &out)
	return out, err
}

// final reports whether another attempt cannot help.
func final(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}
