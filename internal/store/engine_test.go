package store_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

func TestATaskGoesThroughRejectionToFinished(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ada, ben, rita := b.Contributors[0], b.Contributors[1], b.Reviewers[0]

	tk := b.status(id)
	require.Equal(t, task.Pending, tk.Status)
	require.Equal(t, task.Summary{Total: 2, InProgress: 1, Pending: 1}, tk.Summary)

	c := b.claim(ada, pipeline.KindSubtask)
	require.NotNil(t, c)
	require.Equal(t, task.InProgress, b.status(id).Status)
	require.Nil(t, b.claim(ben, pipeline.KindSubtask), "what one holds nobody else gets")

	_, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"41","sure":false}`))
	require.True(t, fault.Is(err, fault.Validation), "a visible required field is missing: %v", err)
	first, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"41","sure":true}`))
	require.NoError(t, err)
	again, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"41","sure":true}`))
	require.NoError(t, err)
	require.True(t, again.Repeated)
	again.Repeated = false
	require.Equal(t, first, again, "the same submit has the same answer")
	b.settle(id)

	rc := b.claim(rita, pipeline.KindReview)
	require.NotNil(t, rc)
	w, err := b.Store.Work(ctx, *rc)
	require.NoError(t, err)
	require.Len(t, w.Reviewed, 1)
	require.JSONEq(t, `"41"`, string(w.Reviewed[0].Values["answer"]))
	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{
		Verdict: store.VerdictReject, Comments: []store.Comment{{Field: "answer", Text: "off by one"}},
	})
	require.NoError(t, err)
	st := b.settle(id)
	n, _ := st.Node("solve")
	require.Equal(t, ada, n.ReservedFor)
	require.Equal(t, 2, n.Iteration)

	require.Nil(t, b.claim(ben, pipeline.KindSubtask), "it waits for who did it")
	c = b.claim(ada, pipeline.KindSubtask)
	require.NotNil(t, c)
	w, err = b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.Equal(t, []store.Comment{{Node: "solve", Field: "answer", Text: "off by one"}}, w.Comments)
	require.JSONEq(t, `"41"`, string(w.Draft.Values["answer"]), "the old answer is the draft")
	_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"43","sure":true}`))
	require.NoError(t, err)
	b.settle(id)

	require.Nil(t, b.claim(b.Reviewers[1], pipeline.KindReview), "the same reviewer sees it again")
	rc = b.claim(rita, pipeline.KindReview)
	require.NotNil(t, rc)
	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictApprove, Values: raw(`{"answer":"42"}`)})
	require.NoError(t, err)
	b.settle(id)

	tk = b.status(id)
	require.Equal(t, task.Finished, tk.Status)
	require.Equal(t, task.Summary{Total: 2, Finished: 2}, tk.Summary)
	values, err := b.Store.Answers(ctx, b.OrgID, b.PipelineID, id)
	require.NoError(t, err)
	require.JSONEq(t, `"42"`, string(values["answer"]), "the reviewer's correction stands")
	b.checked()
}

func TestClaimersNeverShareATask(t *testing.T) {
	t.Parallel()
	b := newBench(t, dbtest.WithContributors(64))
	const tasks = 200
	b.create(tasks)
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[int64]int{}
	for _, user := range b.Contributors {
		m := b.member(user)
		wg.Go(func() {
			for {
				c, err := b.Store.ClaimNext(context.WithoutCancel(t.Context()), m, pipeline.KindSubtask)
				if err != nil {
					t.Error(err)
				}
				if c == nil {
					return
				}
				mu.Lock()
				seen[c.TaskID]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, tasks, "every task went out")
	for id, n := range seen {
		require.Equal(t, 1, n, "task %d", id)
	}
	v, err := b.Store.CheckInvariants(t.Context(), false)
	require.NoError(t, err)
	require.Empty(t, v)
}

func TestALateSubmitIsRefusedAndItsWordsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ada, ben := b.Contributors[0], b.Contributors[1]
	c := b.claim(ada, pipeline.KindSubtask)
	rev, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"4"}`), 0)
	require.NoError(t, err)
	require.EqualValues(t, 1, rev)

	b.lapse(id, time.Second)
	other := b.claim(ben, pipeline.KindSubtask)
	require.NotNil(t, other, "a lease that ran out is claimable without Temporal")

	_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, err = b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"x"}`), 1)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, err = b.Store.ExtendClaim(ctx, ada, c.ID)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	require.NoError(t, b.Store.ReleaseClaim(ctx, ben, other.ID, store.Release{Reason: "not mine"}))
	b.settle(id)
	c = b.claim(ada, pipeline.KindSubtask)
	w, err := b.Store.Work(ctx, *c)
	require.NoError(t, err)
	require.JSONEq(t, `"42"`, string(w.Draft.Values["answer"]), "what came with the refused submit is the draft")
	b.settle(id)
	b.checked()
}

func TestALateSubmitWinsWhileNobodyTookTheNode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.lapse(id, time.Hour)
	b.submit(b.Contributors[0], c)
}

func TestDraftRevisionsKeepTwoTabsApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(1)
	ada := b.Contributors[0]
	c := b.claim(ada, pipeline.KindSubtask)
	rev, err := b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"1"}`), 0)
	require.NoError(t, err)
	rev, err = b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"2"}`), rev)
	require.NoError(t, err)
	require.EqualValues(t, 2, rev)
	for _, stale := range []int64{0, 1, 3} {
		_, err = b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"3"}`), stale)
		require.True(t, fault.Is(err, fault.Conflict), "revision %d: %v", stale, err)
	}
	_, err = b.Store.SaveDraft(ctx, b.Contributors[1], c.ID, raw(`{"answer":"3"}`), 2)
	require.True(t, fault.Is(err, fault.NotFound), "another person's claim: %v", err)
	_, err = b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"nope":"3"}`), 2)
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
}

func TestAStepAppliesOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.submit(b.Contributors[0], c)
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	events, err := b.Store.LoadEvents(ctx, id, l.State.Seq, 100)
	require.NoError(t, err)
	in := store.StepInput{TaskID: id, From: 1, To: 3}
	s := l.State
	for _, e := range events {
		var ch []pipeline.Change
		s, ch = pipeline.Step(l.Graph, s, e)
		in.Changes = append(in.Changes, ch...)
	}
	var wg sync.WaitGroup
	var applied sync.Map
	for i := range 8 {
		wg.Go(func() {
			res, err := b.Store.ApplyStep(context.WithoutCancel(ctx), in)
			if err != nil {
				t.Error(err)
			}
			if res.Applied {
				applied.Store(i, true)
			}
		})
	}
	wg.Wait()
	n := 0
	applied.Range(func(any, any) bool { n++; return true })
	require.Equal(t, 1, n)
	_, err = b.Store.ApplyStep(ctx, store.StepInput{TaskID: id, From: 3, To: 9})
	require.Error(t, err, "a run of an older release does not know what diverged means: it waits")
	b.checked()
}

func TestAStepOfAnotherPastChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	journal, err := b.Store.LoadEvents(ctx, id, l.State.Seq, 10)
	require.NoError(t, err)
	require.NotEmpty(t, journal)
	step := func(events []pipeline.Event) store.StepResult {
		out, err := b.Store.ApplyStep(ctx, store.StepInput{
			TaskID: id, From: l.State.Seq, To: l.State.Seq + int64(len(events)), Events: events,
			Changes: []pipeline.Change{{Seq: 99, Node: pipeline.NodeState{Key: l.State.Nodes[0].Key, Status: task.NodeFinished}}},
		})
		require.NoError(t, err)
		return out
	}
	longer := append(slices.Clone(journal), pipeline.Event{Seq: l.Seq + 1, Kind: pipeline.EventSubmit})
	other := slices.Clone(journal)
	other[len(other)-1].Claim = "5f9c0a52-94a3-4f5c-9f5e-2f8b6f0d2a11"
	for name, events := range map[string][]pipeline.Event{"longer than the journal": longer, "with another event in it": other} {
		out := step(events)
		require.True(t, out.Diverged, name)
		require.False(t, out.Applied, name)
		require.Equal(t, l.State.Seq, out.AppliedSeq, name)
	}
	before, err := b.Store.LoadEvents(ctx, id, l.State.Seq-1, 1)
	require.NoError(t, err)
	before[0].Actor = 987654
	out, err := b.Store.ApplyStep(ctx, store.StepInput{TaskID: id, From: l.State.Seq, To: l.Seq, Events: journal, Last: before[0]})
	require.NoError(t, err)
	require.True(t, out.Diverged, "after another event")
	after, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	require.Equal(t, l.State, after.State)
	journal[0].LeaseEnds = journal[0].LeaseEnds.Add(time.Minute) // renewed meanwhile
	out, err = b.Store.ApplyStep(ctx, store.StepInput{TaskID: id, From: l.State.Seq, To: l.Seq, Events: journal})
	require.NoError(t, err)
	require.True(t, out.Applied)
	after, err = b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	require.Equal(t, journal[len(journal)-1].Claim, after.Last.Claim, "a run that begins here knows where")
	b.checked()
}

func TestALaterCommandBeatsAnEarlierConsequence(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	b.submit(b.Contributors[0], c)
	require.NoError(t, b.Store.Quarantine(ctx, b.member(b.Admin), id, "solve", ""))
	n, _ := b.settle(id).Node("solve")
	require.Equal(t, task.NodeQuarantined, n.Status)
	b.checked()
}

// TestALostRunSeesCausesBeforeEffects rebuilds a run between two commands that
// it has not applied: the rejection must stay a rejection.
func TestALostRunSeesCausesBeforeEffects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	ada, rita := b.Contributors[0], b.Reviewers[0]
	c := b.claim(ada, pipeline.KindSubtask)
	b.submit(ada, c)
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	_, err := b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictReject})
	require.NoError(t, err)
	l, err := b.Store.LoadTask(ctx, id)
	require.NoError(t, err)
	require.Less(t, l.State.Seq, l.Seq-1, "claim and verdict both wait")
	n, _ := l.State.Node("check")
	require.Equal(t, task.NodeAvailable, n.Status, "neither has happened yet")

	n, _ = b.settle(id).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)
	require.Equal(t, 2, n.Iteration)
	require.Equal(t, ada, n.ReservedFor)
	b.checked()
}
