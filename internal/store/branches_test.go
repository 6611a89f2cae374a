package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// fork is a pipeline whose first subtask leads to one of two others, while a
// review looks at it.
func fork() pipeline.Definition {
	d := dbtest.Definition()
	solve, check := d.Nodes[1], d.Nodes[2]
	subtask := func(key, field string) pipeline.Node {
		return pipeline.Node{Key: key, Kind: pipeline.KindSubtask, Fields: []form.Field{
			{Name: field, Type: form.ShortText, Input: form.Contributor},
		}}
	}
	sure := func(op string) *form.Condition {
		return &form.Condition{Field: "sure", Op: op, Value: json.RawMessage(`true`)}
	}
	d.Nodes = []pipeline.Node{d.Nodes[0], solve, check, subtask("left", "l"), subtask("right", "r"), d.Nodes[3]}
	d.Edges = []pipeline.Edge{
		{From: "start", To: "solve"},
		{From: "solve", To: "check"},
		{From: "solve", To: "left", When: sure(form.OpEq)},
		{From: "solve", To: "right", When: sure(form.OpNe)},
		{From: "check", To: "end"},
		{From: "left", To: "end"},
		{From: "right", To: "end"},
	}
	return d
}

// Whoever goes on behind an answer that a review sends back has not worked on
// the task's way when the next answer leads elsewhere, and has again when the one
// after it leads back. Nothing of it is done twice, counted twice, or lost.
func TestATaskWhoseChoiceIsMadeAnewTakesOneWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(fork()))
	id := b.create(1)[0]
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
	reject := store.Verdict{Verdict: store.VerdictReject}
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ben, id, "left", `{"l":"x"}`)
	require.Equal(t, task.NodeSubmitted, b.statusOf(id, "left"), "the choice before it may be made anew")

	b.judged(rita, id, "check", reject)
	b.submitted(ada, id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
	require.Equal(t, task.NodeNA, b.statusOf(id, "left"))
	require.Equal(t, task.NodeAvailable, b.statusOf(id, "right"))
	require.NotContains(t, b.answers(id), "l")
	require.Equal(t, 3, b.status(id).Summary.Total)
	b.checked()

	b.judged(rita, id, "check", reject)
	b.submitted(ada, id, "solve", answer42)
	require.Equal(t, task.NodeSubmitted, b.statusOf(id, "left"), "as it was handed in")
	require.Equal(t, task.NodeNA, b.statusOf(id, "right"))
	require.JSONEq(t, `"x"`, string(b.answers(id)["l"]))
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove})
	require.Equal(t, task.Finished, b.status(id).Status)
	require.Equal(t, task.Summary{Total: 3, Finished: 3}, b.status(id).Summary)
	b.checked()
}

// Which way a task takes was decided when the answers were handed in that it hangs on: who
// reviews them sends them back, and corrects the others.
func TestACorrectionLeadsNoTaskElsewhere(t *testing.T) {
	t.Parallel()
	own := fork()
	own.Nodes[2].Reviews = []pipeline.Target{{Node: "solve"}}
	later := fork() // the choice is that of a subtask behind the answers
	later.Nodes[2].Reviews = own.Nodes[2].Reviews
	later.Nodes = append(later.Nodes, pipeline.Node{Key: "mid", Kind: pipeline.KindSubtask, Fields: []form.Field{
		{Name: "m", Type: form.ShortText, Input: form.Contributor},
	}})
	for i := range later.Edges {
		if later.Edges[i].From == "solve" {
			later.Edges[i].From = "mid"
		}
	}
	later.Edges = append(later.Edges, pipeline.Edge{From: "solve", To: "mid"})
	for name, c := range map[string]struct {
		def  pipeline.Definition
		done []string
	}{
		"of what chose it":                {own, nil},
		"of what a later choice hangs on": {later, []string{"mid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, dbtest.WithDefinition(c.def))
			ctx, id := t.Context(), b.create(1)[0]
			ada, rita := b.Contributors[0], b.Reviewers[0]
			b.submitted(ada, id, "solve", answer42)
			for _, node := range c.done {
				b.submitted(ada, id, node, `{}`)
			}
			rc, err := b.Store.ClaimTask(ctx, b.member(rita), pipeline.KindReview, id, "check")
			require.NoError(t, err)
			approve := func(values string) error {
				_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(values)})
				return err
			}
			var f *fault.Error
			require.ErrorAs(t, approve(`{"answer":"43","sure":false,"doubt":"all"}`), &f)
			require.Equal(t, fault.Validation, f.Kind)
			require.Equal(t, []fault.Problem{
				{Field: "sure", Message: "decides where the task goes, so it cannot be corrected here; reject it instead"},
			}, f.Problems)
			require.NoError(t, approve(`{"answer":"43"}`))
			require.Equal(t, task.NodeAvailable, b.statusOf(id, "left"))
			require.Equal(t, task.NodeNA, b.statusOf(id, "right"))
			b.checked()
		})
	}
}

