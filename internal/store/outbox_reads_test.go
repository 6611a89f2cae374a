package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// A plan is kept for as long as a connection lives. One that was made when
// nothing was in the outbox must do for a full one: what is done by the store
// itself reads few rows, on a connection that has done it before.
func TestPlansOfAnEmptyOutboxServeAFullOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	one, m, ids := b.oneConnection(), b.member(b.Contributors[0]), b.create(20)
	act := func() { // everything that writes to the outbox while people work
		c, err := one.ClaimNext(ctx, m, pipeline.KindSubtask)
		require.NoError(t, err)
		_, err = one.Submit(ctx, m.UserID, c.ID, raw(`{"answer":"42","sure":true}`))
		require.NoError(t, err)
		got, err := one.TakeOutbox(ctx, 1, store.UrgencyHanded)
		require.NoError(t, err)
		require.Len(t, got, 1)
		_, err = one.TakeOutbox(ctx, 1, store.UrgencyCreated)
		require.NoError(t, err)
		_, err = one.StepsBehind(ctx)
		require.NoError(t, err)
		require.NoError(t, one.GiveBackOutbox(ctx, []int64{got[0].ID}))
		require.NoError(t, one.RetryOutbox(ctx, got[0].ID, 0, "later"))
		require.NoError(t, one.DoneOutbox(ctx, got))
	}
	fill := func(n int) {
		b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
			SELECT 'task_event', $1, (SELECT coalesce(max(seq), 100) FROM outbox) + i, 9, now() + interval '1 hour'
			FROM generate_series(1, $2::int) i`, ids[19], n)
	}
	b.emptyOutbox(one)
	fill(1)
	for range 7 { // Postgres keeps a plan from the sixth time on
		b.exec(`VACUUM (ANALYZE) outbox`) // and makes it anew after this, by what there is
		act()
	}
	const full = 5000
	fill(full)
	before := b.reads(one, "outbox")
	act()
	require.Less(t, b.reads(one, "outbox")-before, int64(full), "no statement reads the outbox whole")
}

// TestSubmissionsOfATaskAreFoundByIndex hands in by plans that were made when nearly
// nothing had been handed in, as a new installation does until Postgres has counted.
func TestSubmissionsOfATaskAreFoundByIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	one, m := b.oneConnection(), b.member(b.Contributors[0])
	b.create(20)
	b.exec(`ALTER TABLE submissions SET (autovacuum_enabled = off)`)
	act := func() {
		c, err := one.ClaimNext(ctx, m, pipeline.KindSubtask)
		require.NoError(t, err)
		_, err = one.Submit(ctx, m.UserID, c.ID, raw(answer42))
		require.NoError(t, err)
	}
	for range 7 {
		b.exec(`VACUUM (ANALYZE) submissions`)
		act()
	}
	const full = 5000
	b.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq)
		SELECT gen_random_uuid(), $1, -i, 'solve', 1, -1, 3 FROM generate_series(1, $2::int) i`, b.OrgID, full)
	before := b.reads(one, "submissions")
	act()
	require.Less(t, b.reads(one, "submissions")-before, int64(full))
}

// oneConnection is the store on a connection of its own: what is done by it meets
// the plans that it made before, and what it reads can be counted.
func (b *bench) oneConnection() *store.Store {
	b.t.Helper()
	one, err := store.Open(b.t.Context(), b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 1})
	require.NoError(b.t, err)
	b.t.Cleanup(one.Close)
	return one
}

// oldSnapshot sees everything as it is now, so Postgres keeps what is deleted from now on,
// until it is rolled back.
func (b *bench) oldSnapshot() pgx.Tx {
	b.t.Helper()
	ctx := context.WithoutCancel(b.t.Context())
	snapshot, err := b.Store.Pool().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = snapshot.Rollback(ctx) })
	for _, sql := range []string{`SET LOCAL idle_in_transaction_session_timeout = 0`, `SELECT FROM tasks`} {
		_, err = snapshot.Exec(ctx, sql)
		require.NoError(b.t, err)
	}
	return snapshot
}

