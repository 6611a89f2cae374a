package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The doctor names many tasks in one command. What cannot be mended of them keeps
// nothing else broken, and what was done is told all the same.
func TestARepairGoesOnBehindATaskThatCannotBeMended(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.exec(`UPDATE tasks SET n_finished = 1, n_in_progress = 0, n_pending = 1 WHERE id = $1`, w.held)
	w.exec(`DELETE FROM task_events WHERE task_id = $1 AND seq = 2`, w.done)
	w.exec(`UPDATE tasks SET n_finished = 1, n_pending = n_pending - 1 WHERE id = $1`, w.free)
	both := fmt.Sprintf("%d,%d,%d", w.held, w.done, w.free)

	for _, flags := range [][]string{{}, {"--apply"}} {
		got := command(t, w.environ, "", append([]string{"repair", "task", "--task", both}, flags...)...)
		require.Equal(t, 1, got.code, got.out)
		require.Contains(t, got.out, fmt.Sprintf("task %d", w.held))
		require.Contains(t, got.out, fmt.Sprintf("task %d", w.free))
		require.Contains(t, got.err, fmt.Sprintf("the journal of task %d has a gap", w.done))
	}
	got := command(t, w.environ, "", "repair", "task", "--task", fmt.Sprintf("%d,%d", w.held, w.free))
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "nothing to mend")
}

// Nor does one whose journal cannot be gone through.
func TestARepairGoesOnBehindAJournalThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]struct{ how, says string }{
		"newer": {`UPDATE task_events SET kind = 'conjure' WHERE task_id = $1`, "task %d waits for a newer version of this service"},
		"start": {`UPDATE tasks SET start_skipped = '{solve}' WHERE id = $1`, "task %d cannot have begun, its start_skipped rules out every node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.exec(broken.how, w.done)
			w.exec(`UPDATE tasks SET n_finished = 1, n_pending = n_pending - 1 WHERE id = $1`, w.free)
			got := command(t, w.environ, "", "repair", "task", "--task", fmt.Sprintf("%d,%d", w.done, w.free), "--apply")
			require.Equal(t, 1, got.code, got.out)
			require.Contains(t, got.err, fmt.Sprintf(broken.says, w.done))
			require.Contains(t, got.out, fmt.Sprintf("task %d: total, finished, in progress, pending were", w.free))
			got = command(t, w.environ, "", "repair", "task", "--task", strconv.FormatInt(w.free, 10))
			require.Zero(t, got.code, got.err)
			require.Contains(t, got.out, "nothing to mend")
		})
	}
}

// The kept counts do not notice that a node comes or goes: whoever follows the doctor's
// list from the top has counted already, and is told to do it again.
func TestARepairThatAddsOrTakesNodesSaysWhatComesThen(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	const counts = "taskloom repair counts --apply"
	repair := func(what string, flags ...string) string {
		t.Helper()
		got := command(t, w.environ, "", append([]string{"repair", what, "--apply"}, flags...)...)
		require.Zero(t, got.code, got.err)
		return got.out
	}
	w.exec(`DELETE FROM task_nodes WHERE task_id = $1 AND key = 'solve'`, w.free)
	w.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status) VALUES ($1, 'ghost', $2, $3, 'subtask', 'escalated')`,
		w.held, w.OrgID, w.PipelineID)
	repair("counts")
	both := fmt.Sprintf("%d,%d", w.free, w.held)
	trial := command(t, w.environ, "", "repair", "task", "--task", both, "--output", "json")
	require.Zero(t, trial.code, trial.err)
	require.Equal(t, 2, strings.Count(trial.out, `"then": "`+counts+`"`), trial.out)
	require.Equal(t, 1, strings.Count(repair("task", "--task", both), "\nthen: "+counts+"\n"))
	require.Contains(t, w.deep().out, "FAIL  kept-counts")
	repair("counts")
	sound := w.deep().out
	require.NotContains(t, sound, "FAIL  kept-counts")
	require.NotContains(t, sound, "FAIL  rows-follow-journal")

	w.exec(`UPDATE task_nodes SET status = 'quarantined' WHERE task_id = $1 AND key = 'solve'`, w.free)
	require.NotContains(t, repair("task", "--task", strconv.FormatInt(w.free, 10)), "then:", "what changes is counted")
}
