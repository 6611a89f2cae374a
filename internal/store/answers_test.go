package store_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// detour is a pipeline whose first subtask leads over another one, more, where its
// author is sure. One review checks both, and a last one the first.
func detour() pipeline.Definition {
	d := dbtest.Definition()
	start, solve, check, end := d.Nodes[0], d.Nodes[1], d.Nodes[2], d.Nodes[3]
	more := pipeline.Node{Key: "more", Kind: pipeline.KindSubtask, Fields: []form.Field{
		{Name: "extra", Type: form.ShortText, Input: form.Contributor},
	}}
	check.Reviews = []pipeline.Target{{Node: "solve"}, {Node: "more"}}
	last := pipeline.Node{Key: "last", Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: "solve"}}}
	d.Nodes = []pipeline.Node{start, solve, more, check, last, end}
	sure := &form.Condition{Field: "sure", Op: form.OpEq, Value: json.RawMessage(`true`)}
	d.Edges = []pipeline.Edge{
		{From: "start", To: "solve"},
		{From: "solve", To: "more", When: sure},
		{From: "solve", To: "check"},
		{From: "more", To: "check"},
		{From: "check", To: "last"},
		{From: "last", To: "end"},
	}
	return d
}

// answers are those of a task as they stand.
func (b *bench) answers(id int64) form.Values {
	b.t.Helper()
	v, err := b.Store.Answers(b.t.Context(), b.OrgID, b.PipelineID, id)
	require.NoError(b.t, err)
	return v
}

// judged lets a person give a verdict on a review of a task.
func (b *bench) judged(user, id int64, node string, v store.Verdict) {
	b.t.Helper()
	c, err := b.Store.ClaimTask(b.t.Context(), b.member(user), pipeline.KindReview, id, node)
	require.NoError(b.t, err)
	_, err = b.Store.Review(b.t.Context(), user, c.ID, v)
	require.NoError(b.t, err)
	b.settle(id)
}

// statusOf is where a node of a task is.
func (b *bench) statusOf(id int64, node string) task.NodeStatus {
	b.t.Helper()
	n, ok := b.settle(id).Node(node)
	require.True(b.t, ok)
	return n.Status
}

// What is handed in again says nothing that was left out of it: neither as an answer
// nor as the way that the task takes.
func TestAnAnswerThatWasWithdrawnLeadsNowhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(detour()))
	id := b.create(1)[0]
	ada, rita := b.Contributors[0], b.Reviewers[0]
	b.submitted(ada, id, "solve", `{"answer":"42","sure":true}`)
	b.submitted(ada, id, "more", `{"extra":"x"}`)
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject, Nodes: []string{"solve"}})
	b.submitted(ada, id, "solve", `{"answer":"42"}`)
	require.NotContains(t, b.answers(id), "sure")
	require.Equal(t, task.NodeNA, b.statusOf(id, "more"), "its author is not sure any more")
	require.Equal(t, task.NodeAvailable, b.statusOf(id, "check"))
	b.checked()
}

// A correction stands until its subtask is handed in again, though the review that made
// it is held once more and finds nothing else to correct.
func TestACorrectionOutlivesTheNextRoundOfItsReview(t *testing.T) {
	t.Parallel()
	d := pair()
	d.Nodes[3].FourEyes = false
	last := pipeline.Node{Key: "last", Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: "more"}, {Node: "solve"}}}
	d.Nodes = []pipeline.Node{d.Nodes[0], d.Nodes[1], d.Nodes[2], d.Nodes[3], last, d.Nodes[4]}
	d.Edges[len(d.Edges)-1].To = "last"
	d.Edges = append(d.Edges, pipeline.Edge{From: "last", To: "end"})
	b := newBench(t, dbtest.WithDefinition(d))
	ctx := t.Context()
	id := b.create(1)[0]
	ada, rita, rob := b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ada, id, "more", `{"extra":"x"}`)
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	b.judged(rob, id, "last", store.Verdict{Verdict: store.VerdictReject, Nodes: []string{"more"}})
	b.submitted(ada, id, "more", `{"extra":"y"}`)
	require.JSONEq(t, `"43"`, string(b.answers(id)["answer"]))

	c, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, id, "check")
	require.NoError(t, err)
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.Len(t, w.Reviewed, 2, "each subtask once")
	require.JSONEq(t, `"43"`, string(w.Values["answer"]), "as it was corrected")
	require.JSONEq(t, `"y"`, string(w.Values["extra"]))
	_, err = b.Store.Review(ctx, rita, c.ID, store.Verdict{Verdict: store.VerdictApprove})
	require.NoError(t, err)
	b.settle(id)
	require.JSONEq(t, `"43"`, string(b.answers(id)["answer"]))
	require.JSONEq(t, `"y"`, string(b.answers(id)["extra"]))

	b.judged(rob, id, "last", store.Verdict{Verdict: store.VerdictReject, Nodes: []string{"solve"}})
	b.submitted(ada, id, "solve", `{"answer":"44","sure":true}`)
	require.JSONEq(t, `"44"`, string(b.answers(id)["answer"]), "who hands in again has the word")
	b.checked()
}

