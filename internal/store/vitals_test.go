package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func TestVitals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := newBench(t)
	vitals := func() store.Vitals {
		v, err := b.Store.Vitals(ctx, time.Minute)
		require.NoError(t, err)
		return v
	}
	v := vitals()
	require.Zero(t, v.OutboxRows)
	require.Zero(t, v.OutboxOldest)
	require.Zero(t, v.UrgentOldest)
	require.Zero(t, v.LagOldest)
	require.Empty(t, v.Workers)
	require.Zero(t, v.UploadStalled)
	require.True(t, slices.ContainsFunc(v.Tables, func(r store.TableRows) bool { return r.Table == "task_nodes" }))

	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input, seq, applied_seq, updated_at)
		SELECT $1, $2, $3, 1, 1, '{}', 5, i, now() - i * interval '1 minute' FROM generate_series(3, 5) i`, b.OrgID, b.PipelineID, b.VersionID)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, created_at)
		SELECT 'task_event', id, 5, CASE applied_seq WHEN 3 THEN 9 ELSE 0 END, updated_at - interval '1 hour' FROM tasks ORDER BY applied_seq DESC`)
	b.exec(`UPDATE outbox SET created_at = now() - interval '2 hours' WHERE priority = 9`)
	b.exec(`INSERT INTO count_changes VALUES ($1, 0, 'subtask:quarantined', 3), ($1, 0, 'subtask:quarantined', -1)`, b.PipelineID)
	b.exec(`INSERT INTO pipeline_counts VALUES ($1, 0, 'subtask:quarantined', 4), ($1, $2, 'finished', 7)`, b.PipelineID, b.VersionID)
	require.NoError(t, b.Store.Beat(ctx, "a", []string{"tasks", "ingest"}, true))
	require.NoError(t, b.Store.Beat(ctx, "b", []string{"tasks"}, false))
	v = vitals()
	require.EqualValues(t, 3, v.OutboxRows)
	require.InDelta(t, 65*60, v.UrgentOldest.Seconds(), 30, "bulk starts are not urgent")
	require.EqualValues(t, 2, v.Lagging)
	require.EqualValues(t, 2, v.LagEvents)
	require.InDelta(t, 4*60, v.LagOldest.Seconds(), 30)
	require.Equal(t, map[string]store.QueueWorkers{"tasks": {Heard: 2, Ready: 1}, "ingest": {Heard: 1, Ready: 1}}, v.Workers)
	require.Contains(t, v.Nodes, store.NodeCount{Kind: "subtask", State: "quarantined", N: 6})
	require.EqualValues(t, 7, v.Tasks["finished"])
}

// What an archived pipeline has waits for nobody, until it is taken out of the archive:
// it must not hide what is quarantined elsewhere. Its tasks are tasks all the same.
func TestVitalsLeaveWhatIsArchivedOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := newBench(t)
	b.create(2)
	b.exec(`UPDATE task_nodes SET status = 'quarantined' WHERE kind = 'subtask'`)
	other, _ := b.AddPipeline(t, dbtest.Simple(), store.StatusActive)
	b.exec(`INSERT INTO count_changes VALUES ($1, 0, 'subtask:quarantined', 1)`, other)
	for _, step := range []struct {
		verb pipeline.Verb
		want int64
	}{{pipeline.VerbPause, 3}, {pipeline.VerbArchive, 1}, {pipeline.VerbUnarchive, 3}} {
		_, err := b.Store.SetPipelineStatus(ctx, b.OrgID, b.PipelineID, b.Admin, step.verb)
		require.NoError(t, err, step.verb)
		v, err := b.Store.Vitals(ctx, time.Minute)
		require.NoError(t, err)
		require.Contains(t, v.Nodes, store.NodeCount{Kind: "subtask", State: "quarantined", N: step.want}, step.verb)
		require.EqualValues(t, 2, v.Tasks["open"], step.verb)
	}
}

