package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// behindLock holds what the statement locks, starts the commands one after the
// other, each once the one before waits for a lock, lets go, and returns their
// errors: an interleaving that a race meets by chance only.
func (b *bench) behindLock(lock string, arg any, commands ...func() error) []error {
	b.t.Helper()
	ctx := b.t.Context()
	tx, err := b.Store.Pool().Begin(ctx)
	require.NoError(b.t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	args := []any{arg}
	if arg == nil { // LOCK takes none
		args = nil
	}
	_, err = tx.Exec(ctx, lock, args...)
	require.NoError(b.t, err)
	done := make([]chan error, len(commands))
	for i, command := range commands {
		done[i] = make(chan error, 1)
		go func() { done[i] <- command() }()
		b.waiting(i + 1)
	}
	require.NoError(b.t, tx.Rollback(ctx))
	errs := make([]error, len(commands))
	for i := range done {
		errs[i] = <-done[i]
	}
	return errs
}

// waiting blocks until so many commands wait for a lock.
func (b *bench) waiting(n int) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		var waiting int
		err := b.Store.Pool().QueryRow(b.t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting >= n
	}, 20*time.Second, 5*time.Millisecond)
}

// submission is a command that hands in under a claim.
func (b *bench) submission(user int64, c *store.Claim) func() error {
	ctx := context.WithoutCancel(b.t.Context())
	return func() error {
		_, err := b.Store.Submit(ctx, user, c.ID, raw(answer42))
		return err
	}
}

const lockTask = `SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE`

func TestARemovalDoesNotUndoASubmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada := b.Contributors[0]
	c := b.claim(ada, pipeline.KindSubtask)
	b.settle(id)
	errs := b.behindLock(lockTask, id,
		b.submission(ada, c),
		func() error { return b.Store.RemoveUser(ctx, b.Slug, b.Email("contributor1")) })
	require.NoError(t, errors.Join(errs...))
	n, _ := b.settle(id).Node("solve")
	require.Equal(t, task.NodeSubmitted, n.Status)
	b.checked()
}

func TestARemovalGivesBackWhatWasHeldAndKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(2)
	ada, ben := b.Contributors[0], b.Contributors[1]
	b.claim(ada, pipeline.KindSubtask)
	b.exec(`UPDATE task_nodes SET reserved_for = $2, reserved_until = now() + interval '1 hour' WHERE task_id = $1 AND key = 'solve'`, ids[1], ada)
	require.NoError(t, b.Store.RemoveUser(t.Context(), b.Slug, b.Email("contributor1")))
	require.NotNil(t, b.claim(ben, pipeline.KindSubtask))
	require.NotNil(t, b.claim(ben, pipeline.KindSubtask))
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

func TestAnExtensionBeatsTheExpiryThatWaitedForIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada := b.Contributors[0]
	c := b.claim(ada, pipeline.KindSubtask)
	b.lapse(id, time.Second)
	errs := b.behindLock(`SELECT 1 FROM task_nodes WHERE task_id = $1 AND key = 'solve' FOR UPDATE`, id,
		func() error { _, err := b.Store.ExtendClaim(ctx, ada, c.ID); return err },
		func() error { _, err := b.Store.CheckDeadlines(ctx, id); return err })
	require.NoError(t, errors.Join(errs...))
	_, err := b.Store.LiveClaim(ctx, ada, c.ID)
	require.NoError(t, err, "the extension was acknowledged")
}

func TestAnAutosaveDoesNotOutliveTheSubmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada := b.Contributors[0]
	c := b.claim(ada, pipeline.KindSubtask)
	errs := b.behindLock(`SELECT 1 FROM task_nodes WHERE task_id = $1 AND key = 'solve' FOR UPDATE`, id,
		b.submission(ada, c),
		func() error { _, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"old"}`), 0); return err })
	require.NoError(t, errs[0])
	require.True(t, errs[1] == nil || fault.Is(errs[1], fault.Conflict), "%v", errs[1])
	var drafts int
	require.NoError(t, b.Store.Pool().QueryRow(ctx, `SELECT count(*) FROM drafts`).Scan(&drafts))
	require.Zero(t, drafts)
}

// Lock and claim are asked for in one trip: what is committed while the lock is
// waited for is seen all the same, and the values are kept.
func TestASubmissionThatWaitedSeesThatItsClaimIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := context.WithoutCancel(t.Context())
	id := b.create(1)[0]
	ada := b.Contributors[0]
	c := b.claim(ada, pipeline.KindSubtask)
	errs := b.behindLock(lockTask, id,
		func() error { return b.Store.ReleaseClaim(ctx, ada, c.ID, store.Release{}) },
		b.submission(ada, c))
	require.NoError(t, errs[0])
	require.True(t, fault.Is(errs[1], fault.Conflict), "%v", errs[1])
	n, _ := b.settle(id).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)
	require.Zero(t, b.count(`SELECT count(*) FROM submissions`))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM drafts`))
	b.checked()
}

