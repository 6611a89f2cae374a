package task_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/task"
)

// The buckets of spec section 3: na is not counted at all.
func TestSummarize(t *testing.T) {
	t.Parallel()
	for status, want := range map[task.NodeStatus]task.Summary{
		task.NodePending:     {Total: 1, Pending: 1},
		task.NodeDeferred:    {Total: 1, Pending: 1},
		task.NodeAvailable:   {Total: 1, InProgress: 1},
		task.NodeClaimed:     {Total: 1, InProgress: 1},
		task.NodeSubmitted:   {Total: 1, InProgress: 1},
		task.NodeEscalated:   {Total: 1, InProgress: 1},
		task.NodeQuarantined: {Total: 1, InProgress: 1},
		task.NodeFinished:    {Total: 1, Finished: 1},
		task.NodeNA:          {},
	} {
		require.Equal(t, want, task.Summarize([]task.NodeStatus{status}), "one %s node", status)
		require.Contains(t, task.NodeStatuses(), status)
	}
	require.Equal(t, task.Summary{Total: 8, Finished: 1, InProgress: 5, Pending: 2}, task.Summarize(task.NodeStatuses()))
	require.Equal(t, task.Summary{}, task.Summarize(nil))
}

// The node state machine of the design, written out once more: rows from,
// columns to.
func TestCanMove(t *testing.T) {
	t.Parallel()
	const (
		pend = task.NodePending
		def  = task.NodeDeferred
		av   = task.NodeAvailable
		cl   = task.NodeClaimed
		sub  = task.NodeSubmitted
		esc  = task.NodeEscalated
		qua  = task.NodeQuarantined
		fin  = task.NodeFinished
		na   = task.NodeNA
	)
	allowed := map[task.NodeStatus][]task.NodeStatus{
		pend: {def, av, qua, na},
		def:  {pend, av, sub, esc, qua, fin, na},
		av:   {pend, cl, esc, qua, na},
		cl:   {pend, av, sub, esc, qua, na},
		sub:  {pend, def, av, esc, qua, fin, na},
		esc:  {pend, def, av, sub, qua, fin, na},
		qua:  {pend, def, av, sub, fin, na},
		fin:  {},
		na:   {pend, def, av, sub},
	}
	for _, from := range task.NodeStatuses() {
		for _, to := range task.NodeStatuses() {
			want := from == to || slices.Contains(allowed[from], to)
			require.Equal(t, want, from.CanMove(to), "from %s to %s", from, to)
		}
	}
	require.False(t, task.NodeStatus("lost").CanMove(av))
}

func TestSettled(t *testing.T) {
	t.Parallel()
	for _, s := range task.NodeStatuses() {
		require.Equal(t, s == task.NodeFinished || s == task.NodeNA, s.Settled(), s)
	}
}
