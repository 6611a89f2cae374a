package store_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// TestEveryMigrationGivesUpItsPlace migrates two steps at once, of which the
// second needs what somebody holds: it lets others through, as a first one does.
func TestEveryMigrationGivesUpItsPlace(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	files := fstest.MapFS{
		"0001_held.sql":  {Data: []byte(`CREATE TABLE held (n int)`)},
		"0002_other.sql": {Data: []byte(`CREATE TABLE other (n int)`)},
	}
	_, _, err := store.MigrateFiles(t.Context(), url, files)
	require.NoError(t, err)
	files["0003_alter_other.sql"] = &fstest.MapFile{Data: []byte(`ALTER TABLE other ADD COLUMN m int`)}
	files["0004_alter_held.sql"] = &fstest.MapFile{Data: []byte(`ALTER TABLE held ADD COLUMN m int`)}

	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return conn
	}
	exec := func(conn *pgx.Conn, statements ...string) {
		t.Helper()
		for _, sql := range statements {
			_, err := conn.Exec(t.Context(), sql)
			require.NoError(t, err)
		}
	}
	holder, reader, watcher := connect(), connect(), connect()
	exec(holder, `BEGIN`, `LOCK TABLE held IN ROW EXCLUSIVE MODE`)
	done := make(chan error, 1)
	go func() {
		_, _, err := store.MigrateFiles(t.Context(), url, files)
		done <- err
	}()
	require.Eventually(t, func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'held'::regclass`).Scan(&n)
		return err == nil && n > 0
	}, 20*time.Second, 10*time.Millisecond, "the migration does not wait")
	exec(reader, `SET lock_timeout = '8s'`, `SELECT count(*) FROM held`)
	exec(holder, `COMMIT`)
	require.NoError(t, <-done)
}

// TestAnIndexIsMadeConcurrentlyBesideAnotherMigration begins two migrations while
// somebody writes. The first one waits for the writer and then for everything that
// reads, and the second one, which waits for the first, must not be among it.
func TestAnIndexIsMadeConcurrentlyBesideAnotherMigration(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	files := fstest.MapFS{"0001_held.sql": {Data: []byte(`CREATE TABLE held (n int)`)}}
	_, _, err := store.MigrateFiles(t.Context(), url, files)
	require.NoError(t, err)
	files["0002_held_n.sql"] = &fstest.MapFile{Data: []byte(`---- tern: disable-tx ----
SET lock_timeout = 0;
CREATE INDEX CONCURRENTLY held_n ON held (n);
`)}
	writer, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = writer.Close(context.WithoutCancel(t.Context())) })
	watcher, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = watcher.Close(context.WithoutCancel(t.Context())) })
	_, err = writer.Exec(t.Context(), `BEGIN; INSERT INTO held VALUES (1)`)
	require.NoError(t, err)

	done := make(chan error, 2)
	begin := func(what, seen string) {
		t.Helper()
		go func() {
			_, _, err := store.MigrateFiles(t.Context(), url, files)
			done <- err
		}()
		require.Eventually(t, func() bool {
			var there bool
			err := watcher.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
				AND pid <> pg_backend_pid() AND query LIKE $1)`, seen).Scan(&there)
			return err == nil && there
		}, 20*time.Second, 10*time.Millisecond, what)
	}
	begin("no index is being made", `%CREATE INDEX%`)
	begin("nobody waits for the other migration", `%advisory_lock%`)
	_, err = writer.Exec(t.Context(), `COMMIT`)
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	var valid bool
	require.NoError(t, watcher.QueryRow(t.Context(), `SELECT indisvalid FROM pg_index WHERE indexrelid = 'held_n'::regclass`).Scan(&valid))
	require.True(t, valid)
}

// TestAMigrationEndsAutovacuums holds a table as a vacuum does. The migration
// waits for as long as Postgres needs to end one, in a mode that keeps nobody
// else waiting.
func TestAMigrationEndsAutovacuums(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	files := fstest.MapFS{"0001_held.sql": {Data: []byte(`CREATE TABLE "Held" (n int)`)}}
	_, _, err := store.MigrateFiles(t.Context(), url, files)
	require.NoError(t, err)
	files["0002_alter_held.sql"] = &fstest.MapFile{Data: []byte(`ALTER TABLE "Held" ADD COLUMN m int`)}
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return conn
	}
	vacuum, writer, watcher := connect(), connect(), connect()
	_, err = vacuum.Exec(t.Context(), `BEGIN; LOCK TABLE "Held" IN SHARE UPDATE EXCLUSIVE MODE`)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, _, err := store.MigrateFiles(t.Context(), url, files)
		done <- err
	}()
	require.Eventually(t, func() bool {
		var n int
		err := watcher.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE "Held" IN SHARE UPDATE%'
			AND clock_timestamp() - query_start > current_setting('deadlock_timeout')::interval`).Scan(&n)
		return err == nil && n > 0
	}, 30*time.Second, 10*time.Millisecond, "the migration never waits for longer than a deadlock takes to be found")
	_, err = writer.Exec(t.Context(), `SET lock_timeout = '500ms'; INSERT INTO "Held" VALUES (1)`)
	require.NoError(t, err, "somebody who writes waits behind it")
	_, err = vacuum.Exec(t.Context(), `COMMIT`)
	require.NoError(t, err)
	require.NoError(t, <-done)
}
