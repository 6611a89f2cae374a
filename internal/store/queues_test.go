package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// queue is the person's queue of a kind in the bench's pipeline.
func (b *bench) queue(user int64, kind pipeline.Kind) store.QueueCount {
	b.t.Helper()
	queues, err := b.Store.Queues(b.t.Context(), user)
	require.NoError(b.t, err)
	for _, q := range queues {
		if q.PipelineID == b.PipelineID && q.Kind == kind {
			return q.QueueCount
		}
	}
	require.Fail(b.t, "no such queue")
	return store.QueueCount{}
}

// reasons are the codes and counts of an explained queue.
func (b *bench) reasons(user int64, kind pipeline.Kind) map[string]int {
	b.t.Helper()
	q, err := b.Store.ExplainQueue(b.t.Context(), b.member(user), kind)
	require.NoError(b.t, err)
	out := map[string]int{}
	for _, r := range q.Reasons {
		out[r.Code] = r.Count
		require.NotEmpty(b.t, r.Message(), r.Code)
	}
	return out
}

func TestQueuesAreThoseOfTheRole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	elsewhere := b.AddProject(t, "Elsewhere")
	d := dbtest.Simple()
	d.Name = "Elsewhere's"
	b.AddPipelineTo(t, elsewhere, d, "ACTIVE")
	draft := dbtest.Simple()
	draft.Name = "Not yet"
	b.AddPipeline(t, draft, "DRAFT")
	for user, want := range map[int64][]pipeline.Kind{
		b.Contributors[0]: {pipeline.KindSubtask}, b.Reviewers[0]: {pipeline.KindReview},
		b.ProjectAdmin: {pipeline.KindSubtask, pipeline.KindReview},
		b.Admin:        {pipeline.KindSubtask, pipeline.KindSubtask, pipeline.KindReview}, // by project: Elsewhere's comes first
	} {
		queues, err := b.Store.Queues(t.Context(), user)
		require.NoError(t, err)
		var got []pipeline.Kind
		for _, q := range queues {
			got = append(got, q.Kind)
			require.NotEmpty(t, q.Project)
			require.NotEmpty(t, q.Pipeline)
		}
		require.Equal(t, want, got)
	}
	b.RemoveUser(t, b.Contributors[0])
	queues, err := b.Store.Queues(t.Context(), b.Contributors[0])
	require.NoError(t, err)
	require.Empty(t, queues)
}

// What only tasks of an earlier version have stays in its queue until it is done.
func TestAQueueOfAnEarlierVersionIsThereWhileItHoldsWork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	_, err := b.Store.SavePipelineDraft(ctx, b.member(b.Admin), b.PipelineID,
		store.DraftSave{Definition: document(t, dbtest.Simple()), Revision: 1})
	require.NoError(t, err)
	_, err = b.Store.Publish(ctx, b.OrgID, b.PipelineID, b.Admin, pipeline.Options{}, store.Publication{})
	require.NoError(t, err)

	require.Equal(t, store.QueueCount{Available: 1}, b.queue(rita, pipeline.KindReview))
	rc := b.claim(rita, pipeline.KindReview)
	require.Equal(t, store.QueueCount{Mine: 1}, b.queue(rita, pipeline.KindReview))
	require.NoError(t, b.Store.ReleaseClaim(ctx, rita, rc.ID, store.Release{}))
	b.exec(`UPDATE task_nodes SET reserved_for = $1, reserved_until = now() + interval '1 hour' WHERE key = 'check'`, rita)
	require.Equal(t, store.QueueCount{Returned: 1}, b.queue(rita, pipeline.KindReview))

	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove})
	for user, want := range map[int64]int{rita: 0, ada: 1, b.Admin: 1} {
		queues, err := b.Store.Queues(ctx, user)
		require.NoError(t, err)
		require.Len(t, queues, want, "the live version has no reviews")
	}
}

func TestQueuesCountWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
	require.Equal(t, map[string]int{"no_tasks": 0}, b.reasons(ada, pipeline.KindSubtask))
	ids := b.create(6)
	require.Equal(t, store.QueueCount{Available: 6}, b.queue(ada, pipeline.KindSubtask))

	mine := b.claim(ada, pipeline.KindSubtask)
	others := b.claim(ben, pipeline.KindSubtask)
	require.NoError(t, b.Store.Hold(ctx, b.member(b.Admin), ids[2], ""))
	require.Equal(t, store.QueueCount{Available: 3, Mine: 1, ClaimedByOthers: 1}, b.queue(ada, pipeline.KindSubtask))
	require.Equal(t, map[string]int{"claimed": 1, "held": 1}, b.reasons(ada, pipeline.KindSubtask))
	require.Equal(t, map[string]int{"upstream": 5}, b.reasons(rita, pipeline.KindReview), "the held task leads nowhere now")

	b.lapse(others.TaskID, time.Second)
	require.Equal(t, store.QueueCount{Available: 4, Mine: 1}, b.queue(ada, pipeline.KindSubtask), "a lease that ran out is there for others")
	require.Equal(t, store.QueueCount{Available: 3, Mine: 1, ClaimedByOthers: 1}, b.queue(ben, pipeline.KindSubtask), "and still held for whose it is")

	// What comes back is kept for its author.
	_, err := b.Store.Submit(ctx, ada, mine.ID, raw(answer42))
	require.NoError(t, err)
	b.settle(mine.TaskID)
	rc := b.claim(rita, pipeline.KindReview)
	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	b.settle(mine.TaskID)
	require.Equal(t, store.QueueCount{Available: 4, Returned: 1}, b.queue(ada, pipeline.KindSubtask))
	require.Equal(t, 1, b.reasons(ben, pipeline.KindSubtask)["reserved"])
	b.exec(`UPDATE task_nodes SET reserved_until = now() WHERE reserved_for IS NOT NULL`)
	require.Equal(t, store.QueueCount{Available: 4, Mine: 1}, b.queue(ben, pipeline.KindSubtask), "nobody came for it")

	// A task that ends while it is on hold is so no more.
	require.NoError(t, b.Store.FailTask(ctx, b.member(b.Admin), ids[2], ""))
	d, err := b.Store.TaskDetail(ctx, b.OrgID, b.PipelineID, ids[2])
	require.NoError(t, err)
	require.False(t, d.Held)
	onHold, err := b.Store.SearchTasks(ctx, b.OrgID, b.PipelineID, store.TaskSearch{TaskQuery: store.TaskQuery{Limit: 9}, Held: new(true)})
	require.NoError(t, err)
	require.Empty(t, onHold.Tasks)
	require.NotContains(t, b.reasons(ada, pipeline.KindSubtask), "held")

	b.exec(`UPDATE pipelines SET status = 'PAUSED' WHERE id = $1`, b.PipelineID)
	require.Zero(t, b.queue(ada, pipeline.KindSubtask).Available)
	require.Contains(t, b.reasons(ada, pipeline.KindSubtask), "paused")
}

func TestSkippedWorkIsNotServedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, ben := b.Contributors[0], b.Contributors[1]
	ids := b.create(2)
	skip := func(c *store.Claim) {
		t.Helper()
		require.NoError(t, b.Store.ReleaseClaim(ctx, ada, c.ID, store.Release{Skip: true}))
	}
	first := b.claim(ada, pipeline.KindSubtask)
	require.Equal(t, ids[0], first.TaskID)
	skip(first)
	second := b.claim(ada, pipeline.KindSubtask)
	require.Equal(t, ids[1], second.TaskID, "the next one")
	skip(second)
	require.Nil(t, b.claim(ada, pipeline.KindSubtask))
	require.Zero(t, b.queue(ada, pipeline.KindSubtask).Available)
	require.Equal(t, map[string]int{"skipped": 2}, b.reasons(ada, pipeline.KindSubtask))
	require.Equal(t, 2, b.queue(ben, pipeline.KindSubtask).Available, "others are served it")

	named, err := b.Store.ClaimTask(ctx, b.member(ada), pipeline.KindSubtask, ids[0], "solve")
	require.NoError(t, err)
	require.NoError(t, b.Store.ReleaseClaim(ctx, ada, named.ID, store.Release{}))

	// A lease of somebody else that ran out stays skipped, too.
	c := b.claim(ben, pipeline.KindSubtask)
	b.lapse(c.TaskID, time.Second)
	require.Nil(t, b.claim(ada, pipeline.KindSubtask))

	n, err := b.Store.ResetSkips(ctx, b.member(ada))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NotNil(t, b.claim(ada, pipeline.KindSubtask))
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

func TestSkipsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ada := b.Contributors[0]
	b.create(1)
	b.exec(`INSERT INTO skips (user_id, task_id, node_key, org_id, pipeline_id, created_at)
		SELECT $1, -i, 'solve', $2, $3, now() - i * interval '1 minute' FROM generate_series(1, 1000) i`, ada, b.OrgID, b.PipelineID)
	c := b.claim(ada, pipeline.KindSubtask)
	require.NoError(t, b.Store.ReleaseClaim(t.Context(), ada, c.ID, store.Release{Skip: true}))
	require.Equal(t, 1000, b.count(`SELECT count(*) FROM skips`))
	n, err := b.Store.ResetSkips(t.Context(), b.member(ada))
	require.NoError(t, err)
	require.Equal(t, 1, n, "the others are gone or done: they come back to no queue")
	require.Zero(t, b.count(`SELECT count(*) FROM skips`))
}

func TestOwnWorkIsExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(1)
	c, err := b.Store.ClaimNext(t.Context(), b.member(b.ProjectAdmin), pipeline.KindSubtask)
	require.NoError(t, err)
	_, err = b.Store.Submit(t.Context(), b.ProjectAdmin, c.ID, raw(answer42))
	require.NoError(t, err)
	b.settle(c.TaskID)
	b.exec(`UPDATE task_nodes SET four_eyes = true WHERE kind = 'review'`)
	require.Zero(t, b.queue(b.ProjectAdmin, pipeline.KindReview).Available)
	require.Equal(t, map[string]int{"own_work": 1}, b.reasons(b.ProjectAdmin, pipeline.KindReview))
	require.Equal(t, 1, b.queue(b.Reviewers[0], pipeline.KindReview).Available)
}

// More is kept for others than is counted: when the first of it comes free is still told.
func TestTheSoonestOfWhatIsKeptIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(store.CountMost + 1)
	b.exec(`UPDATE task_nodes SET reserved_for = -task_id, reserved_until = now() + task_id * interval '1 hour' WHERE key = 'solve'`)
	state, err := b.Store.ExplainQueue(t.Context(), b.member(b.Contributors[0]), pipeline.KindSubtask)
	require.NoError(t, err)
	at := slices.IndexFunc(state.Reasons, func(r store.QueueReason) bool { return r.Code == store.QueueReserved })
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, store.CountMost, state.Reasons[at].Count)
	require.WithinDuration(t, time.Now().Add(time.Duration(ids[0])*time.Hour), *state.Reasons[at].NextAt, 10*time.Minute)
}
