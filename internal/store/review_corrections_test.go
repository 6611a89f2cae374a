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

// Corrections of two subtasks in one verdict are judged together: a later form by what
// the earlier one then says.
func TestCorrectionsOfTwoSubtasksAreJudgedTogether(t *testing.T) {
	t.Parallel()
	d := asked()
	more := &d.Nodes[2]
	more.Fields = append(more.Fields, form.Field{
		Name: "confirm", Type: form.ShortText, Input: form.Contributor, Rules: form.Rules{EqualsField: "answer"},
	}, form.Field{
		Name: "must", Type: form.ShortText, Input: form.Contributor, Required: true,
		VisibleWhen: &form.Condition{Field: "answer", Op: form.OpEq, Value: []byte(`"44"`)},
	})
	d.Nodes[3].Reviews = []pipeline.Target{{Node: "solve"}, {Node: "more"}}
	d.Nodes = append(d.Nodes[:4:4], d.Nodes[5:]...)
	d.Edges = []pipeline.Edge{{From: "start", To: "solve"}, {From: "solve", To: "more"}, {From: "more", To: "check"}, {From: "check", To: "end"}}
	b := newBench(t, dbtest.WithDefinition(d))
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	for _, values := range []string{`{"answer":"42","sure":false,"doubt":"x"}`, `{"extra":"x","confirm":"42"}`} {
		_, err := b.Store.Submit(ctx, ada, b.claim(ada, pipeline.KindSubtask).ID, raw(values))
		require.NoError(t, err)
		b.settle(id)
	}
	rc := b.claim(rita, pipeline.KindReview)
	approve := func(values string) error {
		_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(values)})
		return err
	}
	for values, field := range map[string]string{
		`{"answer":"43"}`:                "confirm",
		`{"answer":"43","confirm":"42"}`: "confirm",
		`{"answer":"44","confirm":"44"}`: "must",
	} {
		err := approve(values)
		var f *fault.Error
		require.ErrorAs(t, err, &f, values)
		require.Len(t, f.Problems, 1, values)
		require.Equal(t, field, f.Problems[0].Field, values)
	}
	// What the others hide counts for nothing, whether they corrected it before or not.
	require.NoError(t, approve(`{"answer":"44","confirm":"44","must":"y","sure":true,"why":"because","doubt":"none"}`))
	b.settle(id)
	got := b.answers(id)
	require.JSONEq(t, `"because"`, string(got["why"]), "it is asked for since they are sure")
	require.JSONEq(t, `"y"`, string(got["must"]))
	require.NotContains(t, got, "doubt")
	b.checked()
}

// Corrections that came too late for one round are not laid over the next.
func TestLateCorrectionsBelongToTheirRound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita, rob := t.Context(), b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	id := b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	late := func(c *store.Claim, says string) {
		_, err := b.Store.Review(ctx, rita, c.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"of round one"}`)})
		conflicts(t, err, says)
	}
	draft := func() form.Values {
		b.exec(`UPDATE task_nodes SET reserved_for = NULL, reserved_until = NULL WHERE task_id = $1`, id)
		rc := b.claim(rita, pipeline.KindReview)
		values := draftOf(b, rc)
		require.NoError(t, b.Store.ReleaseClaim(ctx, rita, rc.ID, store.Release{}))
		b.settle(id)
		return values
	}
	first := b.claim(rita, pipeline.KindReview)
	require.NoError(t, b.Store.ReleaseClaim(ctx, rita, first.ID, store.Release{}))
	b.settle(id)
	late(first, "kept as your draft")
	require.JSONEq(t, `"of round one"`, string(draft()["answer"]), "in the same round they are kept")
	rc := b.claim(rob, pipeline.KindReview)
	_, err := b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	b.settle(id)
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	late(first, "what you sent now is not kept")
	require.Empty(t, draft())
	again := b.claim(rita, pipeline.KindReview)
	_, err = b.Store.SaveDraft(ctx, rita, again.ID, raw(`{"answer":"of round one"}`), 1)
	require.NoError(t, err)
	late(first, "what you sent now is not kept")
	require.JSONEq(t, `"of round one"`, string(draftOf(b, again)["answer"]), "she made the same correction again")
}

func draftOf(b *bench, c *store.Claim) form.Values {
	b.t.Helper()
	w, err := b.Store.Work(b.t.Context(), *c)
	require.NoError(b.t, err)
	return w.Draft.Values
}
