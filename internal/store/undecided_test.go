package store_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// forked has a further node behind one node, taken when a condition holds that cannot be
// decided for a long question.
func forked(behind string) pipeline.Definition {
	d := dbtest.Definition()
	d.Nodes = slices.Insert(d.Nodes, 3, pipeline.Node{Key: "polish", Kind: pipeline.KindSubtask, Title: "Polish", Fields: []form.Field{
		{Name: "polished", Title: "Polished", Type: form.ShortText, Input: form.Contributor},
	}})
	costly := form.Condition{Field: "question", Op: form.OpMatches, Value: json.RawMessage(`"b{900}|c*"`)}
	d.Edges = append(d.Edges, pipeline.Edge{From: "polish", To: "end"},
		pipeline.Edge{From: behind, To: "polish", When: &form.Condition{Any: slices.Repeat([]form.Condition{costly}, 60)}})
	return d
}

func (b *bench) asked(id int64, question string) {
	b.t.Helper()
	b.exec(`UPDATE tasks SET input = jsonb_build_object('question', $2::text) WHERE id = $1`, id, question)
}

func refusedAsUndecided(t *testing.T, err error) {
	t.Helper()
	require.True(t, fault.Is(err, fault.Validation), "%v", err)
	require.ErrorContains(t, err, "conditions cannot be decided: all values that they look at are too long together")
}

// Where a condition cannot be decided, nobody is led anywhere: who hands in, judges or
// accepts is told, and can do it once that is mended.
func TestWhatCannotBeDecidedIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 10_000)
	t.Run("hand in", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, dbtest.WithDefinition(forked("solve")))
		id := b.create(1)[0]
		b.asked(id, long)
		c := b.claim(b.Contributors[0], pipeline.KindSubtask)
		_, err := b.Store.Submit(t.Context(), b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
		refusedAsUndecided(t, err)
		require.Equal(t, task.NodeClaimed, b.statusOf(id, "solve"))
		b.asked(id, "short")
		b.submit(b.Contributors[0], c)
		b.settle(id)
		require.Equal(t, task.NodeNA, b.statusOf(id, "polish"))
	})
	t.Run("judge and accept", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, dbtest.WithDefinition(forked("check")))
		ctx, rita, admin := t.Context(), b.Reviewers[0], b.member(b.Admin)
		id := b.create(1)[0]
		b.submit(b.Contributors[0], b.claim(b.Contributors[0], pipeline.KindSubtask))
		b.settle(id)
		b.asked(id, long)
		c := b.claim(rita, pipeline.KindReview)
		_, err := b.Store.Review(ctx, rita, c.ID, store.Verdict{Verdict: store.VerdictApprove})
		refusedAsUndecided(t, err)
		require.Equal(t, task.NodeClaimed, b.statusOf(id, "check"))
		_, err = b.Store.Review(ctx, rita, c.ID, store.Verdict{Verdict: store.VerdictEscalate})
		require.NoError(t, err)
		b.settle(id)
		refusedAsUndecided(t, b.Store.Resolve(ctx, admin, id, "check", pipeline.ResolveAccept, ""))
		b.asked(id, "short")
		require.NoError(t, b.Store.Resolve(ctx, admin, id, "check", pipeline.ResolveAccept, ""))
		b.settle(id)
		require.Equal(t, task.NodeNA, b.statusOf(id, "polish"))
	})
}
