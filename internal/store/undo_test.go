package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

const answer42 = `{"answer":"42","sure":true}`

// handIn claims the next subtask for a person and submits it; the run has not
// heard of it.
func (b *bench) handIn(user int64) (*store.Claim, store.Submitted) {
	b.t.Helper()
	c := b.claim(user, pipeline.KindSubtask)
	require.NotNil(b.t, c)
	done, err := b.Store.Submit(b.t.Context(), user, c.ID, raw(answer42))
	require.NoError(b.t, err)
	return c, done
}

func (b *bench) undo(user int64, claim string) (store.Claim, error) {
	b.t.Helper()
	return b.Store.Undo(b.t.Context(), user, claim)
}

func conflicts(t *testing.T, err error, says string) {
	t.Helper()
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Contains(t, err.Error(), says)
}

// TestUndoGivesTheWorkBack runs with and without the run having applied the
// submission: it must make no difference.
func TestUndoGivesTheWorkBack(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"applied": true, "not applied": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			id := b.create(1)[0]
			ada := b.Contributors[0]
			c, done := b.handIn(ada)
			require.Equal(t, c.ID, done.ClaimID)
			require.NotNil(t, done.UndoUntil, "a review can still return it")
			if applied {
				b.settle(id)
			}
			again, err := b.undo(ada, c.ID)
			require.NoError(t, err)
			require.NotEqual(t, c.ID, again.ID)
			require.Equal(t, 2, again.Iteration)
			require.Equal(t, task.InProgress, b.status(id).Status)
			require.Nil(t, b.claim(b.Reviewers[0], pipeline.KindReview), "what it had opened is closed at once")

			w, err := b.Store.Work(ctx, again)
			require.NoError(t, err)
			require.JSONEq(t, `"42"`, string(w.Draft.Values["answer"]))
			require.NotNil(t, w.UndoOf)
			require.Equal(t, c.ID, w.UndoOf.ClaimID)
			require.Empty(t, w.Earlier, "what was undone is no attempt")
			values, err := b.Store.Answers(ctx, b.OrgID, b.PipelineID, id)
			require.NoError(t, err)
			require.NotContains(t, values, "answer", "what was undone answers for nothing")

			same, err := b.undo(ada, c.ID)
			require.NoError(t, err)
			require.Equal(t, again.ID, same.ID, "undone again it is the same claim")
			_, err = b.Store.Submit(ctx, ada, c.ID, raw(answer42))
			conflicts(t, err, "was undone; hand it in under the claim that undoing gave you, for what you sent now is not kept")

			_, err = b.Store.Submit(ctx, ada, again.ID, raw(`{"answer":"43","sure":true}`))
			require.NoError(t, err)
			_, err = b.undo(ada, c.ID)
			conflicts(t, err, "undone already")
			b.settle(id)
			rc := b.claim(b.Reviewers[0], pipeline.KindReview)
			require.NotNil(t, rc)
			_, err = b.Store.Review(ctx, b.Reviewers[0], rc.ID, store.Verdict{Verdict: store.VerdictApprove})
			require.NoError(t, err)
			b.settle(id)
			require.Equal(t, task.Finished, b.status(id).Status)
			b.checked()
		})
	}
}

func TestUndoIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]

	b.create(1)
	c := b.claim(ada, pipeline.KindSubtask)
	_, err := b.undo(ada, c.ID)
	conflicts(t, err, "nothing to undo")
	_, err = b.undo(ben, c.ID)
	require.True(t, fault.Is(err, fault.NotFound), "another person's: %v", err)
	_, err = b.undo(ada, "nonsense")
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)

	_, err = b.Store.Submit(ctx, ada, c.ID, raw(answer42))
	require.NoError(t, err)
	b.exec(`UPDATE submissions SET created_at = created_at - interval '61 seconds' WHERE claim_id = $1`, c.ID)
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, "60 seconds")
	b.exec(`UPDATE submissions SET created_at = now() WHERE claim_id = $1`, c.ID)

	b.exec(`UPDATE pipelines SET status = 'PAUSED' WHERE id = $1`, b.PipelineID)
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, "not ACTIVE")
	b.exec(`UPDATE pipelines SET status = 'ACTIVE' WHERE id = $1`, b.PipelineID)

	b.settle(c.TaskID)
	rc := b.claim(rita, pipeline.KindReview)
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, `"check"`)
	require.NoError(t, b.Store.ReleaseClaim(ctx, rita, rc.ID, store.Release{}))
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, `"check"`)

	rc = b.claim(rita, pipeline.KindReview)
	approved, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.NoError(t, err)
	require.Nil(t, approved.UndoUntil, "nothing comes after it that could send it back")
	for range 2 { // whether or not the run has heard of it
		_, err = b.undo(rita, rc.ID)
		conflicts(t, err, "final")
		_, err = b.undo(ada, c.ID)
		conflicts(t, err, "final")
		b.settle(c.TaskID)
	}
	b.checked()
}

