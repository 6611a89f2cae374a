package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/internal/store"
)

// TestWhatIsThereWithOtherWordsIsLost has submissions and verdicts acked that are there,
// that are there with other words, and that are not there.
func TestWhatIsThereWithOtherWordsIsLost(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := withDatabase(t)
	sure, unsure := mathcheck.Answers(), r.largeAnswers()
	approval := map[string]any{"verdict": store.VerdictApprove}
	rejection := map[string]any{"verdict": store.VerdictReject, "comments": []map[string]string{{"text": "First."}, {"text": "Please count again."}}}
	row := func(claim string, task int64, verdict, values, comments any) {
		t.Helper()
		_, err := r.pool.Exec(ctx, `INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq, verdict, values, comments)
			VALUES ($1, 1, $2, 'solve', 1, 1, 1, $3, $4, $5)`, claim, task, verdict, values, comments)
		require.NoError(t, err)
	}
	const one, two, three, four, none = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002",
		"00000000-0000-0000-0000-000000000003", "00000000-0000-0000-0000-000000000004", "00000000-0000-0000-0000-000000000005"
	row(one, -1, "", sure, []any{})
	row(two, -2, "", unsure, []any{})
	row(three, -3, store.VerdictApprove, map[string]any{}, []any{})
	row(four, -4, store.VerdictReject, map[string]any{}, rejection["comments"])
	acked := map[string]string{one: doubtIn(sure), two: doubtIn(unsure), three: ruling(approval), four: ruling(rejection)}
	lost := func(other map[string]string) float64 {
		t.Helper()
		r.facts.handedIn, r.facts.said = nil, nil
		for claim, words := range acked {
			if w, ok := other[claim]; ok {
				words = w
			}
			r.facts.acked(claim, words)
		}
		if words, ok := other[none]; ok {
			r.facts.acked(none, words)
		}
		require.NoError(t, r.check(ctx))
		return r.numbers.get()[slo.LostWrites]
	}
	require.Zero(t, lost(nil))
	require.InDelta(t, 1, lost(map[string]string{none: ""}), 0)
	for claim, words := range acked {
		require.InDelta(t, 1, lost(map[string]string{claim: words + "."}), 0, claim)
	}
	require.InDelta(t, 2, lost(map[string]string{two: "", four: store.VerdictReject}), 0)
}
