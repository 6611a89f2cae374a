package main

import (
	"fmt"
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