func TestUndoAfterAnAdminActed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, admin := b.Contributors[0], b.member(b.Admin)
	b.create(3)
	c, _ := b.handIn(ada)
	require.NoError(t, b.Store.Quarantine(ctx, admin, c.TaskID, "solve", ""))
	_, err := b.undo(ada, c.ID)
	conflicts(t, err, "decided about")
	b.settle(c.TaskID)

	c, _ = b.handIn(ada)
	require.NoError(t, b.Store.FailTask(ctx, admin, c.TaskID, ""))
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, "ended")
	b.settle(c.TaskID)

	c, _ = b.handIn(ada)
	require.NoError(t, b.Store.Hold(ctx, admin, c.TaskID, ""))
	_, err = b.undo(ada, c.ID)
	conflicts(t, err, "held")
	require.NoError(t, b.Store.Unhold(ctx, admin, c.TaskID, ""))
	_, err = b.undo(ada, c.ID)
	require.NoError(t, err)
	b.settle(c.TaskID)
	b.checked()
}

// twoChecks is a subtask with one review after the other: the first verdict
// can be taken back until the second is taken up.
func twoChecks() pipeline.Definition {
	d := dbtest.Definition()
	d.Name = "Two checks"
	for i := range d.Edges {
		if d.Edges[i].To == "end" {
			d.Edges[i].To = "again"
		}
	}
	d.Nodes = append(d.Nodes, pipeline.Node{Key: "again", Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: "solve"}}})
	d.Edges = append(d.Edges, pipeline.Edge{From: "again", To: "end"})
	return d
}

func TestUndoOfAVerdict(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(twoChecks()))
	ctx := t.Context()
	rita, raj := b.Reviewers[0], b.Reviewers[1]
	id := b.create(1)[0]
	b.handIn(b.Contributors[0])
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	require.Equal(t, "check", rc.Node)
	done, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{
		Verdict: store.VerdictApprove, Values: raw(`{"answer":"41"}`), Comments: []store.Comment{{Field: "answer", Verdict: "wrong"}},
	})
	require.NoError(t, err)
	require.NotNil(t, done.UndoUntil)
	b.settle(id)

	again, err := b.undo(rita, rc.ID)
	require.NoError(t, err)
	require.Nil(t, b.claim(raj, pipeline.KindReview), "the second review is closed again")
	w, err := b.Store.Work(ctx, again)
	require.NoError(t, err)
	require.Equal(t, store.VerdictApprove, w.UndoOf.Verdict)
	require.Equal(t, []store.Comment{{Node: "solve", Field: "answer", Verdict: "wrong"}}, w.UndoOf.Comments)
	require.JSONEq(t, `"41"`, string(w.Draft.Values["answer"]))
	require.JSONEq(t, `"42"`, string(w.Reviewed[0].Values["answer"]), "the correction is gone with the verdict")

	_, err = b.Store.Review(ctx, rita, again.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	_, err = b.undo(rita, again.ID)
	conflicts(t, err, "decided about")
	b.settle(id)
	_, err = b.undo(rita, again.ID)
	conflicts(t, err, "decided about")
	b.checked()
}

// Who hears that an escalation stays hears that it is one, whoever escalated.
func TestUndoAfterAnEscalation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ada, rita := b.Contributors[0], b.Reviewers[0]
	b.create(2)
	c, _ := b.handIn(ada)
	require.NoError(t, b.Store.Escalate(ctx, b.member(b.Admin), c.TaskID, "solve", ""))
	_, err := b.undo(ada, c.ID)
	conflicts(t, err, "was escalated, so it can no longer be undone")
	b.settle(c.TaskID)

	c, _ = b.handIn(ada)
	b.settle(c.TaskID)
	rc := b.claim(rita, pipeline.KindReview)
	done, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictEscalate})
	require.NoError(t, err)
	require.Nil(t, done.UndoUntil)
	for range 2 { // whether or not the run has heard of it
		_, err = b.undo(rita, rc.ID)
		conflicts(t, err, "was escalated, so it can no longer be undone")
		b.settle(c.TaskID)
	}
	b.checked()
}

