package store_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// A backup that is put back, and a standby that had not heard of everything, give numbers
// of versions out again. Here two databases change names under a process that goes on.
func TestAnotherDatabaseHasVersionsOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	here, there := dbtest.URL(t), dbtest.URL(t)
	open := func(url string) *store.Store {
		st, err := store.Open(ctx, url, store.Options{})
		require.NoError(t, err)
		t.Cleanup(st.Close)
		return st
	}
	st, other := open(here), open(there)
	mine := dbtest.Org(t, st, dbtest.WithDefinition(dbtest.Definition())).VersionID
	require.Equal(t, mine, dbtest.Org(t, other, dbtest.WithDefinition(dbtest.Simple())).VersionID)
	before, err := st.Version(ctx, mine)
	require.NoError(t, err)
	st.Pool().Reset()
	require.NoError(t, st.Ping(ctx))
	again, err := st.Version(ctx, mine)
	require.NoError(t, err)
	require.Same(t, before, again, "a new connection to the same database")
	other.Close()

	cfg, err := pgx.ParseConfig(here)
	require.NoError(t, err)
	elsewhere, err := pgx.ParseConfig(there)
	require.NoError(t, err)
	a, b := cfg.Database, elsewhere.Database
	cfg.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	for _, name := range [][2]string{{a, a + "_away"}, {b, a}, {a + "_away", b}} {
		_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1`, name[0])
		require.NoError(t, err)
		_, err = conn.Exec(ctx, `ALTER DATABASE `+name[0]+` RENAME TO `+name[1])
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return st.Ping(ctx) == nil }, 10*time.Second, 10*time.Millisecond)
	after, err := st.Version(ctx, mine)
	require.NoError(t, err)
	require.Equal(t, dbtest.Simple().Name, after.Definition.Name)
	require.Len(t, after.Definition.Nodes, len(dbtest.Simple().Nodes))
}