// A task that takes another way now has no answers from the way that it left, and no
// corrections of them; a failed one keeps what was handed in.
func TestAWayThatWasLeftAnswersForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(detour()))
	ctx, admin := t.Context(), b.member(b.Admin)
	ada, rita, rob := b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	ids := b.create(2)
	for _, id := range ids {
		b.submitted(ada, id, "solve", answer42)
		b.submitted(ada, id, "more", `{"extra":"x"}`)
		b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43","extra":"y"}`)})
		require.JSONEq(t, `"y"`, string(b.answers(id)["extra"]))
		b.judged(rob, id, "last", store.Verdict{Verdict: store.VerdictReject})
	}
	b.submitted(ada, ids[0], "solve", `{"answer":"44","sure":false,"doubt":"all of it"}`)
	require.Equal(t, task.NodeNA, b.statusOf(ids[0], "more"))
	require.NotContains(t, b.answers(ids[0]), "extra")
	require.JSONEq(t, `"44"`, string(b.answers(ids[0])["answer"]))
	c, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, ids[0], "check")
	require.NoError(t, err)
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.Len(t, w.Reviewed, 1, "nothing of the way that was left is under review")
	b.settle(ids[0])

	require.NoError(t, b.Store.FailTask(ctx, admin, ids[1], ""))
	b.settle(ids[1])
	require.JSONEq(t, `"y"`, string(b.answers(ids[1])["extra"]), "what was handed in stays readable")
	b.checked()
}

// What was handed in for a subtask that an admin lets the task go on without is no
// answer, and leads nowhere.
func TestASkippedSubtaskAnswersForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(detour()))
	ctx, admin := t.Context(), b.member(b.Admin)
	id, ada := b.create(1)[0], b.Contributors[0]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ada, id, "more", `{"extra":"x"}`)
	require.NoError(t, b.Store.Quarantine(ctx, admin, id, "more", "nonsense"))
	b.settle(id)
	require.Contains(t, b.answers(id), "extra", "nobody has decided about it")
	require.NoError(t, b.Store.Resolve(ctx, admin, id, "more", pipeline.ResolveSkip, ""))
	b.settle(id)
	require.NotContains(t, b.answers(id), "extra")
	require.Contains(t, b.answers(id), "answer")
	b.checked()
}

