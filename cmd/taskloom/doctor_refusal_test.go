package main

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// A database that answers, and lets its role read nothing or all but what the last
// migration made, is not well: the doctor says what it refuses, and the way out.
func TestADatabaseThatRefusesIsNotWell(t *testing.T) {
	t.Parallel()
	given := dbtest.URL(t)
	owner, err := store.Open(t.Context(), given, store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(owner.Close)
	const role = "pg_read_all_stats" // every Postgres has it, and it may read no table of ours
	u, err := url.Parse(given)
	require.NoError(t, err)
	q := u.Query()
	q.Set("role", role)
	u.RawQuery = q.Encode()
	ask := func() string {
		got := command(t, []string{"DATABASE_URL=" + u.String(), "TEMPORAL_ADDRESS=127.0.0.1:1"}, "", "doctor")
		require.Equal(t, 1, got.code)
		require.Contains(t, got.out, "ok    database")
		require.Contains(t, got.out, "→ as the owner, GRANT SELECT")
		return got.out
	}
	told := ask()
	require.Regexp(t, `fail  schema +the database answers, but not this: .*permission denied for table schema_version`, told)
	require.Regexp(t, `skip  outbox +the database does not tell: .*permission denied`, told, "the line on the schema says it")

	for _, sql := range []string{`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ` + role, `REVOKE SELECT ON task_lag FROM ` + role} {
		_, err = owner.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	told = ask()
	require.Contains(t, told, "ok    schema")
	for _, check := range []string{"outbox", "lagging tasks"} {
		require.Regexp(t, `fail  `+check+` +the database answers, but not this: .*permission denied for table task_lag`, told)
	}
}

// A table that somebody locks for long refuses as well. Nobody is told to migrate
// twice.
func TestTheDoctorKnowsARefusal(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	d := w.doctor()
	require.Equal(t, fine, d.database(t.Context()).verdict)
	require.Equal(t, fine, d.schema(t.Context()).verdict)
	w.lock("task_lag")
	ctx, cancel := context.WithTimeout(t.Context(), lockedFor/30)
	defer cancel()
	f := d.lagging(ctx)
	require.Equal(t, failure, f.verdict, f.text)
	require.Contains(t, f.wayOut, "who holds a lock")

	require.Equal(t, skipped, (&doctor{}).untold(errors.New("no such table")).verdict, "its schema is too old")
}
