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
	_, err = st.Pool().Exec(ctx, `UPDATE worker_heartbeats SET at = now() + interval '61 seconds' WHERE worker_id = 'a'`)
	require.NoError(t, err)
	require.Zero(t, alive("tasks"), "of before the clock stepped back")
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

func TestAWorkerThatLosesItsConnectionIsMissedAtOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := dbtest.Store(t)
	alive := func() int {
		n, err := st.WorkersAlive(ctx, "ingest", time.Minute)
		require.NoError(t, err)
		return n
	}
	p := st.Pulse("a")
	require.NoError(t, p.Beat(ctx, []string{"tasks", "ingest"}, true))
	require.NoError(t, p.Beat(ctx, []string{"tasks", "ingest"}, true))
	require.Equal(t, 1, alive())
	var pid int
	require.NoError(t, st.Pool().QueryRow(ctx, `SELECT backend_pid FROM worker_heartbeats`).Scan(&pid))

	p.Cut() // as the end of the process does
	require.Eventually(t, func() bool { return alive() == 0 }, 10*time.Second, 10*time.Millisecond)

	require.Error(t, p.Beat(ctx, []string{"ingest"}, true), "that the connection broke is noticed")
	require.NoError(t, p.Beat(ctx, []string{"ingest"}, true), "the next beat has another")
	require.Equal(t, 1, alive())
	_, err := st.Pool().Exec(ctx, `SELECT pg_terminate_backend(backend_pid) FROM worker_heartbeats`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return alive() == 0 }, 10*time.Second, 10*time.Millisecond)
	require.Eventually(t, func() bool { return p.Beat(ctx, []string{"ingest"}, true) == nil }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, alive())

	require.NoError(t, st.Beat(ctx, "a", []string{"ingest"}, true))
	require.Equal(t, 1, alive(), "a beat without a connection of its own counts by its time")
	_, err = st.Pool().Exec(ctx, `UPDATE worker_heartbeats SET at = now() - interval '61 seconds'`)
	require.NoError(t, err)
	require.Zero(t, alive(), "a worker that is paused keeps its connection")
	require.NoError(t, p.Beat(ctx, []string{"ingest"}, true))
	require.NoError(t, p.Stop(ctx))
	require.Zero(t, alive())
	require.NoError(t, p.Stop(ctx))
}
