package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// The database's clock steps back ten minutes after work was claimed or handed in. What is
// saved then is later all the same.
const (
	eventsAhead      = `UPDATE task_events SET created_at = created_at + interval '10 minutes'`
	submissionsAhead = `UPDATE submissions SET created_at = created_at + interval '10 minutes'`
)

// savedByTheBinaryOfBefore is what SaveDraft was before drafts said after which event
// they were saved.
const savedByTheBinaryOfBefore = `UPDATE drafts SET values = '{"answer":"new"}', revision = revision + 1, updated_at = now()`

func TestALateSubmitLeavesADraftAloneThatWasSavedAfterAStepBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada := t.Context(), b.Contributors[0]
	id := b.create(1)[0]
	old := b.claim(ada, pipeline.KindSubtask)
	b.lapse(id, time.Second)
	newer := b.claim(ada, pipeline.KindSubtask)
	b.exec(eventsAhead)
	_, err := b.Store.SaveDraft(ctx, ada, newer.ID, raw(`{"answer":"new"}`), 0)
	require.NoError(t, err)
	_, err = b.Store.Submit(ctx, ada, old.ID, raw(`{"answer":"old","sure":true}`))
	conflicts(t, err, "what you sent now is not kept")
	require.JSONEq(t, `"new"`, string(draftOf(b, newer)["answer"]))
}

func TestCorrectionsStayThatWereSavedAfterAStepBack(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]func(b *bench, rita int64, c *store.Claim) error{
		"a draft": func(b *bench, rita int64, c *store.Claim) error {
			_, err := b.Store.SaveDraft(b.t.Context(), rita, c.ID, raw(`{"answer":"43"}`), 0)
			return err
		},
		"what came too late": func(b *bench, rita int64, c *store.Claim) error {
			b.exec(`UPDATE task_nodes SET claim_id = gen_random_uuid() WHERE claim_id = $1`, c.ID)
			_, err := b.Store.Review(b.t.Context(), rita, c.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
			conflicts(b.t, err, "kept as your draft")
			return nil
		},
		"what was undone": func(b *bench, rita int64, c *store.Claim) error {
			_, err := b.Store.Review(b.t.Context(), rita, c.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
			require.NoError(b.t, err)
			b.settle(c.TaskID)
			*c, err = b.undo(rita, c.ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(twoChecks()))
			ada, rita := b.Contributors[0], b.Reviewers[0]
			id := b.create(1)[0]
			b.submit(ada, b.claim(ada, pipeline.KindSubtask))
			b.settle(id)
			b.exec(submissionsAhead)
			c := b.claim(rita, pipeline.KindReview)
			require.NoError(t, save(b, rita, c))
			require.JSONEq(t, `"43"`, string(draftOf(b, c)["answer"]))
		})
	}
}

// Beside a binary of before, which says of no draft after which event it saved it, what
// was said of an earlier revision does not count.
func TestADraftOfTheBinaryOfBeforeIsJudgedByItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	old := b.claim(ada, pipeline.KindSubtask)
	_, err := b.Store.SaveDraft(ctx, ada, old.ID, raw(`{"answer":"half"}`), 0)
	require.NoError(t, err)
	b.lapse(id, time.Second)
	newer := b.claim(ada, pipeline.KindSubtask)
	b.exec(savedByTheBinaryOfBefore)
	_, err = b.Store.Submit(ctx, ada, old.ID, raw(`{"answer":"old","sure":true}`))
	conflicts(t, err, "what you sent now is not kept")
	require.JSONEq(t, `"new"`, string(draftOf(b, newer)["answer"]))

	b.submit(ada, newer)
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	_, err = b.Store.SaveDraft(ctx, rita, rc.ID, raw(`{"answer":"of round one"}`), 0)
	require.NoError(t, err)
	require.NoError(t, b.Store.ReleaseClaim(ctx, rita, rc.ID, store.Release{}))
	b.settle(id)
	other := b.claim(b.Reviewers[1], pipeline.KindReview)
	_, err = b.Store.Review(ctx, b.Reviewers[1], other.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	b.settle(id)
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	b.exec(`UPDATE task_nodes SET reserved_for = NULL, reserved_until = NULL WHERE task_id = $1`, id)
	rc = b.claim(rita, pipeline.KindReview)
	require.Empty(t, draftOf(b, rc))
	b.exec(savedByTheBinaryOfBefore)
	require.JSONEq(t, `"new"`, string(draftOf(b, rc)["answer"]))
}