// leftMeanwhile is a task of fork that went right while the second contributor was at work
// on its left way.
func leftMeanwhile(t *testing.T) (*bench, *store.Claim) {
	t.Helper()
	b := newBench(t, dbtest.WithDefinition(fork()))
	id := b.create(1)[0]
	b.submitted(b.Contributors[0], id, "solve", answer42)
	c, err := b.Store.ClaimTask(t.Context(), b.member(b.Contributors[1]), pipeline.KindSubtask, id, "left")
	require.NoError(t, err)
	b.judged(b.Reviewers[0], id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.submitted(b.Contributors[0], id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
	require.Equal(t, task.NodeClaimed, b.statusOf(id, "left"))
	return b, c
}

// Who is at work on a way that is left meanwhile may finish it; it counts no more.
func TestAClaimOnAWayThatIsLeftIsKept(t *testing.T) {
	t.Parallel()
	b, c := leftMeanwhile(t)
	ctx, id, ben, rita := t.Context(), c.TaskID, c.UserID, b.Reviewers[0]
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictApprove})
	b.submitted(b.Contributors[0], id, "right", `{"r":"y"}`)
	require.Equal(t, task.InProgress, b.status(id).Status)
	_, err := b.Store.Submit(ctx, ben, c.ID, raw(`{"l":"x"}`))
	require.NoError(t, err)
	require.Equal(t, task.NodeNA, b.statusOf(id, "left"))
	require.Equal(t, task.Finished, b.status(id).Status)
	require.NotContains(t, b.answers(id), "l")
	b.checked()
}

// A task that an older release led on has finished nodes behind a choice that was
// open. It is as it was: no promise is broken, and a repair leaves it alone.
func TestATaskThatAnOlderReleaseLedOnIsNotAccused(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(fork()))
	ctx, id := t.Context(), b.create(1)[0]
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ben, id, "left", `{"l":"x"}`)
	b.statusOf(id, "left")
	b.exec(`UPDATE task_nodes SET status = 'finished' WHERE task_id = $1 AND key = 'left'`, id)
	b.exec(`UPDATE tasks SET n_finished = n_finished + 1, n_in_progress = n_in_progress - 1 WHERE id = $1`, id)
	b.checked()
	done, err := b.Store.RepairTask(ctx, id, true)
	require.NoError(t, err)
	require.Empty(t, done)

	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.submitted(ada, id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
	require.Equal(t, task.NodeFinished, b.statusOf(id, "left"), "what is finished stays so")
	b.checked()

	b.submitted(ada, id, "right", `{"r":"y"}`)
	b.checked()

	b.exec(`UPDATE task_nodes SET status = 'na' WHERE task_id = $1 AND key = 'right'`, id)
	v, _, err := b.Store.CheckJournal(ctx, 0, 100)
	require.NoError(t, err)
	require.NotEmpty(t, v, "what neither release would have written is told")
}