// TestVitalsReadByIndex asserts that a scrape costs the same with any number
// of tasks and any backlog.
func TestVitalsReadByIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input, seq, applied_seq)
		SELECT $1, $2, $3, 1, 1, '{}', 5, CASE WHEN i % 4 = 0 THEN 4 ELSE 5 END FROM generate_series(1, 50000) i`, b.OrgID, b.PipelineID, b.VersionID)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) SELECT 'task_event', id, 5, CASE WHEN id % 100 = 0 THEN 0 ELSE 9 END FROM tasks`)
	b.exec(`INSERT INTO uploads (id, org_id, pipeline_id, created_by, status, object_key, derived, expires_at, finished_at)
		SELECT gen_random_uuid(), $1, $2, 1, 'completed', 'k', true, now(), now() FROM generate_series(1, 20000)`, b.OrgID, b.PipelineID)
	b.exec(`INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type, swept)
		SELECT gen_random_uuid(), $1, i, 'solve', 'scan', $2, 'put', 'a', 1, '', i % 100 > 0 FROM generate_series(1, 20000) i`, b.OrgID, b.Contributors[0])
	b.exec(`INSERT INTO idempotency_keys (api_key_id, route, key, body_hash, status, answer)
		SELECT $1, 'POST /x', i, '', 201, '{}' FROM generate_series(1, 20000) i`, b.KeyID)
	for _, table := range []string{"tasks", "task_lag", "outbox", "uploads", "task_files", "idempotency_keys"} {
		b.exec(`ANALYZE ` + table)
	}
	for name, c := range map[string]struct {
		sql     string
		args    []any
		indexes []string
	}{
		"lag":     {store.VitalsLagSQL, []any{store.VitalsLimit}, []string{"task_lag_since", "tasks_pkey"}},
		"uploads": {store.VitalsUploadsSQL, []any{store.VitalsLimit}, []string{"uploads_processing"}},
		"outbox":  {store.VitalsOutboxSQL, []any{store.VitalsLimit, 9}, []string{"outbox_pkey", "outbox_next"}},
		"vain":    {store.OutboxVainSQL, nil, []string{"outbox_next"}},
		"counts":  {store.VitalsCountsSQL, nil, nil},
		"sweeps": {
			store.VitalsSweepsSQL, []any{store.VitalsLimit}, []string{"uploads_unswept", "task_files_unswept", "idempotency_keys_created"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var used []string
			b.explain(c.sql, c.args...).walk(func(n planNode) {
				if n.Index != "" {
					used = append(used, n.Index)
				}
				require.LessOrEqual(t, n.Rows+n.Removed, float64(store.VitalsLimit))
			})
			for _, index := range c.indexes {
				require.Contains(t, used, index)
			}
		})
	}
}

// A vacuum that takes long is no transaction that keeps rows, and nobody shall be
// told to end it.
func TestVitalsLeaveVacuumsOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := newBench(t)
	b.exec(`CREATE TABLE large AS SELECT i, repeat('x', 500) AS text FROM generate_series(1, 20000) i`)
	b.exec(`DELETE FROM large WHERE i % 2 = 0`)
	conn, err := pgx.ConnectConfig(ctx, b.Store.Pool().Config().ConnConfig.Copy())
	require.NoError(t, err)
	_, err = conn.Exec(ctx, `SET vacuum_cost_delay = '100ms'; SET vacuum_cost_limit = 1`)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Exec(ctx, `VACUUM large`) // until the test ends it
		_ = conn.Close(context.WithoutCancel(ctx))
	}()
	var age time.Duration
	require.Eventually(t, func() bool {
		err := b.Store.Pool().QueryRow(ctx, `SELECT clock_timestamp() - a.xact_start FROM pg_stat_activity a
			JOIN pg_stat_progress_vacuum v USING (pid) WHERE a.pid = $1 AND a.backend_xmin IS NOT NULL`, conn.PgConn().PID()).Scan(&age)
		return err == nil && age > time.Second
	}, 20*time.Second, 20*time.Millisecond)
	v, err := b.Store.Vitals(ctx, time.Minute)
	require.NoError(t, err)
	require.Less(t, v.OldestTransaction, age)
	b.exec(`SELECT pg_terminate_backend($1)`, conn.PgConn().PID())
	<-ended
}

// A prepared transaction keeps rows without any session. By default Postgres prepares
// none, so a table in front of its view stands in for it.
func TestVitalsSeePreparedTransactions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := newBench(t)
	b.exec(`CREATE TABLE public.pg_prepared_xacts AS TABLE pg_catalog.pg_prepared_xacts WITH NO DATA`)
	b.exec(`INSERT INTO public.pg_prepared_xacts (prepared, database)
		VALUES (now() - interval '1 hour', current_database()), (now() - interval '3 hours', 'another')`)
	conn, err := pgx.ConnectConfig(ctx, b.Store.Pool().Config().ConnConfig.Copy())
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, `SET search_path = public, pg_catalog`)
	require.NoError(t, err)
	var age time.Duration
	require.NoError(t, conn.QueryRow(ctx, store.VitalsTransactionSQL).Scan(&age))
	require.InDelta(t, time.Hour.Seconds(), age.Seconds(), 60)
}
