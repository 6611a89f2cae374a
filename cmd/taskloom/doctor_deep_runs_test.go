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
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/workflows"
)

// TestDeepRuns opens runs that nobody needs, and one that cannot go on: the
// doctor names them, and not those of tasks with something to do.
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
	ended, open, missing := base, base+1, base+2
	w.exec(`UPDATE task_nodes SET task_id = CASE task_id WHEN $1 THEN $2 WHEN $3 THEN $4 ELSE task_id END`, w.failed, ended, w.free, open)
	w.exec(`UPDATE tasks SET id = CASE id WHEN $1 THEN $2 WHEN $3 THEN $4 ELSE id END`, w.failed, ended, w.free, open)
	tc, err := client.Dial(client.Options{HostPort: c.TemporalAddress, Namespace: c.TemporalNamespace})
	require.NoError(t, err)
	t.Cleanup(tc.Close)
	for _, id := range []int64{ended, open, missing} {
		// On a queue that nobody serves.
		_, err := tc.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.TaskID(id), TaskQueue: fmt.Sprintf("nobody-%d", base)},
			workflows.TaskWorkflow, workflows.TaskInput{TaskID: id})
		require.NoError(t, err)
		t.Cleanup(func() { _ = tc.TerminateWorkflow(context.Background(), workflows.TaskID(id), "", "the test is over") })
	}
	d := &doctor{config: c, store: w.Store, temporal: tc, temporalUp: true}
	find := func() (ended, missing string) {
		found, err := d.deepRuns(t.Context(), nil, deepOptions{})
		require.NoError(t, err)
		return strings.Join(found[0].Violations, "\n") + found[0].Heal, strings.Join(found[1].Violations, "\n")
	}
	require.Eventually(t, func() bool {
		e, m := find()
		return strings.Contains(e, fmt.Sprintf("task %d has ended, its run task/%d is open", ended, ended)) &&
			strings.Contains(e, "taskloom repair run --task") && strings.Contains(m, fmt.Sprintf("there is no task %d,", missing))
	}, time.Minute, 100*time.Millisecond, "visibility does not show the runs")
	e, m := find()
	require.NotContains(t, e+m, strconv.FormatInt(open, 10))

	// What the run does when it is told to look.
	require.NoError(t, tc.TerminateWorkflow(t.Context(), workflows.TaskID(ended), "", "it has nothing to do"))
	require.Eventually(t, func() bool {
		e, _ := find()
		return !strings.Contains(e, strconv.FormatInt(ended, 10))
	}, time.Minute, 100*time.Millisecond)

	d.temporalUp = false
	found, err := d.deepRuns(t.Context(), nil, deepOptions{})
	require.NoError(t, err)
	for _, f := range found {
		require.Equal(t, skipped, f.Verdict)
	}
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
