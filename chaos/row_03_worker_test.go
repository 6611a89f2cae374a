package chaos

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// zombieFor is longer than whatever a worker has for itself: rows of the outbox
// for 8 s, a workflow task for 5 s, a step for 6 s.
const zombieFor = 45 * time.Second

// pausedWithin is how long the work of a paused worker may lie still: one that is
// stopped keeps its connections, so Temporal goes on giving it what it asked for.
const pausedWithin = 30 * time.Second

// zombieWorker pauses one of two workers until the other one has all that it had
// in its hands. When it goes on, it goes on with steps that others have done and
// rows that others have delivered: nothing of that may count.
func zombieWorker(target string) Fault {
	f := WorkerPaused(target)
	f.During = func(ctx context.Context, r *Run) error {
		began := time.Now()
		if err := r.othersTakeOver(ctx, pausedWithin, pausedWithin); err != nil {
			return err
		}
		if err := r.pause(ctx, time.Until(began.Add(zombieFor))); err != nil {
			return err
		}
		return r.takenFrom(ctx, chosen(r.Workers, target)[0], began)
	}
	return f
}

var workerID = regexp.MustCompile(`"worker_id":"([^"]+)"`)

// takenFrom tells how many runs of a worker another one went on with since it
// was paused; an error when there are none, for then it is no zombie.
func (r *Run) takenFrom(ctx context.Context, p *stacktest.Process, since time.Time) error {
	names := workerID.FindAllStringSubmatch(p.Log(), -1)
	if len(names) == 0 {
		return errors.New("the worker's log does not have its name")
	}
	paused := names[len(names)-1][1]
	at := since.UTC().Format(time.RFC3339Nano)
	page, err := r.Temporal().ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf(`StartTime < %q AND (ExecutionStatus = "Running" OR CloseTime > %q)`, at, at), PageSize: 300,
	})
	if err != nil {
		return err
	}
	taken := 0
	for _, e := range page.GetExecutions() {
		yes, err := r.changedHands(ctx, e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), paused, since)
		if err != nil {
			return err
		}
		if yes {
			taken++
		}
	}
	r.Logf("of %d runs, the other worker went on with %d of the paused one's", len(page.GetExecutions()), taken)
	if taken == 0 {
		return fmt.Errorf("no run went from the paused worker %s to another one: this proves nothing", paused)
	}
	return nil
}

// changedHands reports whether one worker did a run's workflow tasks before, and
// another one since.
func (r *Run) changedHands(ctx context.Context, workflowID, runID, worker string, since time.Time) (bool, error) {
	before, after := false, false
	history := r.Temporal().GetWorkflowHistory(ctx, workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		if err != nil {
			return false, err
		}
		if a := e.GetWorkflowTaskCompletedEventAttributes(); a != nil {
			early := e.GetEventTime().AsTime().Before(since)
			before = before || early && a.GetIdentity() == worker
			after = after || !early && a.GetIdentity() != worker
		}
	}
	return before && after, nil
}
