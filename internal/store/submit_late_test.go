package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Who hands in too late is told when nothing of it is kept, whatever the reason: they
// have it then, and nobody else.
func TestALateSubmissionThatCannotBeKeptSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values form.Values
		says   string
	}{
		"no field of the form":      {raw(`{"answer":"42","nope":1}`), `unknown field "nope"`},
		"larger than any hand-in":   {form.Values{"answer": []byte(`"` + strings.Repeat("a", form.MaxHandInBytes) + `"`)}, "bytes"},
		"larger once it is stored":  {raw(`{"answer":[1e-999` + strings.Repeat(",1e-999", 2100) + `]}`), "when its numbers are stored"},
		"nothing that can be saved": {raw(`{"answer":"a\u0000b"}`), "cannot be stored"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ada := b.Contributors[0]
			id := b.create(1)[0]
			late := b.claim(ada, pipeline.KindSubtask)
			b.lapse(id, time.Second)
			require.NotNil(t, b.claim(b.Contributors[1], pipeline.KindSubtask))
			_, err := b.Store.Submit(t.Context(), ada, late.ID, c.values)
			conflicts(t, err, "what you sent now is not kept")
			require.ErrorContains(t, err, c.says)
			require.Zero(t, b.count(`SELECT count(*) FROM drafts`))
		})
	}
}

func TestOtherContentUnderAClaimThatHandedInIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ada := b.Contributors[0]
	b.create(1)
	c, _ := b.handIn(ada)
	_, err := b.Store.Submit(t.Context(), ada, c.ID, raw(`{"answer":"43","sure":true}`))
	conflicts(t, err, "that stands, and what you sent now is not kept")
}

// Drafts have no place for comments.
func TestALateVerdictSaysThatItsCommentsAreNotKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, ada, rita := t.Context(), b.Contributors[0], b.Reviewers[0]
	id := b.create(1)[0]
	b.submit(ada, b.claim(ada, pipeline.KindSubtask))
	b.settle(id)
	late := b.claim(rita, pipeline.KindReview)
	b.exec(`UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'check'`, id)
	require.NotNil(t, b.claim(b.Reviewers[1], pipeline.KindReview))
	comments := []store.Comment{{Field: "answer", Text: "in digits"}}
	for _, c := range []struct {
		verdict store.Verdict
		says    string
		drafts  int
	}{
		{store.Verdict{Verdict: store.VerdictApprove}, "claim the node again", 0},
		{store.Verdict{Verdict: store.VerdictReject, Comments: comments}, "what you sent now is not kept", 0},
		{store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"42"}`), Comments: comments}, "your comments are not", 1},
	} {
		_, err := b.Store.Review(ctx, rita, late.ID, c.verdict)
		conflicts(t, err, c.says)
		require.Equal(t, c.drafts, b.count(`SELECT count(*) FROM drafts`))
	}
}
