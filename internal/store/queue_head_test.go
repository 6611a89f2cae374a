package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// blocksOf is how many blocks of task_nodes a claim from there on reads.
func (b *bench) blocksOf(user int64, from store.QueuePosition) (n int64) {
	b.t.Helper()
	ctx := b.t.Context()
	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(b.t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	var before, after int64
	const read = `SELECT pg_stat_get_xact_blocks_fetched('task_nodes'::regclass)`
	require.NoError(b.t, tx.QueryRow(ctx, read).Scan(&before))
	tag, err := tx.Exec(ctx, store.ClaimFreshSQL, b.PipelineID, b.OrgID, user, pipeline.KindSubtask, store.ClaimTail(), from.Priority, from.TaskID)
	require.NoError(b.t, err)
	require.EqualValues(b.t, 1, tag.RowsAffected())
	require.NoError(b.t, tx.QueryRow(ctx, read).Scan(&after))
	return after - before
}

// TestAQueueBeginsBehindWhatASnapshotKeeps has 20,000 nodes leave a queue while
// somebody holds an old snapshot: a claim does not come by all of them, and what
// comes in before where it begins is served all the same.
func TestAQueueBeginsBehindWhatASnapshotKeeps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	const gone, left = 20_000, 3
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input)
		SELECT $1, $2, $3, 2, 2, '{}' FROM generate_series(1, $4::int)`, b.OrgID, b.PipelineID, b.VersionID, gone+left)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status)
		SELECT id, 'solve', $1, $2, 'subtask', 'available' FROM tasks`, b.OrgID, b.PipelineID)
	b.exec(`ANALYZE tasks, task_nodes`)
	m := b.member(ada)
	require.Equal(t, store.QueueFront, store.HeadOfQueue(b.Store, ctx, m, pipeline.KindSubtask), "nothing is in the way yet")

	snapshot := b.oldSnapshot()
	var first int64
	require.NoError(t, snapshot.QueryRow(ctx, `SELECT min(id) FROM tasks`).Scan(&first))
	b.exec(`UPDATE task_nodes SET status = 'submitted' WHERE task_id < $1`, first+gone)

	begins := store.QueuePosition{TaskID: first + gone}
	require.Eventually(t, func() bool {
		return store.HeadOfQueue(b.Store, ctx, m, pipeline.KindSubtask) == begins
	}, 10*time.Second, 10*time.Millisecond, "found when it is looked for again")
	far, near := b.blocksOf(ada, store.QueueFront), b.blocksOf(ada, begins)
	require.Greater(t, far, int64(100), "the snapshot keeps nothing: this proves nothing")
	require.Less(t, near, int64(30))

	queues, err := b.Store.Queues(ctx, ada)
	require.NoError(t, err)
	require.Equal(t, left, queues[0].Available)
	next := func() *store.Claim {
		c, err := b.Store.ClaimNext(ctx, m, pipeline.KindSubtask)
		require.NoError(t, err)
		return c
	}
	require.Equal(t, first+gone, next().TaskID)
	// What is given back is served by the next look at the latest.
	b.exec(`UPDATE task_nodes SET status = 'available' WHERE task_id = $1`, first+7)
	require.Eventually(t, func() bool {
		return store.HeadOfQueue(b.Store, ctx, m, pipeline.KindSubtask).TaskID <= first+7
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, first+7, next().TaskID)
	// And at once when there is nothing behind.
	require.Eventually(t, func() bool {
		return store.HeadOfQueue(b.Store, ctx, m, pipeline.KindSubtask).TaskID == first+gone+1
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, first+gone+1, next().TaskID)
	require.Equal(t, first+gone+2, next().TaskID)
	b.exec(`UPDATE task_nodes SET status = 'available' WHERE task_id = $1`, first+3)
	require.Equal(t, first+3, next().TaskID)
	require.Nil(t, next(), "the queue is empty")

	require.NoError(t, snapshot.Rollback(ctx))
	b.exec(`VACUUM task_nodes`)
	b.exec(`UPDATE task_nodes SET status = 'available' WHERE task_id = $1`, first+5)
	require.Eventually(t, func() bool {
		return store.HeadOfQueue(b.Store, ctx, m, pipeline.KindSubtask) == store.QueueFront
	}, 10*time.Second, 10*time.Millisecond, "nothing is in the way any more")
}
