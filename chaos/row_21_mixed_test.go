package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/worker"

	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/workflows"
)

// TestRow21MixedVersions runs one API and one worker of the present version
// beside one of each of an old one (CHAOS_OLD), for three minutes, more than ten
// at CHAOS_SCALE=5. First all of them work side by side; then the workers are
// killed in turns, so that each version goes on with runs that the other began.
// No run may see its past differ from what the code does, no signal may be lost,
// and the present version replays whatever both of them left. (Runs that were
// recorded by earlier versions are replayed by TestRecordedRunsReplay in
// workflows.)
func TestRow21MixedVersions(t *testing.T) {
	row := Row{Number: 21}
	row.skip(t)
	mustNotSkip(t)
	// About the runs of tasks only: the row makes no uploads.
	old, present := oldVersion(t, anyChange, ":(glob)workflows/task*.go", "workflows/names.go", "workflows/options.go", ":(exclude,glob)workflows/*_test.go"), presentVersion(t)
	both := &sideBySide{}
	takesOver := func(name string, dead func(r *Run) *stacktest.Process) Fault {
		return Fault{Name: name, Serves: true, During: unknownSignals, Inject: func(_ context.Context, r *Run) (func(context.Context) error, error) {
			return halt([]*stacktest.Process{dead(r)}), nil
		}}
	}
	RunRow(t, Row{
		Number: 21, Name: "mixed versions",
		Settings: func(s *Settings) { lightly(&s.Load) },
		Prepare: func(ctx context.Context, r *Run) error {
			r.t.Logf("%s beside %s", old.Name, present.Name)
			return errors.Join(old.run(ctx, r, r.Workers[1]), old.run(ctx, r, r.Serves[1]))
		},
		Rounds: 2,
		Faults: []Fault{
			{Name: "both side by side", Serves: true, During: unknownSignals, Inject: both.begins},
			takesOver("the old worker goes on alone", func(r *Run) *stacktest.Process { return r.Workers[0] }),
			takesOver("the present worker goes on alone", func(r *Run) *stacktest.Process { return r.Workers[1] }),
		},
		Hold: holdFor(25 * time.Second), // six times, and the recoveries
		After: func(ctx context.Context, r *Run) error {
			return errors.Join(historiesAreSound(ctx, r, both), both.worked(r), noProblems(ctx, r), logsAreSound(r, old))
		},
	})
}

// sideBySide are the stretches in which workers of both versions run, and how
// many workflow tasks each worker did in them.
type sideBySide struct {
	stretches []*stretch
	tasks     []map[string]int // by stretch and worker
}

type stretch struct{ from, to time.Time }

// begins is an Inject that breaks nothing.
func (s *sideBySide) begins(context.Context, *Run) (func(context.Context) error, error) {
	now := &stretch{from: time.Now()}
	s.stretches = append(s.stretches, now)
	s.tasks = append(s.tasks, map[string]int{})
	return func(context.Context) error {
		now.to = time.Now()
		return nil
	}, nil
}

// did notes a workflow task that a worker has done.
func (s *sideBySide) did(worker string, at time.Time) {
	for i, one := range s.stretches {
		if at.After(one.from) && at.Before(one.to) {
			s.tasks[i][worker]++
		}
	}
}

// worked is an error unless one worker of each version did something in each
// stretch: else nothing was side by side.
func (s *sideBySide) worked(r *Run) error {
	for i, by := range s.tasks {
		r.Logf("side by side for %s: workflow tasks by worker: %v", s.stretches[i].to.Sub(s.stretches[i].from).Round(time.Second), by)
		for v, p := range r.Workers {
			log, mine := p.Log(), 0
			for worker, n := range by {
				if strings.Contains(log, worker) {
					mine += n
				}
			}
			if mine == 0 {
				return fmt.Errorf("worker %d did no workflow task while both versions ran side by side: this proves nothing (%v)", v, by)
			}
		}
	}
	return nil
}

// unknownSignal is one that no version knows, as one of a version to come is.
const unknownSignal = "chaos-of-tomorrow"

// unknownSignals sends it to some open runs: they must go on as if it had not
// come.
func unknownSignals(ctx context.Context, r *Run) error {
	open, err := r.openRuns(ctx)
	if err != nil {
		return err
	}
	for _, id := range open[:min(10, len(open))] {
		_ = r.Temporal().SignalWorkflow(ctx, workflows.TaskID(id), "", unknownSignal, object{"seq": 1}) // it may have ended
	}
	return nil
}

// expected are the causes for which a workflow task may fail: not one of them
// says anything about the code.
var expected = []enums.WorkflowTaskFailedCause{
	enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND, enums.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
	enums.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE, enums.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
}

// historiesAreSound reads the history of every run: no workflow task failed
// because of the code, and the present code replays it. Runs that are open are
// replayed as far as they have come.
func historiesAreSound(ctx context.Context, r *Run, both *sideBySide) error {
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterWorkflow(workflows.TaskWorkflow)
	tasks, unknown := 0, 0
	by := map[string]int{} // workflow tasks by the worker that did them
	runs, err := r.eachRun(ctx, func(id, runID string) error {
		all := &history.History{}
		events := r.Temporal().GetWorkflowHistory(ctx, id, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return err
			}
			all.Events = append(all.Events, e)
			if a := e.GetWorkflowTaskFailedEventAttributes(); a != nil && !slices.Contains(expected, a.GetCause()) {
				r.Violate("I7: a workflow task of %s failed: %s: %s", id, a.GetCause(), a.GetFailure().GetMessage())
			}
			if a := e.GetWorkflowTaskCompletedEventAttributes(); a != nil {
				tasks++
				by[a.GetIdentity()]++
				both.did(a.GetIdentity(), e.GetEventTime().AsTime())
			}
			if e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == unknownSignal {
				unknown++
			}
		}
		if err := replayer.ReplayWorkflowHistory(silent{}, all); err != nil {
			r.Violate("I7: the present version does not replay %s: %v", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.Logf("%d runs replayed, %d workflow tasks by %d workers, %d signals that nobody knows", runs, tasks, len(by), unknown)
	if len(by) < 2 || unknown == 0 {
		return fmt.Errorf("only %d workers did anything, %d unknown signals came: the row proves less than it says", len(by), unknown)
	}
	return nil
}

// noProblems asks Temporal for runs whose workflow tasks fail again and again.
func noProblems(ctx context.Context, r *Run) error {
	page, err := r.Temporal().ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Query: `TemporalReportedProblems IS NOT NULL`, PageSize: 10,
	})
	if err != nil {
		return err
	}
	for _, e := range page.GetExecutions() {
		r.Violate("I7: Temporal reports problems of %s", e.GetExecution().GetWorkflowId())
	}
	return nil
}

// logsAreSound looks for what the SDK says of code that differs from the past,
// or of a panic, in the logs of both versions.
func logsAreSound(r *Run, old version) error {
	for _, p := range slices.Concat(r.Workers, r.Serves) {
		log := p.Log()
		for _, bad := range append([]string{"nondeterminis", "non-determinis"}, panicWords...) {
			for line := range strings.Lines(log) {
				if strings.Contains(strings.ToLower(line), strings.ToLower(bad)) {
					r.Violate("I7: a process of %s or of the present version says: %.400s", old.Name, line)
					break
				}
			}
		}
	}
	return nil
}

// silent keeps what the replayer has to say of each run out of the output; what
// is wrong comes as an error.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
