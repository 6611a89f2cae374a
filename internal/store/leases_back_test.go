package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// waysBack are the ways in which a claim is ended without anything having been handed in.
var waysBack = map[string]func(b *bench, c *store.Claim) error{
	"by its holder": func(b *bench, c *store.Claim) error {
		return b.Store.ReleaseClaim(b.t.Context(), c.UserID, c.ID, store.Release{})
	},
	"by an admin": func(b *bench, c *store.Claim) error {
		return b.Store.ReleaseNode(b.t.Context(), b.member(b.Admin), c.TaskID, c.Node, 0, "")
	},
	"by an admin, with others": func(b *bench, c *store.Claim) error {
		require.Equal(b.t, []int64{c.TaskID}, b.bulk([]int64{c.TaskID}, store.BulkAction{Kind: store.BulkRelease}).Done)
		return nil
	},
	"when its lease is over": func(b *bench, c *store.Claim) error {
		b.ranOut(c)
		_, err := b.Store.CheckDeadlines(b.t.Context(), c.TaskID)
		return err
	},
	"when its holder leaves": func(b *bench, c *store.Claim) error {
		return b.Store.RemoveUser(b.t.Context(), b.Slug, b.Email(b.nameOf(c.UserID)))
	},
}

// ranOut lets the lease of a claim run out, which nobody has ended yet.
func (b *bench) ranOut(c *store.Claim) {
	b.t.Helper()
	b.exec(`WITH n AS (UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1 AND key = $2 RETURNING claim_id)
		UPDATE task_events e SET lease_ends = now() - interval '1 second' FROM n
		WHERE e.task_id = $1 AND e.kind = 'claim' AND e.claim_id = n.claim_id`, c.TaskID, c.Node)
}

// Who works on a subtask keeps it while a step before it is done again. What they give back
// waits for that step, whether or not the run has heard of anything yet: nobody begins with
// answers that are about to be others.
func TestWhatIsGivenBackWaitsForTheStepBeforeIt(t *testing.T) {
	t.Parallel()
	for way, giveBack := range waysBack {
		for run, applied := range map[string]bool{"the run knows": true, "the run is behind": false} {
			t.Run(way+", "+run, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, dbtest.WithDefinition(fork()))
				ctx, id := t.Context(), b.create(1)[0]
				ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
				b.submitted(ada, id, "solve", answer42)
				c, err := b.Store.ClaimTask(ctx, b.member(ben), pipeline.KindSubtask, id, "left")
				require.NoError(t, err)
				rc, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, id, "check")
				require.NoError(t, err)
				b.settle(id)
				_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictReject})
				require.NoError(t, err)
				if applied {
					require.Equal(t, task.NodeClaimed, b.statusOf(id, "left"))
				}

				require.NoError(t, giveBack(b, c))
				_, err = b.Store.ClaimTask(ctx, b.member(ada), pipeline.KindSubtask, id, "left")
				conflicts(t, err, "is pending")
				require.Equal(t, task.Summary{Total: 4, InProgress: 1, Pending: 3}, b.status(id).Summary)

				b.submitted(ada, id, "solve", answer42)
				require.Equal(t, task.NodeAvailable, b.statusOf(id, "left"))
				b.checked()
			})
		}
	}
}

// Nor is it taken over when its lease has run out and nobody has ended it yet: while the step
// before it is open, or when the task goes another way. Where that step is done it is.
func TestALeaseThatRanOutBehindAnOpenStepIsNotTakenOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(fork()), dbtest.WithContributors(3))
	ctx, id := t.Context(), b.create(1)[0]
	ada, ben, carl, rita := b.Contributors[0], b.Contributors[1], b.Contributors[2], b.Reviewers[0]
	b.submitted(ada, id, "solve", answer42)
	c, err := b.Store.ClaimTask(ctx, b.member(ben), pipeline.KindSubtask, id, "left")
	require.NoError(t, err)
	none := func() {
		t.Helper()
		require.Equal(t, task.NodeClaimed, b.statusOf(id, "left"))
		next, err := b.Store.ClaimNext(ctx, b.member(carl), pipeline.KindSubtask)
		require.NoError(t, err)
		require.Nil(t, next)
		_, err = b.Store.ClaimTask(ctx, b.member(carl), pipeline.KindSubtask, id, "left")
		conflicts(t, err, "is claimed and not free for you now")
		q, err := b.Store.ExplainQueue(ctx, b.member(carl), pipeline.KindSubtask)
		require.NoError(t, err)
		require.Zero(t, q.Available)
		require.True(t, slices.ContainsFunc(q.Reasons, func(r store.QueueReason) bool { return r.Code == store.QueueUpstream }), "%v", q.Reasons)
	}
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.ranOut(c)
	none()
	b.submitted(ada, id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
	right, err := b.Store.ClaimTask(ctx, b.member(ada), pipeline.KindSubtask, id, "right")
	require.NoError(t, err)
	none()
	require.NoError(t, b.Store.ReleaseClaim(ctx, ada, right.ID, store.Release{}))
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.submitted(ada, id, "solve", answer42)
	require.Equal(t, task.NodeClaimed, b.statusOf(id, "left"))
	next, err := b.Store.ClaimNext(ctx, b.member(carl), pipeline.KindSubtask)
	require.NoError(t, err)
	require.NotNil(t, next)
	require.Equal(t, "left", next.Node)
	b.settle(id)
	b.checked()
}

