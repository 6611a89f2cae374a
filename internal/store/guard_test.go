package store_test

import (
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
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

// pgx has a hook of its own for each way to send a statement.
func TestAServerThatTurnsReadOnlyIsLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(1)
	version, err := b.Store.Version(t.Context(), b.VersionID)
	require.NoError(t, err)
	input := raw(`{"question":"What is 6 times 7?"}`)
	begin, err := pipeline.Start(version.Graph, version.Skipped("start", input, form.NewBudget()))
	require.NoError(t, err)
	m := b.member(b.Contributors[0])
	for name, write := range map[string]func(*store.Store) error{
		"a statement": func(st *store.Store) error { return st.Beat(t.Context(), "w", nil, true) },
		"a batch":     func(st *store.Store) error { return st.GiveBackOutbox(t.Context(), []int64{1}) },
		"a batch that answers with rows": func(st *store.Store) error {
			_, err := st.ClaimNext(t.Context(), m, pipeline.KindSubtask)
			return err
		},
		"a transaction": func(st *store.Store) error {
			_, err := st.CreateTasks(t.Context(), store.CreateTasks{
				OrgID: b.OrgID, PipelineID: b.PipelineID, VersionID: b.VersionID,
				Tasks: []store.NewTask{{Input: input, State: begin}},
			})
			return err
		},
		"a copy": func(st *store.Store) error {
			_, err := st.Pool().CopyFrom(t.Context(), pgx.Identifier{"outbox"}, []string{"topic", "task_id", "seq", "priority"},
				pgx.CopyFromRows([][]any{{"task_event", int64(1), int64(99), int64(5)}}))
			return store.Translate(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(t.Context(), b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 1})
			require.NoError(t, err)
			t.Cleanup(st.Close)
			_, err = st.Pool().Exec(t.Context(), `SET default_transaction_read_only = on`)
			require.NoError(t, err)
			require.Equal(t, fault.Unavailable, fault.KindOf(write(st)))
			require.NoError(t, write(st), "the connection was kept")
		})
	}
}