// A correction that hides a field takes its answer away: from the answers, from the way
// that the task takes, and from what the reviewer is shown of it afterwards.
func TestACorrectionTakesAwayWhatItHides(t *testing.T) {
	t.Parallel()
	d := dbtest.Definition()
	check, end := d.Nodes[2], d.Nodes[3]
	check.Reviews = []pipeline.Target{{Node: "solve", Fields: []string{"answer", "sure"}}}
	explain := pipeline.Node{Key: "explain", Kind: pipeline.KindSubtask, Fields: []form.Field{
		{Name: "explained", Type: form.ShortText, Input: form.Contributor},
	}}
	d.Nodes = []pipeline.Node{d.Nodes[0], d.Nodes[1], check, explain, end}
	d.Edges = append(d.Edges,
		pipeline.Edge{From: "check", To: "explain", When: &form.Condition{Field: "doubt", Op: form.OpNotEmpty}},
		pipeline.Edge{From: "explain", To: "end"})
	b := newBench(t, dbtest.WithDefinition(d))
	ctx := t.Context()
	id, ada, rita := b.create(1)[0], b.Contributors[0], b.Reviewers[0]
	b.submitted(ada, id, "solve", `{"answer":"42","sure":false,"doubt":"all of it"}`)
	require.Contains(t, b.answers(id), "doubt")
	c := b.judge(rita, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"sure":true}`)})
	require.NotContains(t, b.answers(id), "doubt")
	require.JSONEq(t, `"42"`, string(b.answers(id)["answer"]))
	require.Equal(t, task.NodeNA, b.statusOf(id, "explain"), "nothing is in doubt")
	require.Equal(t, task.Finished, b.status(id).Status)
	seen, err := b.Store.Submission(ctx, rita, c.ID)
	require.NoError(t, err)
	require.NotContains(t, seen.Values, "doubt")
	require.JSONEq(t, `true`, string(seen.Values["sure"]))
	b.checked()
}

// A correction takes nothing away that it does not hide: not an answer whose question
// hangs on a subtask that was put back and handed in again after the review, nor one
// whose question the task does not ask any more.
func TestACorrectionLeavesWhatItDoesNotHide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fix, again string
		kept       bool
	}{
		"handed in as before":                        {`{"extra":"y"}`, `{"answer":"44","sure":true}`, true},
		"handed in so that it hides the question":    {`{"extra":"y"}`, `{"answer":"44","sure":false,"doubt":"all of it"}`, true},
		"corrected so that it hides what is asked":   {`{"extra":"none"}`, `{"answer":"44","sure":true}`, false},
		"corrected so, and hidden the other way too": {`{"extra":"none"}`, `{"answer":"44"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(asked()))
			ctx, admin := t.Context(), b.member(b.Admin)
			id, ada, rita := b.create(1)[0], b.Contributors[0], b.Reviewers[0]
			b.submitted(ada, id, "solve", `{"answer":"42","sure":true}`)
			b.submitted(ada, id, "more", `{"extra":"x","why":"because"}`)
			b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove, Values: raw(c.fix)})
			require.NoError(t, b.Store.Quarantine(ctx, admin, id, "solve", "look again"))
			b.settle(id)
			require.NoError(t, b.Store.Resolve(ctx, admin, id, "solve", pipeline.ResolveRequeue, ""))
			require.Equal(t, task.NodeSubmitted, b.statusOf(id, "more"), "only the first one is put back")
			b.submitted(ada, id, "solve", c.again)
			if c.kept {
				require.JSONEq(t, `"because"`, string(b.answers(id)["why"]))
			} else {
				require.NotContains(t, b.answers(id), "why")
			}
			b.checked()
		})
	}
}

// asked is a pipeline of two subtasks, one after the other. The second asks why where
// the author of the first was sure and there is something extra. One review checks the
// second, and a last one both.
func asked() pipeline.Definition {
	d := detour()
	d.Nodes[2].Fields = append(d.Nodes[2].Fields, form.Field{
		Name: "why", Type: form.ShortText, Input: form.Contributor,
		VisibleWhen: &form.Condition{All: []form.Condition{
			{Field: "sure", Op: form.OpEq, Value: json.RawMessage(`true`)},
			{Field: "extra", Op: form.OpNe, Value: json.RawMessage(`"none"`)},
		}},
	})
	d.Nodes[3].Reviews = []pipeline.Target{{Node: "more"}}
	d.Nodes[4].Reviews = []pipeline.Target{{Node: "solve"}, {Node: "more"}}
	d.Edges = []pipeline.Edge{
		{From: "start", To: "solve"}, {From: "solve", To: "more"}, {From: "more", To: "check"}, {From: "check", To: "last"}, {From: "last", To: "end"},
	}
	return d
}

// A task's page shows as answers what counts: not what was taken back, and not what was
// left out when it was handed in again.
func TestATasksPageShowsTheAnswersThatCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, ada := b.create(1)[0], b.Contributors[0]
	detail := func() store.TaskDetail {
		d, err := b.Store.TaskDetail(t.Context(), b.OrgID, b.PipelineID, id)
		require.NoError(t, err)
		return d
	}
	require.Empty(t, detail().Answers)
	c, _ := b.handIn(ada)
	require.Equal(t, raw(answer42), detail().Answers, "and neither what was given nor what is fixed")
	require.Nil(t, detail().Submissions[0].UndoneAt)
	again, err := b.undo(ada, c.ID)
	require.NoError(t, err)
	require.Empty(t, detail().Answers)
	require.NotNil(t, detail().Submissions[0].UndoneAt)
	_, err = b.Store.Submit(t.Context(), ada, again.ID, raw(`{"answer":"43"}`))
	require.NoError(t, err)
	require.Equal(t, raw(`{"answer":"43"}`), detail().Answers)
	require.Len(t, detail().Submissions, 2)
	b.settle(id)
	b.checked()
}

