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
			AND (statement LIKE 'WITH mine AS%' OR statement LIKE 'SELECT least(%')`, pgx.QueryExecModeExec).Scan(&n))
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

// TestAStandbyKeepsItsTimes asserts that a connection to a standby, which may be promoted
// later, waits for locks as long as all others.
func TestAStandbyKeepsItsTimes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, sql := range []string{
		`CREATE SCHEMA standby`, // whose connections believe that they are to one
		`CREATE FUNCTION standby.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
	} {
		_, err := b.Store.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	st := openWarm(t, b.Store.Pool().Config().ConnString()+"&search_path=standby,pg_catalog,public", 1)
	var timeout string
	require.NoError(t, st.Pool().QueryRow(t.Context(), `SHOW lock_timeout`).Scan(&timeout))
	require.Equal(t, "10s", timeout)
}