// While two releases lead tasks side by side, a run may know of a node as waiting that
// the other one has finished. It stays finished.
func TestNoRunOpensWhatAnotherReleaseFinished(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(fork()))
	id := b.create(1)[0]
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ben, id, "left", `{"l":"x"}`)
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.exec(`UPDATE task_nodes SET status = 'finished' WHERE task_id = $1 AND key = 'left'`, id)
	c, err := b.Store.ClaimTask(t.Context(), b.member(ada), pipeline.KindSubtask, id, "solve")
	require.NoError(t, err)
	_, err = b.Store.Submit(t.Context(), ada, c.ID, raw(`{"answer":"42","sure":false,"doubt":"all"}`))
	require.NoError(t, err)
	in := b.step(id, 2)
	in.Changes = append(in.Changes, pipeline.Change{Seq: in.To, Node: pipeline.NodeState{
		Key: "left", Status: task.NodeNA, Iteration: 1, Reason: pipeline.ReasonHandedIn,
	}})
	res, err := b.Store.ApplyStep(t.Context(), in)
	require.NoError(t, err)
	require.True(t, res.Applied)
	require.Equal(t, task.NodeFinished, b.statusOf(id, "left"))
	require.Equal(t, 1, b.status(id).Summary.Finished)
	b.checked()
}

// A run that takes over from one of an older release, while an event waits, goes on
// from the rows as that one left them, and ends no task whose rows are not there.
func TestARunGoesOnFromTheRowsOfAnOlderRelease(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(fork()))
	ctx, id := t.Context(), b.create(1)[0]
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ben, id, "left", `{"l":"x"}`)
	b.judged(rita, id, "check", store.Verdict{Verdict: store.VerdictReject})
	b.submitted(ada, id, "solve", `{"answer":"42","sure":false,"doubt":"all"}`)
	b.exec(`UPDATE task_nodes SET status = 'submitted', reason = '' WHERE task_id = $1 AND key = 'left'`, id)
	_, err := b.Store.ClaimTask(ctx, b.member(ben), pipeline.KindSubtask, id, "right")
	require.NoError(t, err)
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	require.Less(t, l.State.Seq, l.Seq)
	n, _ := l.State.Node("left")
	require.Equal(t, task.NodeSubmitted, n.Status)
	require.Equal(t, task.NodeNA, b.statusOf(id, "left"))
	b.checked()
}

// bypass is a pipeline in which a subtask, pick, chooses whether a review, left, looks at
// the answer before it; check reviews the choice.
func bypass() pipeline.Definition {
	d := fork()
	d.Nodes[3] = pipeline.Node{Key: "left", Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: "solve", Fields: []string{"answer"}}}}
	pick := pipeline.Node{Key: "pick", Kind: pipeline.KindSubtask, Fields: []form.Field{
		{Name: "way", Type: form.ShortText, Input: form.Contributor},
	}}
	way := func(op string) *form.Condition {
		return &form.Condition{Field: "way", Op: op, Value: json.RawMessage(`"left"`)}
	}
	d.Nodes[2].Reviews = []pipeline.Target{{Node: "pick"}}
	d.Nodes = append(d.Nodes, pick)
	d.Edges = []pipeline.Edge{
		{From: "start", To: "solve"},
		{From: "solve", To: "pick"},
		{From: "pick", To: "check"},
		{From: "pick", To: "left", When: way(form.OpEq)},
		{From: "pick", To: "right", When: way(form.OpNe)},
		{From: "check", To: "end"},
		{From: "left", To: "end"},
		{From: "right", To: "end"},
	}
	return d
}

// A review on a way that the task has left corrects nothing, like what was handed in
// there.
func TestAReviewOnAWayThatWasLeftCorrectsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithDefinition(bypass()))
	id := b.create(1)[0]
	ada, rita, rob := b.Contributors[0], b.Reviewers[0], b.Reviewers[1]
	b.submitted(ada, id, "solve", answer42)
	b.submitted(ada, id, "pick", `{"way":"left"}`)
	b.judged(rita, id, "left", store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"43"}`)})
	require.JSONEq(t, `"43"`, string(b.answers(id)["answer"]))
	for _, turn := range []struct{ way, answer string }{{"right", `"42"`}, {"left", `"43"`}, {"right", `"42"`}} {
		b.judged(rob, id, "check", store.Verdict{Verdict: store.VerdictReject})
		b.submitted(ada, id, "pick", `{"way":"`+turn.way+`"}`)
		require.JSONEq(t, turn.answer, string(b.answers(id)["answer"]), turn.way)
	}
	b.checked()
	require.NoError(t, b.Store.FailTask(t.Context(), b.member(b.Admin), id, ""))
	b.settle(id)
	require.JSONEq(t, `"42"`, string(b.answers(id)["answer"]), "nor when the task fails")
	b.checked()
}