// On a way that the task has left there is nothing more to do.
func TestWhatIsGivenBackOnAWayThatWasLeftIsNobodys(t *testing.T) {
	t.Parallel()
	b, c := leftMeanwhile(t)
	ctx, id := t.Context(), c.TaskID
	require.NoError(t, b.Store.ReleaseClaim(ctx, c.UserID, c.ID, store.Release{}))
	_, err := b.Store.ClaimTask(ctx, b.member(b.Contributors[0]), pipeline.KindSubtask, id, "left")
	conflicts(t, err, "is na")
	require.Equal(t, task.NodeNA, b.statusOf(id, "left"))
	b.checked()
}

// Nobody here knows what follows from an event of a newer release; people give back what
// they hold all the same.
func TestAnEventOfANewerReleaseKeepsNoClaim(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "waiting": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			id := b.create(1)[0]
			b.submitted(b.Contributors[0], id, "solve", answer42)
			c := b.claim(b.Reviewers[0], pipeline.KindReview)
			b.settle(id)
			b.exec(`WITH t AS (UPDATE tasks SET seq = seq + 1, applied_seq = CASE WHEN $2 THEN seq + 1 ELSE applied_seq END WHERE id = $1 RETURNING seq)
				INSERT INTO task_events (task_id, seq, kind) SELECT $1, seq, 'delegate' FROM t`, id, applied)
			require.NoError(t, b.Store.ReleaseClaim(t.Context(), c.UserID, c.ID, store.Release{}))
			require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = 'check' AND status = 'available'`, id))
		})
	}
}

// Nor can anybody tell what a correction, or taking something back, would be after it. Who
// tries hears that, keeps the claim, and nothing is written.
func TestAnEventOfANewerReleaseRefusesWhatDependsOnIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, id := t.Context(), b.create(1)[0]
	ada, rita := b.Contributors[0], b.Reviewers[0]
	c := b.claim(ada, pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, ada, c.ID, raw(answer42))
	require.NoError(t, err)
	b.settle(id)
	require.NotNil(t, b.history(store.HistoryQuery{UserID: ada}).Items[0].UndoUntil)
	rc := b.claim(rita, pipeline.KindReview)
	b.settle(id)
	b.exec(`WITH t AS (UPDATE tasks SET seq = seq + 1 WHERE id = $1 RETURNING seq) INSERT INTO task_events (task_id, seq, kind) SELECT $1, seq, 'delegate' FROM t`, id)

	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	conflicts(t, err, "waits for a newer version")
	require.Equal(t, 0, b.count(`SELECT count(*) FROM drafts`))
	_, err = b.Store.LiveClaim(ctx, rita, rc.ID)
	require.NoError(t, err)
	require.Nil(t, b.history(store.HistoryQuery{UserID: ada}).Items[0].UndoUntil)
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, "waits for a newer version")
}

func TestBrokenRowsKeepNoClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	b.submitted(b.Contributors[0], id, "solve", answer42)
	c := b.claim(b.Reviewers[0], pipeline.KindReview)
	b.settle(id)
	b.exec(`DELETE FROM task_nodes WHERE task_id = $1 AND key = 'solve'`, id)
	require.NoError(t, b.Store.ReleaseClaim(t.Context(), c.UserID, c.ID, store.Release{}))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = 'check' AND status = 'available'`, id))
}