// emptyOutbox leaves no row in the outbox, and nobody who vacuums it: that would
// have the plans made anew. It deletes where reads are counted at once.
func (b *bench) emptyOutbox(one *store.Store) {
	b.t.Helper()
	b.exec(`ALTER TABLE outbox SET (autovacuum_enabled = off)`)
	_, err := one.Pool().Exec(b.t.Context(), `DELETE FROM outbox`)
	require.NoError(b.t, err)
}

// reads is how many rows and index entries of a table were read until now on this
// connection. Others tell what they read when they please, a second late or
// ten: what reads many rows between two counts must do it here.
func (b *bench) reads(one *store.Store, table string) (rows int64) {
	b.t.Helper()
	_, err := one.Pool().Exec(b.t.Context(), `SELECT pg_stat_force_next_flush()`)
	require.NoError(b.t, err)
	require.NoError(b.t, b.Store.Pool().QueryRow(b.t.Context(), `SELECT max(t.seq_tup_read) + sum(i.idx_tup_read)::bigint
		FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid) WHERE t.relname = $1`, table).Scan(&rows))
	return rows
}

// After an outage thousands of rows are due, two for each task that was claimed and
// handed in: who takes some reads those, and passes over the others' claims once.
func TestTakingSomeReadsFewAfterAnOutage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	const tasks, some = 3000, 16
	one, ids := b.oneConnection(), b.create(tasks)
	b.emptyOutbox(one)
	take := func(u store.Urgency, want int) {
		got, err := one.TakeOutbox(ctx, some, u)
		require.NoError(t, err)
		require.Len(t, got, want)
		require.NoError(t, one.DoneOutbox(ctx, got))
	}
	take(store.UrgencyHanded, 0) // plans are made now, and kept
	take(store.UrgencyClaimed, 0)
	b.exec(`INSERT INTO task_events (task_id, seq, kind)
		SELECT id, seq, CASE seq WHEN 2 THEN 'claim' ELSE 'submit' END FROM unnest($1::bigint[]) id, generate_series(2, 3) seq`, ids)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
		SELECT 'task_event', id, seq, CASE seq WHEN 2 THEN $2::int ELSE 0 END, now() - $3::int * interval '1 ms' + n * interval '1 ms'
		FROM unnest($1::bigint[]) WITH ORDINALITY AS t (id, n), generate_series(2, 3) seq ORDER BY n, seq`,
		ids[1:], store.UrgencyClaimed, tasks)
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_event', $1, 2, $2)`, ids[0], store.UrgencyClaimed)

	before := b.reads(one, "outbox")
	take(store.UrgencyHanded, some)
	require.Less(t, b.reads(one, "outbox")-before, int64(tasks/2))

	for done := false; !done; { // the one claim that stands for itself is the last of all
		got, err := one.TakeOutbox(ctx, some, store.UrgencyClaimed)
		require.NoError(t, err)
		require.NoError(t, one.DoneOutbox(ctx, got))
		if done = len(got) > 0; done {
			require.Equal(t, ids[0], got[0].TaskID)
		}
	}
	for range tasks / 128 {
		take(store.UrgencyClaimed, 0)
	}
	require.Eventually(t, func() bool { // an autovacuum's snapshot may keep what is gone for a moment
		b.exec(`VACUUM outbox`)
		before = b.reads(one, "outbox")
		take(store.UrgencyClaimed, 0)
		return b.reads(one, "outbox")-before < tasks/2
	}, 20*time.Second, 50*time.Millisecond)
	var claims, handed int
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT count(*) FILTER (WHERE priority = $1), count(*) FILTER (WHERE priority = 0) FROM outbox`,
		store.UrgencyClaimed).Scan(&claims, &handed))
	require.Zero(t, claims)
	require.Equal(t, tasks-1-some, handed, "nothing else is gone")
}
