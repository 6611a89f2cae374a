package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// bench is a world with the verbs that the tests of this package speak in.
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
