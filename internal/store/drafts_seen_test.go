package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// What was written on another device since is not taken away by who has not seen it.
func TestASubmissionDoesNotTakeAwayADraftThatItsAuthorHasNotSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	id := b.create(1)[0]
	c := b.claim(ada, pipeline.KindSubtask)
	old, answer := raw(`{"answer":"laptop","sure":true}`), raw(`{"answer":"phone"}`)
	for seen := range int64(2) {
		_, err := b.Store.SaveDraft(ctx, ada, c.ID, answer, seen)
		require.NoError(t, err)
	}
	events := b.count(`SELECT count(*) FROM task_events`)
	for _, seen := range []int64{0, 1, 3} {
		_, err := b.Store.SubmitSeen(ctx, ada, c.ID, old, &seen)
		conflicts(t, err, "saved elsewhere")
	}
	require.Zero(t, b.count(`SELECT count(*) FROM submissions`))
	require.Equal(t, events, b.count(`SELECT count(*) FROM task_events`))
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.EqualValues(t, 2, w.Draft.Revision)
	require.JSONEq(t, `"phone"`, string(w.Draft.Values["answer"]), "and what was sent is not laid over it")

	seen := int64(2)
	first, err := b.Store.SubmitSeen(ctx, ada, c.ID, old, &seen)
	require.NoError(t, err)
	stale := int64(1)
	for _, revision := range []*int64{&seen, &stale, nil} {
		again, err := b.Store.SubmitSeen(ctx, ada, c.ID, old, revision)
		require.NoError(t, err, "the same again is a repeat, whatever is seen then")
		require.True(t, again.Repeated)
		require.Equal(t, first.Seq, again.Seq)
	}
	b.settle(id)
	b.checked()
}

// Who says nothing of a draft hands in as ever.
func TestASubmissionThatSaysNothingOfADraftTakesAny(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	b.create(2)
	c := b.claim(ada, pipeline.KindSubtask)
	_, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"half"}`), 0)
	require.NoError(t, err)
	_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	require.Zero(t, b.count(`SELECT count(*) FROM drafts`))
	// And who saw one that is gone, takes nothing away.
	seen := int64(7)
	_, err = b.Store.SubmitSeen(ctx, ada, b.claim(ada, pipeline.KindSubtask).ID, raw(`{"answer":"42","sure":true}`), &seen)
	require.NoError(t, err)
}

// Nor when the claim is over by then: what comes late is kept over the draft that its
// author saw, and over no other.
func TestALateSubmissionGoesOverNoDraftThatItsAuthorHasNotSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	id := b.create(1)[0]
	c := b.claim(ada, pipeline.KindSubtask)
	for seen := range int64(2) {
		_, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"phone"}`), seen)
		require.NoError(t, err)
	}
	b.lapse(id, time.Second)
	require.NotNil(t, b.claim(b.Contributors[1], pipeline.KindSubtask))
	for seen := range int64(2) {
		_, err := b.Store.SubmitSeen(ctx, ada, c.ID, raw(`{"answer":"laptop","sure":true}`), &seen)
		conflicts(t, err, "what you sent now is not kept")
		require.JSONEq(t, `"phone"`, string(draftOf(b, c)["answer"]))
	}
	seen := int64(2)
	for range 2 { // its answer may get lost
		_, err := b.Store.SubmitSeen(ctx, ada, c.ID, raw(`{"answer":"laptop","sure":true}`), &seen)
		conflicts(t, err, "kept as your draft")
		require.JSONEq(t, `"laptop"`, string(draftOf(b, c)["answer"]))
	}
}

func TestAVerdictDoesNotTakeAwayCorrectionsThatItsAuthorHasNotSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	_, err := b.Store.SaveDraft(ctx, rita, rc.ID, raw(`{"answer":"phone"}`), 0)
	require.NoError(t, err)
	v := store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"laptop"}`), DraftRevision: new(int64)}
	_, err = b.Store.Review(ctx, rita, rc.ID, v)
	conflicts(t, err, "saved elsewhere")
	v = store.Verdict{Verdict: store.VerdictReject, DraftRevision: new(int64)}
	_, err = b.Store.Review(ctx, rita, rc.ID, v)
	conflicts(t, err, "saved elsewhere")
	require.JSONEq(t, `"phone"`, string(draftOf(b, rc)["answer"]))
	*v.DraftRevision = 1
	_, err = b.Store.Review(ctx, rita, rc.ID, v)
	require.NoError(t, err)
	*v.DraftRevision = 0
	again, err := b.Store.Review(ctx, rita, rc.ID, v)
	require.NoError(t, err)
	require.True(t, again.Repeated)
}

// A save that is under way when the other device hands in is either seen by it or
// refused: never answered well and gone.
func TestADraftSavedWhileSomethingIsHandedInIsSeen(t *testing.T) {
	t.Parallel()
	const lockNode = `SELECT 1 FROM task_nodes WHERE task_id = $1 FOR UPDATE`
	for name, saveFirst := range map[string]bool{"the save first": true, "the submission first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx, ada := context.WithoutCancel(t.Context()), b.Contributors[0]
			id := b.create(1)[0]
			c := b.claim(ada, pipeline.KindSubtask)
			_, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"both"}`), 0)
			require.NoError(t, err)
			seen := int64(1)
			save := func() error {
				_, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"phone"}`), seen)
				return err
			}
			submit := func() error {
				_, err := b.Store.SubmitSeen(ctx, ada, c.ID, raw(`{"answer":"laptop","sure":true}`), &seen)
				return err
			}
			commands := []func() error{submit, save}
			if saveFirst {
				commands = []func() error{save, submit}
			}
			errs := b.behindLock(lockNode, id, commands...)
			if saveFirst {
				errs[0], errs[1] = errs[1], errs[0]
			}
			n, _ := b.settle(id).Node("solve")
			handedIn := n.Status == task.NodeSubmitted
			require.Equal(t, handedIn, errs[0] == nil, "%v", errs[0])
			require.Equal(t, !handedIn, errs[1] == nil, "one of the two: %v, %v", errs[0], errs[1])
			require.True(t, fault.Is(errs[0], fault.Conflict) || fault.Is(errs[1], fault.Conflict))
			if !handedIn {
				require.Equal(t, form.Values{"answer": []byte(`"phone"`)}, draftOf(b, c))
			}
			b.checked()
		})
	}
}
