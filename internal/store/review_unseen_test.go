package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// beside is a pipeline of one subtask that two reviews look at side by side: check at the
// answer, and again at these fields.
func beside(fields ...string) pipeline.Definition {
	d := dbtest.Definition()
	again := d.Nodes[2]
	again.Key, again.Reviews = "again", []pipeline.Target{{Node: "solve", Fields: fields}}
	d.Nodes = []pipeline.Node{d.Nodes[0], d.Nodes[1], d.Nodes[2], again, d.Nodes[3]}
	d.Edges = []pipeline.Edge{
		{From: "start", To: "solve"},
		{From: "solve", To: "check"},
		{From: "solve", To: "again"},
		{From: "check", To: "end"},
		{From: "again", To: "end"},
	}
	return d
}

// correctedBeside has a reviewer claim one of two reviews before the other one corrects the
// answer from 42 to 43.
func (b *bench) correctedBeside(id int64) *store.Claim {
	b.t.Helper()
	b.submitted(b.Contributors[0], id, "solve", answer42)
	c, err := b.Store.ClaimTask(b.t.Context(), b.member(b.Reviewers[1]), pipeline.KindReview, id, "again")
	require.NoError(b.t, err)
	b.judged(b.Reviewers[0], id, "check", store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	return c
}

// Two approvals are two people's word for what was accepted: who approves was shown it.
func TestNobodyApprovesACorrectionThatTheyWereNotShown(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(beside("answer")))
	ctx, rob := t.Context(), b.Reviewers[1]
	id := b.create(1)[0]
	rc := b.correctedBeside(id)
	_, err := b.Store.SaveDraft(ctx, rob, rc.ID, raw(`{"answer":"41"}`), 0)
	require.NoError(t, err)
	for _, values := range []string{`{}`, `{"answer":"41"}`} {
		_, err = b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(values)})
		conflicts(t, err, `was corrected on node "check", or a correction of it taken back, since you claimed it`)
	}
	require.Equal(t, task.NodeClaimed, b.statusOf(id, "again"), "it is theirs as before")
	require.JSONEq(t, `"41"`, string(draftOf(b, rc)["answer"]))
	require.JSONEq(t, `"43"`, string(b.answers(id)["answer"]))

	require.NoError(t, b.Store.ReleaseClaim(ctx, rob, rc.ID, store.Release{}))
	b.settle(id)
	b.judged(rob, id, "again", store.Verdict{Verdict: store.VerdictApprove})
	require.JSONEq(t, `"43"`, string(b.answers(id)["answer"]))
	require.Equal(t, task.Finished, b.status(id).Status)
	b.checked()
}

// What a reviewer wrote stays in their draft, also where it is what the answer was before
// another one corrected it: they may mean it so.
func TestADraftBesideACorrectionStaysAsItWasWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(beside("answer")))
	ctx, rob, id := t.Context(), b.Reviewers[1], b.create(1)[0]
	rc := b.correctedBeside(id)
	_, err := b.Store.SaveDraft(ctx, rob, rc.ID, raw(`{"answer":"42"}`), 0)
	require.NoError(t, err)
	require.JSONEq(t, `"42"`, string(draftOf(b, rc)["answer"]))
	require.NoError(t, b.Store.ReleaseClaim(ctx, rob, rc.ID, store.Release{}))
	b.settle(id)
	rc, err = b.Store.ClaimTask(ctx, b.member(rob), pipeline.KindReview, id, "again")
	require.NoError(t, err)
	require.JSONEq(t, `"42"`, string(draftOf(b, rc)["answer"]))
	b.settle(id)
	b.checked()
}

func TestACorrectionBesideKeepsNobodyFromTheirWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field, verdict string
	}{
		"a rejection":                  {"answer", store.VerdictReject},
		"an escalation":                {"answer", store.VerdictEscalate},
		"an approval of another field": {"sure", store.VerdictApprove},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(beside(c.field)))
			id := b.create(1)[0]
			rc := b.correctedBeside(id)
			_, err := b.Store.Review(t.Context(), b.Reviewers[1], rc.ID, store.Verdict{Verdict: c.verdict})
			require.NoError(t, err)
			b.settle(id)
			b.checked()
		})
	}
}

// What a claim showed may be gone again: then nobody was shown what is there.
func TestNobodyApprovesWhatACorrectionTakenBackLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(beside("answer")))
	ctx, rita, rob, id := t.Context(), b.Reviewers[0], b.Reviewers[1], b.create(1)[0]
	b.submitted(b.Contributors[0], id, "solve", answer42)
	c, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, id, "check")
	require.NoError(t, err)
	_, err = b.Store.Review(ctx, rita, c.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	require.NoError(t, err)
	b.settle(id)
	rc, err := b.Store.ClaimTask(ctx, b.member(rob), pipeline.KindReview, id, "again")
	require.NoError(t, err)
	_, err = b.undo(rita, c.ID)
	require.NoError(t, err)
	_, err = b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictApprove})
	conflicts(t, err, "taken back")
	b.settle(id)
	b.checked()
}

// Nor does what a review corrected count when the task leaves the way to it.
func TestNobodyApprovesWhatACorrectionOnAWayThatWasLeftLeaves(t *testing.T) {
	t.Parallel()
	d := bypass()
	again := d.Nodes[2]
	again.Key, again.Reviews = "again", []pipeline.Target{{Node: "solve", Fields: []string{"answer"}}}
	d.Nodes = append(d.Nodes, again)
	d.Edges = append(d.Edges, pipeline.Edge{From: "solve", To: "again"}, pipeline.Edge{From: "again", To: "end"})
	b := newBench(t, dbtest.WithDefinition(d))
	ctx, id := t.Context(), b.create(1)[0]
	ada, rita, rob := b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ada, id, "pick", `{"way":"left"}`)
	b.judged(rita, id, "left", store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	rc, err := b.Store.ClaimTask(ctx, b.member(rob), pipeline.KindReview, id, "again")
	require.NoError(t, err)
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.submitted(ada, id, "pick", `{"way":"right"}`)
	require.JSONEq(t, `"42"`, string(b.answers(id)["answer"]))
	_, err = b.Store.Review(ctx, rob, rc.ID, store.Verdict{Verdict: store.VerdictApprove})
	conflicts(t, err, "taken back")

	require.NoError(t, b.Store.ReleaseClaim(ctx, rob, rc.ID, store.Release{}))
	b.settle(id)
	b.judged(rob, id, "again", store.Verdict{Verdict: store.VerdictApprove})
	require.JSONEq(t, `"42"`, string(b.answers(id)["answer"]))
	b.checked()
}
