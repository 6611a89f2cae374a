package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// TestMigrateDoesNotBlockTheProduct migrates while a long transaction holds
// what the migration needs: whoever comes after does not wait behind it.
func TestMigrateDoesNotBlockTheProduct(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	_, latest, err := store.Migrate(t.Context(), url)
	require.NoError(t, err)
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return conn
	}
	// Back to before the migration that refers to users.
	holder, other, watcher := connect(), connect(), connect()
	for _, sql := range []string{
		`DROP TABLE task_files, task_lag CASCADE`, `DROP FUNCTION task_lags, task_lags_no_more CASCADE`,
		`ALTER TABLE outbox DROP COLUMN leased_until`, `ALTER TABLE uploads DROP COLUMN look, DROP COLUMN rung_at, DROP COLUMN asked_at`,
		`ALTER TABLE drafts DROP COLUMN after_seq, DROP COLUMN after_revision`, `CREATE INDEX tasks_lagging ON tasks (updated_at) WHERE applied_seq < seq`,
		`UPDATE public.schema_version SET version = 5`, `BEGIN`, `LOCK TABLE users IN ROW EXCLUSIVE MODE`,
	} {
		_, err := holder.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := store.Migrate(t.Context(), url)
		done <- err
	}()
	require.Eventually(t, func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass`).Scan(&n)
		return err == nil && n > 0
	}, 20*time.Second, 10*time.Millisecond, "the migration does not wait for users")
	for _, sql := range []string{`SET lock_timeout = '8s'`, `BEGIN`, `LOCK TABLE users IN ROW EXCLUSIVE MODE`, `COMMIT`} {
		_, err := other.Exec(t.Context(), sql)
		require.NoError(t, err, "the product waits behind the migration")
	}
	_, err = holder.Exec(t.Context(), `COMMIT`)
	require.NoError(t, err)
	require.NoError(t, <-done)
	from, to, err := store.Migrate(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, latest, from)
	require.Equal(t, latest, to)
}
