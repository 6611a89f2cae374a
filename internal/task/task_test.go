package task_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/task"
)

func TestDerive(t *testing.T) {
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
	type nodes = []task.NodeStatus
	for _, c := range []struct {
		name  string
		nodes nodes
		flags task.Flags
		want  task.Status
	}{
		{"nothing has happened yet", nodes{av, pend}, task.Flags{}, task.Pending},
		{"automation alone is no progress", nodes{def, pend}, task.Flags{}, task.Pending},
		{"no node at all", nil, task.Flags{}, task.Finished},
		{"claimed", nodes{cl, pend}, task.Flags{}, task.InProgress},
		{"submitted", nodes{sub, av}, task.Flags{}, task.InProgress},
		{"one finished, one open", nodes{fin, av}, task.Flags{}, task.InProgress},
		{"claimed once and released", nodes{av, pend}, task.Flags{Touched: true}, task.InProgress},
		{"all finished", nodes{fin, fin}, task.Flags{Touched: true}, task.Finished},
		{"finished or fell away", nodes{fin, na}, task.Flags{}, task.Finished},
		{"all fell away", nodes{na, na}, task.Flags{}, task.Finished},
		{"one fell away, one pending", nodes{na, pend}, task.Flags{}, task.Pending},
		{"escalated", nodes{esc, av}, task.Flags{}, task.Escalated},
		{"quarantined", nodes{qua, av}, task.Flags{}, task.Quarantined},
		{"quarantined before escalated", nodes{esc, qua}, task.Flags{}, task.Quarantined},
		{"held", nodes{av, pend}, task.Flags{Held: true}, task.Paused},
		{"held while somebody works", nodes{cl, pend}, task.Flags{Held: true, Touched: true}, task.Paused},
		{"escalated before held", nodes{esc}, task.Flags{Held: true}, task.Escalated},
		{"finished before held", nodes{fin}, task.Flags{Held: true}, task.Finished},
		{"failed before all", nodes{fin}, task.Flags{Failed: true, Held: true}, task.Failed},
		{"failed with open nodes", nodes{qua, esc, cl}, task.Flags{Failed: true}, task.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, task.Derive(c.nodes, c.flags))
		})
	}
}

func TestEffective(t *testing.T) {
	t.Parallel()
	for _, s := range task.Statuses() {
		require.Equal(t, s, task.Effective(s, false), "%s in a pipeline that runs", s)
		want := s
		if s == task.Pending || s == task.InProgress {
			want = task.Paused
		}
		require.Equal(t, want, task.Effective(s, true), "%s in a paused pipeline", s)
	}
}

// A filter by the status that callers see finds exactly the rows that show it.
func TestStoredFor(t *testing.T) {
	t.Parallel()
	type list = []task.Status
	require.Equal(t, list{task.Paused}, task.StoredFor(task.Paused, false))
	require.Equal(t, list{task.Pending, task.InProgress, task.Paused}, task.StoredFor(task.Paused, true))
	require.Empty(t, task.StoredFor(task.Pending, true))
	require.Empty(t, task.StoredFor(task.InProgress, true))
	require.Empty(t, task.StoredFor("unheard of", false))
	for _, paused := range []bool{false, true} {
		for _, want := range task.Statuses() {
			for _, s := range task.StoredFor(want, paused) {
				require.Equal(t, want, task.Effective(s, paused))
			}
			for _, s := range task.Statuses() {
				require.Equal(t, task.Effective(s, paused) == want, slices.Contains(task.StoredFor(want, paused), s))
			}
		}
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	require.Len(t, task.Statuses(), 7)
	for _, s := range task.Statuses() {
		require.True(t, s.Valid())
		require.Equal(t, s == task.Finished || s == task.Failed, s.Terminal(), s)
	}
	require.False(t, task.Status("Finished").Valid())
	require.False(t, task.Status("").Valid())
}
