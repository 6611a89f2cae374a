package store_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// bench is a world with the verbs that the tests below speak in.
type bench struct {
	*dbtest.World
	t *testing.T
}

func newBench(t *testing.T, opts ...dbtest.Option) *bench {
	t.Helper()
	return &bench{World: dbtest.NewWorld(t, opts...), t: t}
}

func raw(s string) form.Values {
	var v form.Values
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		panic(err)
	}
	return v
}

func (b *bench) member(user int64) store.Member {
	b.t.Helper()
	m, err := b.Store.MemberOfPipeline(b.t.Context(), user, b.PipelineID)
	require.NoError(b.t, err)
	return m
}

// create makes n tasks of the bench's pipeline.
func (b *bench) create(n int) []int64 {
	b.t.Helper()
	p, err := b.Store.Version(b.t.Context(), b.VersionID)
	require.NoError(b.t, err)
	in := store.CreateTasks{OrgID: b.OrgID, PipelineID: b.PipelineID, VersionID: b.VersionID}
	for range n {
		input := raw(`{"question":"What is 6 times 7?"}`)
		st, err := pipeline.Start(p.Graph, p.Skipped("start", input, form.NewBudget()))
		require.NoError(b.t, err)
		in.Tasks = append(in.Tasks, store.NewTask{Input: input, State: st})
	}
	out, err := b.Store.CreateTasks(b.t.Context(), in)
	require.NoError(b.t, err)
	return out.IDs
}

func (b *bench) claim(user int64, kind pipeline.Kind) *store.Claim {
	b.t.Helper()
	c, err := b.Store.ClaimNext(b.t.Context(), b.member(user), kind)
	require.NoError(b.t, err)
	return c
}

// submit hands in an answer that the form takes.
func (b *bench) submit(user int64, c *store.Claim) {
	b.t.Helper()
	_, err := b.Store.Submit(b.t.Context(), user, c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(b.t, err)
}

// settle does what the task's run does: fold the journal, apply what follows.
func (b *bench) settle(taskID int64) pipeline.State {
	b.t.Helper()
	ctx := b.t.Context()
	for {
		l, err := b.Store.LoadTask(ctx, taskID)
		require.NoError(b.t, err)
		if l.State.Seq == l.Seq {
			return l.State
		}
		events, err := b.Store.LoadEvents(ctx, taskID, l.State.Seq, 100)
		require.NoError(b.t, err)
		in := store.StepInput{TaskID: taskID, From: l.State.Seq}
		s := l.State
		for _, e := range events {
			var changes []pipeline.Change
			s, changes = pipeline.Step(l.Graph, s, e)
			in.Changes, in.To = append(in.Changes, changes...), e.Seq
		}
		res, err := b.Store.ApplyStep(ctx, in)
		require.NoError(b.t, err)
		require.True(b.t, res.Applied)
	}
}

// checked fails the test when a promise about the data is broken.
func (b *bench) checked() {
	b.t.Helper()
	ctx := b.t.Context()
	_, err := b.Store.Pool().Exec(ctx, `DELETE FROM outbox`)
	require.NoError(b.t, err)
	v, err := b.Store.CheckInvariants(ctx, true)
	require.NoError(b.t, err)
	require.Empty(b.t, v)
	v, _, err = b.Store.CheckJournal(ctx, 0, 100_000)
	require.NoError(b.t, err)
	require.Empty(b.t, v)
}

func (b *bench) status(id int64) store.Task {
	b.t.Helper()
	tk, err := b.Store.Task(b.t.Context(), b.OrgID, b.PipelineID, id)
	require.NoError(b.t, err)
	return tk
}

func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.Store.Pool().Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

// lapse lets the lease of the claim on a task's first node have ended a while
// ago, as if it had been given out for less.
func (b *bench) lapse(taskID int64, ago time.Duration) {
	b.t.Helper()
	b.exec(`WITH n AS (UPDATE task_nodes SET lease_expires_at = now() - $2::interval WHERE task_id = $1 AND key = 'solve' RETURNING claim_id)
		UPDATE task_events e SET lease_ends = now() - $2::interval FROM n WHERE e.task_id = $1 AND e.kind = 'claim' AND e.claim_id = n.claim_id`, taskID, ago)
}

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