// Who holds the node again and has saved nothing there yet finds what they sent too
// late, in place of what they had saved before it.
func TestALateSubmitIsTheNewClaimsDraftWhereItHasNone(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"nothing saved": false, "saved under the first claim": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			id := b.create(1)[0]
			ada := b.Contributors[0]
			old := b.claim(ada, pipeline.KindSubtask)
			if before {
				_, err := b.Store.SaveDraft(ctx, ada, old.ID, raw(`{"answer":"half"}`), 0)
				require.NoError(t, err)
			}
			b.lapse(id, time.Second)
			c := b.claim(ada, pipeline.KindSubtask)
			_, err := b.Store.Submit(ctx, ada, old.ID, raw(`{"answer":"whole","sure":true}`))
			conflicts(t, err, "kept as your draft")
			_, err = b.Store.Submit(ctx, ada, old.ID, raw(`{"answer":"whole","sure":true}`))
			conflicts(t, err, "kept as your draft") // who did not hear the answer asks again
			w, err := b.Store.Work(ctx, *c)
			require.NoError(t, err)
			require.NotNil(t, w.Draft)
			require.JSONEq(t, `"whole"`, string(w.Draft.Values["answer"]))
		})
	}
}

// What was saved under a newer claim stays, also when that one is over, and when its
// author holds the node under yet another one.
func TestALateSubmitLeavesALaterDraftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held bool // the newer claim
		next int  // who claims the node after it, of the contributors; 0 is its author, -1 nobody
	}{
		"the newer claim is held":        {true, -1},
		"the newer claim was given back": {false, -1},
		"somebody else has the node":     {false, 1},
		"held again, nothing saved yet":  {false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := t.Context()
			id := b.create(1)[0]
			ada := b.Contributors[0]
			old := b.claim(ada, pipeline.KindSubtask)
			b.lapse(id, time.Second)
			newer := b.claim(ada, pipeline.KindSubtask)
			rev, err := b.Store.SaveDraft(ctx, ada, newer.ID, raw(`{"answer":"new"}`), 0)
			require.NoError(t, err)
			if !c.held {
				require.NoError(t, b.Store.ReleaseClaim(ctx, ada, newer.ID, store.Release{}))
				b.settle(id)
			}
			if c.next >= 0 {
				require.NotNil(t, b.claim(b.Contributors[c.next], pipeline.KindSubtask))
			}
			_, err = b.Store.Submit(ctx, ada, old.ID, raw(`{"answer":"old","sure":true}`))
			conflicts(t, err, "what you sent now is not kept")
			require.Equal(t, 1, b.count(`SELECT count(*) FROM drafts WHERE values->>'answer' = 'new' AND revision = $1`, rev))
			if c.held {
				_, err = b.Store.SaveDraft(ctx, ada, newer.ID, raw(`{"answer":"newer"}`), rev)
				require.NoError(t, err)
			}
			b.settle(id)
			b.checked()
		})
	}
}

// Nor is it called kept beside what they handed in since, which an undo brings back.
func TestALateSubmitIsNoDraftBesideALaterSubmission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	id := b.create(1)[0]
	old := b.claim(ada, pipeline.KindSubtask)
	b.lapse(id, time.Second)
	c, _ := b.handIn(ada)
	_, err := b.Store.Submit(ctx, ada, old.ID, raw(`{"answer":"41","sure":true}`))
	conflicts(t, err, "what you sent now is not kept")
	again, err := b.undo(ada, c.ID)
	require.NoError(t, err)
	w, err := b.Store.Work(ctx, again)
	require.NoError(t, err)
	require.Equal(t, raw(answer42), w.Draft.Values)
}

