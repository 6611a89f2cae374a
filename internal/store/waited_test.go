package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TestAStepTellsHowLongItWasWaitedFor asserts that it is as long as what was handed in is
// old: claims may be told late, and nobody waits for what follows from them.
func TestAStepTellsHowLongItWasWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ages := func(kind pipeline.EventKind, by time.Duration) {
		b.exec(`UPDATE task_events SET created_at = created_at - $3::interval WHERE task_id = $1 AND kind = $2`, id, kind, by)
	}
	step := func(n int) store.StepInput {
		l, err := b.Store.LoadTask(ctx, id)
		require.NoError(t, err)
		in := b.step(id, n)
		in.Last = l.Last
		in.Events, err = b.Store.LoadEvents(ctx, id, in.From, n)
		require.NoError(t, err)
		require.Len(t, in.Events, n)
		return in
	}
	waited := func(in store.StepInput) time.Duration {
		out, err := b.Store.ApplyStep(ctx, in)
		require.NoError(t, err)
		require.True(t, out.Applied)
		return out.Waited
	}

	b.submit(b.Contributors[0], b.claim(b.Contributors[0], pipeline.KindSubtask))
	ages(pipeline.EventClaim, 24*time.Hour)
	ages(pipeline.EventSubmit, time.Minute)
	submitted := step(2)
	took := waited(submitted)
	require.Greater(t, took, time.Minute)
	require.Less(t, took, time.Hour, "since the claim")
	again, err := b.Store.ApplyStep(ctx, submitted)
	require.NoError(t, err)
	require.False(t, again.Applied)
	require.Zero(t, again.Waited, "it was written before")

	review := b.claim(b.Reviewers[0], pipeline.KindReview)
	require.Zero(t, waited(step(1)), "the claim follows on what was handed in, which is done with")
	_, err = b.Store.Review(ctx, review.UserID, review.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.NoError(t, err)
	ages(pipeline.EventReview, 2*time.Minute)
	took = waited(step(1))
	require.Greater(t, took, 2*time.Minute)
	require.Less(t, took, time.Hour)
}
