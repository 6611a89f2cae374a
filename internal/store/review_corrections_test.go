package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// What a reviewer empties would stay as it was handed in: so it is refused.
func TestACorrectionCannotEmptyAnAnswer(t *testing.T) {
	t.Parallel()
	d := dbtest.Definition()
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, form.Field{Name: "note", Title: "Note", Type: form.ShortText, Input: form.Contributor})
	d.Nodes[2].Reviews[0].Fields = []string{"answer", "note"}
	b := newBench(t, dbtest.WithDefinition(d))
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	_, err := b.Store.Submit(ctx, ada, b.claim(ada, pipeline.KindSubtask).ID, raw(`{"answer":"42","sure":true,"note":"wrong"}`))
	require.NoError(t, err)
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	for _, empty := range []string{`""`, `null`} {
		_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43","note":` + empty + `}`)})
		var f *fault.Error
		require.ErrorAs(t, err, &f, empty)
		require.Equal(t, fault.Validation, f.Kind)
		require.Equal(t, []fault.Problem{{Field: "note", Message: "cannot be emptied by a correction; reject it instead"}}, f.Problems)
	}
	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	require.NoError(t, err)
}

// Corrections that a reviewer began in one round are not laid over what is handed in
// for the next.
func TestCorrectionsOfAnEarlierRoundAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita, rob := t.Context(), b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	id := b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	draft := func() *store.Draft {
		rc := b.claim(rita, pipeline.KindReview)
		require.NotNil(t, rc)
		w, err := b.Store.Work(ctx, *rc)
		require.NoError(t, err)
		if w.Draft == nil {
			_, err = b.Store.SaveDraft(ctx, rita, rc.ID, raw(`{"answer":"of round one"}`), 0)
			require.NoError(t, err)
		}
		require.NoError(t, b.Store.ReleaseClaim(ctx, rita, rc.ID, store.Release{}))
		b.settle(id)
		return w.Draft
	}
	require.Nil(t, draft())
	require.JSONEq(t, `"of round one"`, string(draft().Values["answer"]), "in the same round it is kept")
	rc := b.claim(rob, pipeline.KindReview)
	_, err := b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Text: "no"}}})
	require.NoError(t, err)
	b.settle(id)
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	b.exec(`UPDATE task_nodes SET reserved_for = NULL, reserved_until = NULL WHERE task_id = $1`, id)
	d := draft()
	require.Empty(t, d.Values)
	require.EqualValues(t, 1, d.Revision, "which the next one follows")
}