// A late hand-in that comes while one under a newer claim is on its way waits for that.
func TestALateSubmitWaitsForTheSubmissionBeforeIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := context.WithoutCancel(t.Context()), b.Contributors[0]
	id := b.create(1)[0]
	old := b.claim(ada, pipeline.KindSubtask)
	b.lapse(id, time.Second)
	c := b.claim(ada, pipeline.KindSubtask)
	require.NotEqual(t, old.ID, c.ID)
	submit := func(claim, answer string) func() error {
		return func() error {
			_, err := b.Store.Submit(ctx, ada, claim, raw(answer))
			return err
		}
	}
	errs := b.behindLock(lockTask, id, submit(c.ID, answer42), submit(old.ID, `{"answer":"41","sure":true}`))
	require.NoError(t, errs[0])
	conflicts(t, errs[1], "what you sent now is not kept")
	require.Zero(t, b.count(`SELECT count(*) FROM drafts`))
}

func TestReturnedWorkGoesToTheQueueWhenNobodyComes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ada, ben := b.Contributors[0], b.Contributors[1]
	c := b.claim(ada, pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"secret of one","sure":true}`))
	require.NoError(t, err)
	b.settle(id)
	r := b.claim(b.Reviewers[0], pipeline.KindReview)
	_, err = b.Store.Review(ctx, b.Reviewers[0], r.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	b.settle(id)
	b.create(3)
	_, err = b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.NotEqual(t, id, b.claim(ben, pipeline.KindSubtask).TaskID, "it still waits for who did it")
	b.exec(`UPDATE task_nodes SET reserved_until = now() - interval '1 second' WHERE reserved_for IS NOT NULL`)
	_, err = b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	got := b.claim(ben, pipeline.KindSubtask)
	require.Equal(t, id, got.TaskID, "the oldest task goes first again")
	w, err := b.Store.Work(ctx, *got)
	require.NoError(t, err)
	require.Nil(t, w.Draft, "what somebody else wrote is theirs")
}

func TestFinishedStaysFinishedWhileEventsWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	admin := b.member(b.Admin)
	id := b.create(1)[0]
	require.NoError(t, b.Store.Quarantine(ctx, admin, id, "solve", ""))
	b.settle(id)
	b.exec(`UPDATE task_nodes SET status = 'na' WHERE task_id = $1 AND key = 'check'`, id)
	require.NoError(t, b.Store.Resolve(ctx, admin, id, "solve", pipeline.ResolveSkip, ""))
	require.Equal(t, task.InProgress, b.status(id).Status, "what follows is not written yet")
}

func TestStepsNeedNoSecondConnection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(2)
	st, err := store.Open(t.Context(), b.Store.Pool().Config().ConnString(), store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	for _, id := range ids {
		_, err := st.LoadTask(t.Context(), id)
		require.NoError(t, err)
	}
}

func TestOnlyTheSameHandInIsARepeat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ada, rita := b.Contributors[0], b.Reviewers[0]
	c := b.claim(ada, pipeline.KindSubtask)
	first, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	again, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"sure": true, "answer":"42"}`))
	require.NoError(t, err)
	require.Equal(t, first.Seq, again.Seq)
	_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"43","sure":true}`))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	b.settle(id)
	r := b.claim(rita, pipeline.KindReview)
	v := store.Verdict{Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Text: "no"}}}
	for range 2 {
		_, err = b.Store.Review(ctx, rita, r.ID, v)
		require.NoError(t, err)
	}
	_, err = b.Store.Review(ctx, rita, r.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	b.settle(id)
	b.checked()
}

// Somebody waits for what follows from what was handed in, nobody for what
// follows from a claim, or for the start of a new task: each is taken by itself,
// with whatever a newer version may put in between.
func TestUrgenciesAreTakenByThemselves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	for i, id := range ids[:2] {
		c, err := b.Store.ClaimTask(ctx, b.member(b.Contributors[i]), pipeline.KindSubtask, id, "solve")
		require.NoError(t, err)
		if id == ids[0] {
			b.submit(b.Contributors[i], c)
		}
	}
	taken := func(why string) {
		t.Helper()
		for i, u := range []store.Urgency{store.UrgencyHanded, store.UrgencyClaimed, store.UrgencyCreated} {
			got := b.take(u)
			require.Len(t, got, 1, why)
			require.Equal(t, ids[i], got[0].TaskID, why)
		}
		b.exec(`UPDATE outbox SET leased_until = NULL`)
	}
	taken("as they are")
	b.exec(`UPDATE outbox SET priority = priority + 2`)
	taken("in between")
	b.exec(`UPDATE outbox SET priority = 100 WHERE task_id = $1`, ids[2])
	taken("for longer than anything known")
}
