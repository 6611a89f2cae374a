package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/workflows"
)

// TestDeepRuns opens runs that nobody needs, and one of each kind that cannot go
// on: the doctor names them, and not those of tasks with something to do. It fails
// for a check that nobody breaks here.
func TestDeepRuns(t *testing.T) {
	t.Parallel()
	a := &app{environ: environment(t)}
	if a.environ == nil {
		t.Skip("needs the Temporal of `make test`")
	}
	c, err := a.config("DATABASE_URL")
	require.NoError(t, err)
	w := newWard(t)
	// Ids that no other test's runs have.
	base := time.Now().UnixMicro()
	ended, open, missing, stuck := base, base+1, base+2, base+3
	for was, is := range map[int64]int64{w.failed: ended, w.free: open, w.held: stuck} {
		w.exec(`UPDATE task_nodes SET task_id = $2 WHERE task_id = $1`, was, is)
		w.exec(`UPDATE tasks SET id = $2 WHERE id = $1`, was, is)
	}
	tc, err := client.Dial(client.Options{HostPort: c.TemporalAddress, Namespace: c.TemporalNamespace})
	require.NoError(t, err)
	t.Cleanup(tc.Close)
	// The stuck runs' worker is this test; nobody serves the other queue.
	nobody, own := fmt.Sprintf("nobody-%d", base), func(id string) string { return "stuck-" + id }
	start := func(id, queue string, run any, args ...any) {
		_, err := tc.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, run, args...)
		require.NoError(t, err)
		t.Cleanup(func() { _ = tc.TerminateWorkflow(context.Background(), id, "", "the test is over") })
	}
	for _, id := range []int64{ended, open, missing} {
		start(workflows.TaskID(id), nobody, workflows.TaskWorkflow, workflows.TaskInput{TaskID: id})
	}
	stuckTask, stuckUpload, stuckSweep := workflows.TaskID(stuck), workflows.UploadRunID(fmt.Sprintf("of-%d", stuck)), fmt.Sprintf("sweep-%d", stuck)
	start(stuckTask, own(stuckTask), workflows.TaskWorkflow, workflows.TaskInput{TaskID: stuck})
	start(stuckUpload, own(stuckUpload), workflows.UploadWorkflow, workflows.UploadInput{})
	start(stuckSweep, own(stuckSweep), workflows.SweepUploads)
	for _, id := range []string{stuckTask, stuckUpload, stuckSweep} {
		for range problemsReportedAfter {
			failWorkflowTask(t, tc, c.TemporalNamespace, own(id))
		}
	}
	d := &doctor{config: c, store: w.Store, temporal: tc, temporalUp: true}
	find := func() map[string]string {
		found, err := d.deepRuns(t.Context(), nil, deepOptions{})
		require.NoError(t, err)
		told := map[string]string{}
		for _, f := range found {
			told[f.Name] = strings.Join(append(f.Violations, f.Heal, f.Advice), "\n")
		}
		return told
	}
	// What each check must say.
	broken := map[string][]string{
		"runs-end": {
			fmt.Sprintf("task %d has ended, its run task/%d is open", ended, ended), "taskloom repair run --task",
		},
		"runs-have-tasks": {fmt.Sprintf("there is no task %d,", missing), fmt.Sprintf(" %d; do temporal workflow terminate", missing)},
		"runs-work": {
			"TaskWorkflow " + stuckTask + " reports ", "UploadWorkflow " + stuckUpload + " reports ", "SweepUploads " + stuckSweep + " reports ",
			"category=WorkflowTaskFailed", "a worker that knows its code",
		},
	}
	told := find()
	for name := range told {
		require.Contains(t, broken, name, "nobody breaks this promise on purpose")
	}
	require.Eventually(t, func() bool {
		told = find()
		for name, words := range broken {
			for _, word := range words {
				if !strings.Contains(told[name], word) {
					return false
				}
			}
		}
		return true
	}, time.Minute, 100*time.Millisecond, "visibility does not show the runs")
	for name, accused := range map[string]int64{"runs-end": ended, "runs-have-tasks": missing, "runs-work": stuck} {
		for _, id := range []int64{ended, open, missing, stuck} {
			if id != accused {
				require.NotContains(t, told[name], strconv.FormatInt(id, 10), name)
			}
		}
	}

	// What the run does when it is told to look, and what a worker does that knows
	// the code.
	require.NoError(t, tc.TerminateWorkflow(t.Context(), workflows.TaskID(ended), "", "it has nothing to do"))
	completeWorkflowTask(t, tc, c.TemporalNamespace, own(stuckTask))
	require.Eventually(t, func() bool {
		told := find()
		return !strings.Contains(told["runs-end"], strconv.FormatInt(ended, 10)) && !strings.Contains(told["runs-work"], stuckTask)
	}, time.Minute, 100*time.Millisecond)

	d.temporalUp = false
	found, err := d.deepRuns(t.Context(), nil, deepOptions{})
	require.NoError(t, err)
	for _, f := range found {
		require.Equal(t, skipped, f.Verdict)
	}
}

// problemsReportedAfter is how many workflow tasks of a run fail in a row before
// Temporal reports it (system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute).
const problemsReportedAfter = 5

// workflowTask waits for the next one on a queue, and returns its token. A worker
// of the SDK answers the first that fails and lets the others run out of their ten
// seconds and more: this is quicker, and the same to the server.
func workflowTask(t *testing.T, tc client.Client, namespace, queue string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		got, err := tc.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
			Namespace: namespace, TaskQueue: &taskqueue.TaskQueue{Name: queue, Kind: enums.TASK_QUEUE_KIND_NORMAL}, Identity: t.Name(),
		})
		require.NoError(t, err)
		if len(got.GetTaskToken()) > 0 {
			return got.GetTaskToken()
		}
		require.NoError(t, ctx.Err(), "no workflow task comes")
	}
}

// failWorkflowTask does what a worker does whose code differs from the run's past.
func failWorkflowTask(t *testing.T, tc client.Client, namespace, queue string) {
	t.Helper()
	_, err := tc.WorkflowService().RespondWorkflowTaskFailed(t.Context(), &workflowservice.RespondWorkflowTaskFailedRequest{
		Namespace: namespace, TaskToken: workflowTask(t, tc, namespace, queue), Identity: t.Name(),
		Cause: enums.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
	})
	require.NoError(t, err)
}

// completeWorkflowTask does what a worker does whose run goes on waiting.
func completeWorkflowTask(t *testing.T, tc client.Client, namespace, queue string) {
	t.Helper()
	_, err := tc.WorkflowService().RespondWorkflowTaskCompleted(t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{
		Namespace: namespace, TaskToken: workflowTask(t, tc, namespace, queue), Identity: t.Name(),
	})
	require.NoError(t, err)
}

// environment is that of `make test`, nil where it has no Temporal.
func environment(t *testing.T) []string {
	t.Helper()
	env := append(os.Environ(), "DATABASE_URL="+dbtest.URL(t))
	c, err := config.Load(env)
	if err != nil || c.TemporalAddress == "" {
		return nil
	}
	return env
}
