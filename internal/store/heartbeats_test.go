package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
)

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := dbtest.Store(t)
	alive := func(queue string) int {
		n, err := st.WorkersAlive(ctx, queue, time.Minute)
		require.NoError(t, err)
		return n
	}
	require.Zero(t, alive("tasks"))
	require.NoError(t, st.Beat(ctx, "a", []string{"tasks", "bulk"}, true))
	require.NoError(t, st.Beat(ctx, "b", []string{"tasks"}, true))
	require.NoError(t, st.Beat(ctx, "b", []string{"tasks"}, false))
	require.Equal(t, 1, alive("tasks"), "b does not reach Temporal")
	require.Equal(t, 1, alive("bulk"))

	_, err := st.Pool().Exec(ctx, `UPDATE worker_heartbeats SET at = now() - interval '61 seconds' WHERE worker_id = 'a'`)
	require.NoError(t, err)
	require.Zero(t, alive("tasks"), "silent for a minute")
	require.NoError(t, st.Beat(ctx, "a", []string{"tasks"}, true))
	require.Equal(t, 1, alive("tasks"))

	require.NoError(t, st.DropBeat(ctx, "a"))
	require.NoError(t, st.DropBeat(ctx, "a"))
	require.Zero(t, alive("tasks"))

	_, err = st.Pool().Exec(ctx, `UPDATE worker_heartbeats SET at = now() - interval '2 days'`)
	require.NoError(t, err)
	require.NoError(t, st.Beat(ctx, "c", nil, true))
	var n int
	require.NoError(t, st.Pool().QueryRow(ctx, `SELECT count(*) FROM worker_heartbeats`).Scan(&n))
	require.Equal(t, 1, n, "the silent one is forgotten")
}
