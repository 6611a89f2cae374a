package store_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

func TestWaitForAConnectionIsBounded(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), dbtest.URL(t), store.Options{MaxConns: 1, Patience: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	held, err := st.Pool().Acquire(t.Context())
	require.NoError(t, err)

	began := time.Now()
	_, _, err = st.SchemaVersion(t.Context())
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.Less(t, time.Since(began), 5*time.Second)

	held.Release()
	// It bounds the wait, not the work.
	_, err = st.Pool().Exec(t.Context(), `SELECT pg_sleep(0.5)`)
	require.NoError(t, err)
	_, _, err = st.SchemaVersion(t.Context())
	require.NoError(t, err)
}

func TestWaitForAServerThatDoesNotAnswerIsBounded(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // it takes connections and says nothing
	st, err := store.Open(t.Context(), "postgres://u@"+l.Addr().String()+"/db", store.Options{Patience: 200 * time.Millisecond})
	require.NoError(t, err)
	began := time.Now()
	require.Equal(t, fault.Unavailable, fault.KindOf(st.Ping(t.Context())))
	require.Less(t, time.Since(began), 4*time.Second)
}

func TestAServerThatTurnsReadOnlyIsLeft(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), dbtest.URL(t), store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	_, err = st.Pool().Exec(t.Context(), `SET default_transaction_read_only = on`)
	require.NoError(t, err)
	require.Equal(t, fault.Unavailable, fault.KindOf(st.Beat(t.Context(), "w", nil, true)))
	require.NoError(t, st.Beat(t.Context(), "w", nil, true), "the connection was kept")
}