// TestUndoBehindTheLock meets an undo with what comes at the same moment.
func TestUndoBehindTheLock(t *testing.T) {
	t.Parallel()
	t.Run("a claim of the next step that came first wins", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := context.WithoutCancel(t.Context())
		id := b.create(1)[0]
		ada := b.Contributors[0]
		c, _ := b.handIn(ada)
		b.settle(id)
		tx, err := b.Store.Pool().Begin(ctx)
		require.NoError(t, err)
		defer func() { _ = tx.Rollback(ctx) }()
		// The reviewer's claim has been made and is about to be committed.
		_, err = tx.Exec(ctx, store.ClaimFreshSQL, b.PipelineID, b.OrgID, b.Reviewers[0], pipeline.KindReview, store.ClaimTail(),
			store.QueueFront.Priority, store.QueueFront.TaskID)
		require.NoError(t, err)
		undone := make(chan error, 1)
		go func() {
			_, err := b.Store.Undo(ctx, ada, c.ID)
			undone <- err
		}()
		b.waiting(1)
		require.NoError(t, tx.Commit(ctx))
		conflicts(t, <-undone, `"check"`)
		b.settle(id)
		b.checked()
	})
	t.Run("two at once undo once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := context.WithoutCancel(t.Context())
		id := b.create(1)[0]
		ada := b.Contributors[0]
		c, _ := b.handIn(ada)
		b.settle(id)
		var got [2]store.Claim
		undo := func(i int) func() error {
			return func() (err error) {
				got[i], err = b.Store.Undo(ctx, ada, c.ID)
				return err
			}
		}
		errs := b.behindLock(lockTask, id, undo(0), undo(1))
		require.NoError(t, errors.Join(errs...))
		require.Equal(t, got[0].ID, got[1].ID)
		b.settle(id)
		b.checked()
	})
	t.Run("a step that comes after it applies to nothing", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := t.Context()
		id := b.create(1)[0]
		ada := b.Contributors[0]
		c, _ := b.handIn(ada)
		l, err := b.Store.LoadTask(ctx, id)
		require.NoError(t, err)
		events, err := b.Store.LoadEvents(ctx, id, l.State.Seq, 100)
		require.NoError(t, err)
		in := store.StepInput{TaskID: id, From: l.State.Seq, To: l.Seq}
		s := l.State
		for _, e := range events {
			var changes []pipeline.Change
			s, changes = pipeline.Step(l.Graph, s, e)
			in.Changes = append(in.Changes, changes...)
		}
		_, err = b.undo(ada, c.ID)
		require.NoError(t, err)
		res, err := b.Store.ApplyStep(ctx, in)
		require.NoError(t, err)
		require.False(t, res.Applied, "the undo has applied what came before it")
		require.Nil(t, b.claim(b.Reviewers[0], pipeline.KindReview))
		b.settle(id)
		b.checked()
	})
	t.Run("with the run at work", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		ctx := context.WithoutCancel(t.Context())
		id := b.create(1)[0]
		ada := b.Contributors[0]
		c, _ := b.handIn(ada)
		l, err := b.Store.LoadTask(ctx, id)
		require.NoError(t, err)
		events, err := b.Store.LoadEvents(ctx, id, l.State.Seq, 100)
		require.NoError(t, err)
		in := store.StepInput{TaskID: id, From: l.State.Seq, To: l.Seq}
		s := l.State
		for _, e := range events {
			var changes []pipeline.Change
			s, changes = pipeline.Step(l.Graph, s, e)
			in.Changes = append(in.Changes, changes...)
		}
		errs := b.behindLock(lockTask, id,
			func() error { _, err := b.Store.ApplyStep(ctx, in); return err },
			func() error { _, err := b.Store.Undo(ctx, ada, c.ID); return err })
		require.NoError(t, errors.Join(errs...))
		require.Nil(t, b.claim(b.Reviewers[0], pipeline.KindReview))
		b.settle(id)
		b.checked()
	})
}
