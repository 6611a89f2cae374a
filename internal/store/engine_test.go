package store_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

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
		st, err := pipeline.Start(p.Graph, p.Skipped("start", input))
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

	b.exec(`UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, id)
	other := b.claim(ben, pipeline.KindSubtask)
	require.NotNil(t, other, "a lease that ran out is claimable without Temporal")

	_, err = b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, err = b.Store.SaveDraft(ctx, ada, c.ID, raw(`{"answer":"x"}`), 1)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, err = b.Store.ExtendClaim(ctx, ada, c.ID)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	require.NoError(t, b.Store.ReleaseClaim(ctx, ben, other.ID, "not mine"))
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
	b.exec(`UPDATE task_nodes SET lease_expires_at = now() - interval '1 hour' WHERE task_id = $1 AND key = 'solve'`, id)
	_, err := b.Store.Submit(t.Context(), b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
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

func TestDeadlinesExpireLeasesAndEscalate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(2)
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	require.Equal(t, ids[0], c.TaskID)
	res, err := b.Store.CheckDeadlines(ctx, ids[0])
	require.NoError(t, err)
	require.Len(t, res.Deadlines, 1, "the lease still runs")
	require.WithinDuration(t, c.LeaseExpiresAt, res.Deadlines[0].LeaseEnds, 0)

	b.exec(`UPDATE task_nodes SET lease_expires_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, ids[0])
	res, err = b.Store.CheckDeadlines(ctx, ids[0])
	require.NoError(t, err)
	require.Empty(t, res.Deadlines)
	n, _ := b.settle(ids[0]).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)

	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '1 second' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	_, err = b.Store.CheckDeadlines(ctx, ids[1])
	require.NoError(t, err)
	require.Equal(t, task.Escalated, b.status(ids[1]).Status)
	b.settle(ids[1])
	require.NoError(t, b.Store.Resolve(ctx, b.member(b.Admin), ids[1], "solve", pipeline.ResolveRequeue, ""))
	n, _ = b.settle(ids[1]).Node("solve")
	require.Equal(t, task.NodeAvailable, n.Status)
	require.Equal(t, 2, n.Iteration)
	b.checked()
}

func TestAdminCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	admin := b.member(b.Admin)
	ids := b.create(4)
	ada := b.Contributors[0]

	c := b.claim(ada, pipeline.KindSubtask)
	require.NoError(t, b.Store.Quarantine(ctx, admin, c.TaskID, "solve", "broken question"))
	_, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, task.Quarantined, b.status(c.TaskID).Status)
	err = b.Store.Resolve(ctx, admin, c.TaskID, "solve", pipeline.ResolveAccept, "")
	require.True(t, fault.Is(err, fault.Conflict), "nothing was submitted: %v", err)
	require.NoError(t, b.Store.Resolve(ctx, admin, c.TaskID, "solve", pipeline.ResolveSkip, ""))
	b.settle(c.TaskID)
	require.Equal(t, task.Finished, b.status(c.TaskID).Status, "its review has nothing to check")

	require.NoError(t, b.Store.Hold(ctx, admin, ids[1], ""))
	require.Equal(t, task.Paused, b.status(ids[1]).Status)
	require.Equal(t, ids[2], b.claim(ada, pipeline.KindSubtask).TaskID, "a held task is passed over")
	require.NoError(t, b.Store.Unhold(ctx, admin, ids[1], ""))
	require.Equal(t, ids[1], b.claim(ada, pipeline.KindSubtask).TaskID)

	require.NoError(t, b.Store.FailTask(ctx, admin, ids[3], "withdrawn"))
	require.Equal(t, task.Failed, b.status(ids[3]).Status)
	require.Equal(t, task.Summary{}, b.status(ids[3]).Summary)
	err = b.Store.Hold(ctx, admin, ids[3], "")
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Nil(t, b.claim(b.Contributors[1], pipeline.KindSubtask))
	for _, id := range ids {
		b.settle(id)
	}
	b.checked()
}

func TestReviewerEscalates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	b.settle(id)
	rc := b.claim(b.Reviewers[0], pipeline.KindReview)
	_, err = b.Store.Review(ctx, b.Reviewers[0], rc.ID, store.Verdict{Verdict: store.VerdictEscalate})
	require.NoError(t, err)
	require.Equal(t, task.Escalated, b.status(id).Status)
	b.settle(id)
	waiting, err := b.Store.Waiting(ctx, b.OrgID, b.PipelineID, 10)
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	require.Equal(t, pipeline.ReasonReviewer, waiting[0].Reason)
	require.NoError(t, b.Store.Resolve(ctx, b.member(b.Admin), id, "check", pipeline.ResolveAccept, ""))
	b.settle(id)
	require.Equal(t, task.Finished, b.status(id).Status)
	b.checked()
}

func TestAStepAppliesOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
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
	require.Error(t, err, "a step ahead of the journal is a bug")
	b.checked()
}

func TestALaterCommandBeatsAnEarlierConsequence(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	require.NoError(t, b.Store.Quarantine(ctx, b.member(b.Admin), id, "solve", ""))
	n, _ := b.settle(id).Node("solve")
	require.Equal(t, task.NodeQuarantined, n.Status)
	b.checked()
}

func TestOutboxKeepsATasksOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	for _, want := range []pipeline.EventKind{pipeline.EventCreate, pipeline.EventClaim, pipeline.EventSubmit} {
		got, err := b.Store.TakeOutbox(ctx, 10)
		require.NoError(t, err)
		require.Len(t, got, 1, "only the oldest row of a task")
		require.Equal(t, want, got[0].Event.Kind)
		require.Equal(t, id, got[0].TaskID)
		none, err := b.Store.TakeOutbox(ctx, 10)
		require.NoError(t, err)
		require.Empty(t, none, "while it is under way the next one waits")
		require.NoError(t, b.Store.DoneOutbox(ctx, []int64{got[0].ID}))
	}
}

func TestReconcileRingsWhatLags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	n, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Zero(t, n)
	b.exec(`DELETE FROM outbox`)
	b.exec(`UPDATE tasks SET updated_at = now() - interval '2 minutes' WHERE id = $1`, ids[0])
	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '10 minutes' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	for range 2 {
		_, err = b.Store.Reconcile(ctx, 100)
		require.NoError(t, err)
	}
	got, err := b.Store.TakeOutbox(ctx, 10)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, d := range got {
		require.Equal(t, store.TopicSync, d.Topic)
	}
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
	_, err := b.Store.Submit(ctx, ada, c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	b.settle(id)
	rc := b.claim(rita, pipeline.KindReview)
	_, err = b.Store.Review(ctx, rita, rc.ID, store.Verdict{Verdict: store.VerdictReject})
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

func TestAnOperatorsCancellationAppliesWhatWaited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	require.NoError(t, b.Store.FailByOperator(ctx, id))
	require.NoError(t, b.Store.FailByOperator(ctx, id), "once is enough")
	require.Equal(t, task.Failed, b.status(id).Status)
	b.checked()
}
