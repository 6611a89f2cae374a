package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TestALateRunChangesNothing lets a second run of each task, which stood still
// since it read the task, write the step that it made of it after all others
// are done.
func TestALateRunChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	const tasks = 20
	var late []store.StepInput
	for _, id := range b.create(tasks) {
		c, err := b.Store.ClaimTask(ctx, b.member(b.Contributors[0]), pipeline.KindSubtask, id, "solve")
		require.NoError(t, err)
		b.submit(c.UserID, c)
		late = append(late, b.step(id, 1))
		b.settle(id)
		r, err := b.Store.ClaimTask(ctx, b.member(b.Reviewers[0]), pipeline.KindReview, id, "check")
		require.NoError(t, err)
		_, err = b.Store.Review(ctx, r.UserID, r.ID, store.Verdict{Verdict: store.VerdictReject})
		require.NoError(t, err)
		b.settle(id)
	}
	for _, in := range late {
		res, err := b.Store.ApplyStep(ctx, in)
		require.NoError(t, err)
		if res.Applied {
			t.Errorf("task %d: a step from event %d was written when the rows were at another", in.TaskID, in.From)
		}
	}
	b.checked()
}

// step is what a run makes of the next n events of a task.
func (b *bench) step(taskID int64, n int) store.StepInput {
	b.t.Helper()
	l, err := b.Store.LoadTask(b.t.Context(), taskID)
	require.NoError(b.t, err)
	events, err := b.Store.LoadEvents(b.t.Context(), taskID, l.State.Seq, n)
	require.NoError(b.t, err)
	in := store.StepInput{TaskID: taskID, From: l.State.Seq}
	s := l.State
	for _, e := range events {
		var changes []pipeline.Change
		s, changes = pipeline.Step(l.Graph, s, e)
		in.Changes, in.To = append(in.Changes, changes...), e.Seq
	}
	return in
}