// What is handed in and taken back again and again makes no page that fills the memory.
func TestATasksPageHasAnEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	b.exec(`INSERT INTO submissions (claim_id, org_id, task_id, node_key, iteration, author, seq, undone_at, values)
		SELECT gen_random_uuid(), $2, $1, 'solve', n, $3, n, now(), jsonb_build_object('answer', repeat('x', 1 << 20)) FROM generate_series(1, 20) AS n`,
		id, b.OrgID, b.Contributors[0])
	d, err := b.Store.TaskDetail(t.Context(), b.OrgID, b.PipelineID, id)
	require.NoError(t, err)
	require.Len(t, d.Submissions, 7, "8 MiB")
	require.Equal(t, 20, d.Submissions[0].Iteration, "the newest")
	b.exec(`UPDATE submissions SET values = jsonb_build_object('answer', repeat('x', 9 << 20)) WHERE iteration = 20`)
	d, err = b.Store.TaskDetail(t.Context(), b.OrgID, b.PipelineID, id)
	require.NoError(t, err)
	require.Len(t, d.Submissions, 1, "that one in any case")
}

// The screen has what a form looks at in the steps before it, for who fills it in and for
// who reviews it, and no more.
func TestAFormIsShownWithWhatItLooksAt(t *testing.T) {
	t.Parallel()
	d := asked()
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, form.Field{Name: "text", Type: form.LongText, Input: form.Contributor},
		form.Field{Name: "nobody", Type: form.ShortText, Input: form.Contributor})
	d.Nodes[2].Fields = append(
		d.Nodes[2].Fields,
		form.Field{Name: "confirm", Type: form.ShortText, Input: form.Contributor, Rules: form.Rules{EqualsField: "answer"}},
		form.Field{Name: "again", Type: form.ShortText, Input: form.Contributor, Rules: form.Rules{EqualsField: "confirm"}},
		form.Field{
			Name: "marks", Type: form.TextSpans, Input: form.Contributor, Source: "text",
			Labels: []form.Option{{Value: "noun"}},
		},
	)
	b := newBench(t, dbtest.WithDefinition(d))
	id, ada := b.create(1)[0], b.Contributors[0]
	names := func(c *store.Claim) []string {
		w, err := b.Store.Work(t.Context(), *c)
		require.NoError(t, err)
		return slices.Sorted(maps.Keys(w.Values))
	}
	b.submitted(ada, id, "solve", `{"answer":"42","sure":true,"text":"a text","nobody":"asks"}`)
	more := b.claim(ada, pipeline.KindSubtask)
	require.Equal(t, []string{"answer", "sure", "text"}, names(more))
	_, err := b.Store.Submit(t.Context(), ada, more.ID, raw(`{"extra":"x","why":"y","confirm":"42","again":"42"}`))
	require.NoError(t, err)
	b.settle(id)
	require.Equal(t, []string{"again", "answer", "confirm", "extra", "sure", "text", "why"}, names(b.claim(b.Reviewers[0], pipeline.KindReview)))
}

// Whoever takes a subtask up for another round is shown nothing that was handed in for it
// before, also where the form's own conditions look at it: it is not theirs. Nor does what
// they handed in show an answer that it withdrew.
func TestAFormIsShownWithoutAnswersOfItsEarlierRounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id, ada, ben := b.create(1)[0], b.Contributors[0], b.Contributors[1]
	b.submitted(ada, id, "solve", `{"answer":"42","sure":false,"doubt":"all of it"}`)
	b.judged(b.Reviewers[0], id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.exec(`UPDATE task_nodes SET reserved_for = NULL, reserved_until = NULL WHERE task_id = $1`, id) // ada did not come

	c := b.claim(ben, pipeline.KindSubtask)
	require.NotNil(t, c)
	require.Equal(t, 2, c.Iteration)
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.Equal(t, []string{"question"}, slices.Sorted(maps.Keys(w.Values)))
	_, err = b.Store.Submit(ctx, ben, c.ID, raw(`{"answer":"43"}`))
	require.NoError(t, err)
	b.settle(id)
	d, err := b.Store.Submission(ctx, ben, c.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"answer", "question"}, slices.Sorted(maps.Keys(d.Values)))
	b.checked()
}
