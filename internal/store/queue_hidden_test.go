package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// inTheWay is more than anybody counts.
const inTheWay = 2_200

// TestHeldWorkHidesNothing has an admin hold more tasks than are counted, at the
// front of a queue: what lies behind them is shown, and served.
func TestHeldWorkHidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	b.fill(inTheWay, "solve", pipeline.KindSubtask)
	b.exec(`UPDATE tasks SET held = true`)
	b.exec(`ANALYZE tasks, task_nodes`)
	require.Zero(t, b.queue(ada, pipeline.KindSubtask).Available)
	c, err := b.Store.ClaimNext(ctx, b.member(ada), pipeline.KindSubtask)
	require.NoError(t, err)
	require.Nil(t, c)

	ids := b.create(3)
	require.Eventually(t, func() bool {
		return b.queue(ada, pipeline.KindSubtask).Available == 3
	}, 10*time.Second, 10*time.Millisecond, "at the next look")
	require.Eventually(t, func() bool {
		return b.queue(ada, pipeline.KindSubtask).Available == 1
	}, 10*time.Second, 10*time.Millisecond, "nobody has looked for long")
	require.Equal(t, 3, b.queue(ada, pipeline.KindSubtask).Available, "whoever asks has it looked at")
	require.Equal(t, ids[0], b.claim(ada, pipeline.KindSubtask).TaskID)

	// What is held no more is served in its order again.
	var first int64
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT min(id) FROM tasks`).Scan(&first))
	require.NoError(t, b.Store.Unhold(ctx, b.member(b.Admin), first, ""))
	require.Eventually(t, func() bool {
		return store.HeadOfQueue(b.Store, ctx, b.member(ada), pipeline.KindSubtask).TaskID <= first
	}, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, first, b.claim(ada, pipeline.KindSubtask).TaskID)
}

// TestOwnWorkHidesNothing has more reviews of somebody's own work at the front of a
// queue than are counted: one of somebody else's behind them is shown to them.
func TestOwnWorkHidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	admin, ada := b.Admin, b.Contributors[0]
	b.ownReviews(inTheWay, admin)
	require.Zero(t, b.queue(admin, pipeline.KindReview).Available)
	b.exec(`UPDATE task_nodes SET actor = $1 WHERE kind = 'subtask' AND task_id = (SELECT max(id) FROM tasks)`, ada)
	require.Equal(t, 1, b.queue(admin, pipeline.KindReview).Available)
	require.NotNil(t, b.claim(admin, pipeline.KindReview))
	require.Zero(t, b.queue(admin, pipeline.KindReview).Available)
}

// TestAllIsFoundBehindOwnWorkInSteps has far more of it than anybody goes by at once: the
// numbers of the queue and a page of the list read so many rows and no more, and what is
// behind comes by and by.
func TestAllIsFoundBehindOwnWorkInSteps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const own, page = 12_000, 100
	admin, front := b.Admin, store.QueueFront
	b.ownReviews(own, admin)
	var last int64
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `UPDATE task_nodes SET actor = $1
		WHERE kind = 'subtask' AND task_id = (SELECT max(id) FROM tasks) RETURNING task_id`, b.Contributors[0]).Scan(&last))

	readsFew(t, b.explainKept(store.KeepPlanSQL, store.AnyFreeSQL, b.PipelineID, b.OrgID, admin, pipeline.KindReview, front.Priority, front.TaskID),
		4*store.WalkFar)
	readsFew(t, b.explain(store.ReviewsByAgeSQL, b.PipelineID, b.OrgID, admin, time.Time{}, int64(0), "", page), 8*page)

	looks := 0
	for b.queue(admin, pipeline.KindReview).Available == 0 {
		looks++
		require.LessOrEqual(t, looks, own/store.WalkFar)
	}
	require.Equal(t, 1, b.queue(admin, pipeline.KindReview).Available, "where it was is known now")
	m, q := b.member(admin), store.ReviewQuery{Limit: page}
	var listed []store.QueuedReview
	for more := true; more; {
		found, err := b.Store.ReviewQueue(t.Context(), m, q)
		require.NoError(t, err)
		listed = append(listed, found.Reviews...)
		if more = found.Next != nil; more {
			q.After = *found.Next
		}
	}
	require.Equal(t, []int64{last}, taskIDs(listed))
	require.Equal(t, last, b.claim(admin, pipeline.KindReview).TaskID)
	require.Zero(t, b.queue(admin, pipeline.KindReview).Available)
}

// TestALookOutlivesWhoLooks has a caller go away while they look for everybody.
func TestALookOutlivesWhoLooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fill(inTheWay, "solve", pipeline.KindSubtask)
	b.exec(`UPDATE tasks SET held = true`)
	ids := b.create(1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, store.QueuePosition{TaskID: ids[0]},
		store.HeadOfQueue(b.Store, gone, b.member(b.Contributors[0]), pipeline.KindSubtask))
}

// ownReviews has so many reviews wait under four eyes, all of one person's work.
func (b *bench) ownReviews(n int, author int64) {
	b.t.Helper()
	b.fill(n, "check", pipeline.KindReview)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status, actor)
		SELECT id, 'solve', $1, $2, 'subtask', 'submitted', $3 FROM tasks`, b.OrgID, b.PipelineID, author)
	b.exec(`UPDATE task_nodes SET four_eyes = true WHERE kind = 'review'`)
	b.exec(`ANALYZE tasks, task_nodes`)
}

// fill has so many tasks with a node that is free lie in a queue.
func (b *bench) fill(n int, key string, kind pipeline.Kind) {
	b.t.Helper()
	b.exec(`INSERT INTO tasks (org_id, pipeline_id, version_id, n_total, n_pending, input)
		SELECT $1, $2, $3, 2, 2, '{}' FROM generate_series(1, $4::int)`, b.OrgID, b.PipelineID, b.VersionID, n)
	b.exec(`INSERT INTO task_nodes (task_id, key, org_id, pipeline_id, kind, status)
		SELECT id, $3, $1, $2, $4, 'available' FROM tasks`, b.OrgID, b.PipelineID, key, kind)
}
