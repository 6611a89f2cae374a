package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

const lockNode = `SELECT FROM task_nodes WHERE task_id = $1 FOR UPDATE`

// A step of a task's run, or an admin's change, has the node locked when somebody asks
// for work: that is no reason to go without.
func TestWhatIsOnlyLockedIsClaimed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  pipeline.Kind
		claim func(ctx context.Context, b *bench, m store.Member, id int64) (*store.Claim, error)
	}{
		"a subtask by name": {pipeline.KindSubtask, func(ctx context.Context, b *bench, m store.Member, id int64) (*store.Claim, error) {
			return b.Store.ClaimTask(ctx, m, pipeline.KindSubtask, id, "solve")
		}},
		"a review by name": {pipeline.KindReview, func(ctx context.Context, b *bench, m store.Member, id int64) (*store.Claim, error) {
			return b.Store.ClaimTask(ctx, m, pipeline.KindReview, id, "check")
		}},
		"the only subtask of the queue": {pipeline.KindSubtask, func(ctx context.Context, b *bench, m store.Member, _ int64) (*store.Claim, error) {
			return b.Store.ClaimNext(ctx, m, pipeline.KindSubtask)
		}},
		"the only review of the queue": {pipeline.KindReview, func(ctx context.Context, b *bench, m store.Member, _ int64) (*store.Claim, error) {
			return b.Store.ClaimNext(ctx, m, pipeline.KindReview)
		}},
		"the only review of somebody's work": {pipeline.KindReview, func(ctx context.Context, b *bench, m store.Member, _ int64) (*store.Claim, error) {
			return b.Store.ClaimReviewOf(ctx, m, b.Contributors[1])
		}},
	} {
		for what, lock := range map[string]string{"the task": lockTask, "the node": lockNode} {
			t.Run(name+" while "+what+" is locked", func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.Store.WaitForLocked(30 * time.Second)
				id := b.create(1)[0]
				m := b.member(b.Contributors[0])
				if c.kind == pipeline.KindReview {
					b.submit(b.Contributors[1], b.claim(b.Contributors[1], pipeline.KindSubtask))
					b.settle(id)
					m = b.member(b.Reviewers[0])
				}
				ctx := context.WithoutCancel(t.Context())
				var got *store.Claim
				errs := b.behindLock(lock, id, func() (err error) { got, err = c.claim(ctx, b, m, id); return err })
				require.NoError(t, errs[0])
				require.NotNil(t, got)
			})
		}
	}
}

// held locks a row of a task up to the end of the test.
func (b *bench) held(lock string, id int64) {
	b.t.Helper()
	tx, err := b.Store.Pool().Begin(b.t.Context())
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(b.t.Context())) })
	_, err = tx.Exec(b.t.Context(), lock, id)
	require.NoError(b.t, err)
}

func TestWhoNamesANodeThatStaysLockedIsToComeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	b.Store.WaitForLocked(20 * time.Millisecond)
	b.held(lockTask, id)
	_, err := b.Store.ClaimTask(t.Context(), b.member(b.Contributors[0]), pipeline.KindSubtask, id, "solve")
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "try again")
}

func TestWhatSomebodyHoldsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Store.WaitForLocked(time.Hour)
	id := b.create(1)[0]
	b.claim(b.Contributors[1], pipeline.KindSubtask)
	b.held(lockTask, id)
	m := b.member(b.Contributors[0])
	_, err := b.Store.ClaimTask(t.Context(), m, pipeline.KindSubtask, id, "solve")
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
	none, err := b.Store.ClaimNext(t.Context(), m, pipeline.KindSubtask)
	require.NoError(t, err)
	require.Nil(t, none)
}

// Of those who find one locked node one waits for it, for a moment; the others hear at
// once that there is nothing for them.
func TestOneWaitsForALockedNode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Store.WaitForLocked(30 * time.Second)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada, ben := b.member(b.Contributors[0]), b.member(b.Contributors[1])
	var first, second *store.Claim
	errs := b.behindLock(lockTask, id, func() (err error) {
		first, err = b.Store.ClaimNext(ctx, ada, pipeline.KindSubtask)
		return err
	}, func() (err error) { // while the one before waits, which is seen as one who waits
		second, err = b.Store.ClaimNext(ctx, ben, pipeline.KindSubtask)
		if err == nil {
			_, err = b.Store.Pool().Exec(ctx, lockTask, id)
		}
		return err
	})
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.NotNil(t, first)
	require.Nil(t, second)

	again := b.create(1)[0]
	b.Store.WaitForLocked(20 * time.Millisecond)
	b.held(lockTask, again)
	none, err := b.Store.ClaimNext(ctx, ben, pipeline.KindSubtask)
	require.NoError(t, err)
	require.Nil(t, none, "it stays locked")
}

// What is committed while a claim by name waits counts: here, that the work to be
// reviewed is the reviewer's own.
func TestAClaimByNameThatWaitedSeesWhatCameBefore(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(pair()))
	b.Store.WaitForLocked(30 * time.Second)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	b.submitted(b.Contributors[0], id, "solve", `{"answer":"42","sure":true}`)
	b.submitted(b.Contributors[1], id, "more", `{"extra":"x"}`)
	m := b.member(b.Admin)
	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, lockTask, id)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, `UPDATE task_nodes SET actor = $2 WHERE task_id = $1 AND key = 'more'`, id, b.Admin)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { _, err := b.Store.ClaimTask(ctx, m, pipeline.KindReview, id, "check"); done <- err }()
	b.waiting(1)
	require.NoError(t, tx.Commit(ctx))
	err = <-done
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
}
