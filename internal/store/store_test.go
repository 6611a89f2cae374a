package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	st, err := store.Open(t.Context(), url, store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)

	have, want, err := st.SchemaVersion(t.Context())
	require.NoError(t, err)
	require.Zero(t, have)
	require.Positive(t, want)

	from, to, err := store.Migrate(t.Context(), url)
	require.NoError(t, err)
	require.Zero(t, from)
	require.Equal(t, want, to)

	from, to, err = store.Migrate(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, want, from)
	require.Equal(t, want, to)

	t.Run("leaves a newer schema alone", func(t *testing.T) {
		_, err := st.Pool().Exec(t.Context(), `UPDATE public.schema_version SET version = version + 1`)
		require.NoError(t, err)
		from, to, err := store.Migrate(t.Context(), url)
		require.NoError(t, err)
		require.Equal(t, want+1, from)
		require.Equal(t, want+1, to)
	})
}

func TestMigrateInParallel(t *testing.T) {
	t.Parallel()
	url := dbtest.EmptyURL(t)
	errs := make(chan error)
	for range 4 {
		go func() {
			_, _, err := store.Migrate(t.Context(), url)
			errs <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-errs)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("a malformed URL is not repeated in the error", func(t *testing.T) {
		t.Parallel()
		_, err := store.Open(t.Context(), "postgres://u:hunter2@h:port/db", store.Options{})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	})
	t.Run("a database that does not answer is unavailable", func(t *testing.T) {
		t.Parallel()
		st, err := store.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/db", store.Options{})
		require.NoError(t, err)
		defer st.Close()
		err = st.Ping(t.Context())
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		require.NotContains(t, err.Error(), "hunter2")
	})
	t.Run("sessions are bounded and named, times are UTC", func(t *testing.T) {
		t.Parallel()
		st := dbtest.Store(t)
		for setting, want := range map[string]string{
			"application_name": "taskloom", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "10s", "jit": "off",
		} {
			var got string
			require.NoError(t, st.Pool().QueryRow(t.Context(), "SHOW "+setting).Scan(&got))
			require.Equal(t, want, got, setting)
		}
	})
	t.Run("a statement that takes too long is ended, where that is asked for", func(t *testing.T) {
		t.Parallel()
		st, err := store.Open(t.Context(), dbtest.URL(t), store.Options{StatementTimeout: 50 * time.Millisecond})
		require.NoError(t, err)
		defer st.Close()
		_, err = st.Pool().Exec(t.Context(), `SELECT pg_sleep(60)`)
		require.ErrorContains(t, err, "57014")
		require.NoError(t, st.Ping(t.Context()), "the connection is as good as before")
	})
}

func TestVersionIsLoadedOnceAndShared(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	first, err := w.Store.Version(t.Context(), w.VersionID)
	require.NoError(t, err)
	require.Equal(t, "Math check", first.Definition.Name)
	again, err := w.Store.Version(t.Context(), w.VersionID)
	require.NoError(t, err)
	require.Same(t, first, again)

	_, err = w.Store.Version(t.Context(), w.VersionID+1)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}
