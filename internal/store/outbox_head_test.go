package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// TestTheOutboxBeginsBehindWhatASnapshotKeeps has 20,000 rows delivered while somebody
// holds an old snapshot: who looks for what is due does not come by all of them, and
// what is due from before is told all the same.
func TestTheOutboxBeginsBehindWhatASnapshotKeeps(t *testing.T) {
	t.Parallel()
	for name, u := range map[string]store.Urgency{"handed": store.UrgencyHanded, "claimed": store.UrgencyClaimed, "created": store.UrgencyCreated} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			const gone = 20_000
			one, ids := b.oneConnection(), b.create(3)
			b.emptyOutbox(one)
			row := func(task int64, ago string) {
				b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at) VALUES ('task_sync', $1, 0, $2, now() - $3::interval)`, task, u, ago)
			}
			takes := func(want ...int64) {
				t.Helper()
				var got []int64
				require.Eventually(t, func() bool {
					rows, err := one.TakeOutbox(ctx, 16, u)
					require.NoError(t, err)
					for _, d := range rows {
						got = append(got, d.TaskID)
					}
					require.NoError(t, one.DoneOutbox(ctx, rows))
					return len(got) >= len(want)
				}, 10*time.Second, 10*time.Millisecond)
				require.ElementsMatch(t, want, got)
			}
			reads := func() (least int64) { // of one take; the look once a second reads more
				least = gone
				for range 3 {
					before := b.reads(one, "outbox")
					takes()
					least = min(least, b.reads(one, "outbox")-before)
				}
				return least
			}
			require.Zero(t, store.HeadOfOutbox(one, ctx, u), "nothing is in the way yet")

			snapshot := b.oldSnapshot()
			b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
				SELECT 'task_event', $1, i + 100, $2, now() - interval '10 minutes' + i * interval '10 ms' FROM generate_series(1, $3::int) i`, ids[2], u, gone)
			b.exec(`DELETE FROM outbox`)
			require.Eventually(t, func() bool { return !store.HeadOfOutbox(one, ctx, u).IsZero() },
				10*time.Second, 10*time.Millisecond, "found when it is looked for again")
			require.Less(t, reads(), int64(gone/10))

			row(ids[0], "0")
			takes(ids[0])
			row(ids[1], "5 minutes") // whose transaction took long, or met a clock that stepped back
			row(ids[0], "0")
			takes(ids[0], ids[1])

			lock, err := b.Store.Pool().Begin(ctx)
			require.NoError(t, err)
			defer func() { _ = lock.Rollback(ctx) }()
			_, err = lock.Exec(ctx, `LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return store.HeadOfOutbox(one, ctx, u).IsZero() },
				10*time.Second, 10*time.Millisecond, "who cannot look begins at the front")
			require.NoError(t, lock.Rollback(ctx))
			require.NotZero(t, store.HeadOfOutbox(one, ctx, u), "but once")

			require.NoError(t, snapshot.Rollback(ctx))
			require.Eventually(t, func() bool {
				b.exec(`VACUUM outbox`)
				return store.HeadOfOutbox(one, ctx, u).IsZero()
			}, 20*time.Second, 50*time.Millisecond, "nothing is in the way any more")
			row(ids[1], "5 minutes")
			takes(ids[1])
		})
	}
}

// TestToldRowsAreFoundByTheirNumber tells rows beside what an old snapshot keeps, by
// plans that were made while Postgres counted nothing in the outbox, as it nearly always
// does: to take, to give back, to put off and to delete them nobody comes by the rest.
func TestToldRowsAreFoundByTheirNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	const gone = 20_000
	one, ids := b.oneConnection(), b.create(2)
	b.emptyOutbox(one)
	b.exec(`VACUUM (ANALYZE) outbox`)
	b.oldSnapshot()
	b.exec(`INSERT INTO outbox (topic, task_id, seq, priority, next_attempt_at)
		SELECT 'task_event', $1, i + 100, 5, now() - interval '10 minutes' + i * interval '10 ms' FROM generate_series(1, $2::int) i`, ids[1], gone)
	b.exec(`DELETE FROM outbox`)
	b.exec(`VACUUM (ANALYZE) outbox`)
	var counted float64
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT reltuples FROM pg_class WHERE relname = 'outbox'`).Scan(&counted))
	require.Zero(t, counted)

	blocks := func() (n int64) { // of all indexes, read by what one does
		_, err := one.Pool().Exec(ctx, `SELECT pg_stat_force_next_flush()`)
		require.NoError(t, err)
		require.NoError(t, b.Store.Pool().QueryRow(ctx,
			`SELECT sum(idx_blks_read + idx_blks_hit)::bigint FROM pg_statio_user_indexes WHERE relname = 'outbox'`).Scan(&n))
		return n
	}
	var size int64
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT max(pg_relation_size(indexrelid)) / 8192 FROM pg_index WHERE indrelid = 'outbox'::regclass`).Scan(&size))
	require.Greater(t, size, int64(50), "there is something to come by")
	least := size
	for range 3 { // the look once a second comes by all of it
		b.exec(`INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_sync', $1, 0, 5)`, ids[0])
		require.Eventually(t, func() bool { return !store.HeadOfOutbox(one, ctx, store.UrgencyClaimed).IsZero() }, 10*time.Second, 10*time.Millisecond)
		before := blocks()
		got, err := one.TakeOutbox(ctx, 16, store.UrgencyClaimed)
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.NoError(t, one.GiveBackOutbox(ctx, []int64{got[0].ID}))
		require.NoError(t, one.RetryOutbox(ctx, got[0].ID, 0, "later"))
		require.NoError(t, one.DoneOutbox(ctx, got))
		least = min(least, blocks()-before)
	}
	require.Less(t, least, size/2)
}
