package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// openWarm opens a store that keeps its connections warm, and waits until all are there.
func openWarm(t *testing.T, url string, conns int32) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), url, store.Options{MaxConns: conns, Warm: true})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	require.Eventually(t, func() bool { return st.Pool().Stat().IdleConns() == conns }, 20*time.Second, 5*time.Millisecond)
	return st
}

// TestConnectionsAreWarmBeforeTheyAreUsed asserts that nobody waits for a connection or
// for the plans of a claim, and that a connection that is lost is replaced by one like it.
func TestConnectionsAreWarmBeforeTheyAreUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(1)
	const conns = 4
	st := openWarm(t, b.Store.Pool().Config().ConnString(), conns)
	planned := func(conn *pgx.Conn) (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_prepared_statements WHERE generic_plans > 0
			AND (statement LIKE 'WITH allowed AS%' OR statement LIKE 'SELECT least(%')`, pgx.QueryExecModeExec).Scan(&n))
		return n
	}
	all := st.Pool().AcquireAllIdle(t.Context())
	require.Len(t, all, conns)
	for _, conn := range all {
		require.Equal(t, 2, planned(conn.Conn()))
		conn.Release()
	}
	one := openWarm(t, b.Store.Pool().Config().ConnString(), 1)
	c, err := one.ClaimNext(t.Context(), b.member(b.Contributors[0]), pipeline.KindSubtask)
	require.NoError(t, err)
	require.NotNil(t, c, "what is run for nobody takes nothing")
	conn, err := one.Pool().Acquire(t.Context())
	require.NoError(t, err)
	first := conn.Conn().PgConn().PID()
	require.NoError(t, conn.Conn().Close(t.Context()))
	conn.Release()
	conn, err = one.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	require.NotEqual(t, first, conn.Conn().PgConn().PID())
	require.Equal(t, 2, planned(conn.Conn()))
}

// A process may be there before its tables are.
func TestConnectionsAreWarmWithoutTables(t *testing.T) {
	t.Parallel()
	st := openWarm(t, dbtest.EmptyURL(t), 2)
	require.NoError(t, st.Ping(t.Context()))
}

// TestConnectionsAreMadeWhileATableIsLocked asserts that new connections do not wait for
// a table, and wait as long as all others once they are used.
func TestConnectionsAreMadeWhileATableIsLocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tx, err := b.Store.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), `LOCK TABLE tasks, task_nodes, pipelines IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	st, err := store.Open(t.Context(), b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 2, Warm: true})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // half of what a lock is waited for
	defer cancel()
	var timeout string
	require.NoError(t, st.Pool().QueryRow(ctx, `SHOW lock_timeout`).Scan(&timeout))
	require.Equal(t, "10s", timeout)
}

// TestAReadOnlyServerKeepsItsConnections asserts that people read on where nothing can be
// written, as on a standby, by connections that stay; they wait for locks as long as all
// others, for it may be written again.
func TestAReadOnlyServerKeepsItsConnections(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	st := openWarm(t, b.Store.Pool().Config().ConnString(), 2)
	seen := map[uint32]bool{}
	for range 20 {
		conn, err := st.Pool().Acquire(t.Context())
		require.NoError(t, err)
		seen[conn.Conn().PgConn().PID()] = true
		conn.Release()
	}
	require.LessOrEqual(t, len(seen), 2)
	require.EqualValues(t, 2, st.Pool().Stat().NewConnsCount())
	var timeout string
	require.NoError(t, st.Pool().QueryRow(t.Context(), `SHOW lock_timeout`).Scan(&timeout))
	require.Equal(t, "10s", timeout)
}
