package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

func TestOutboxKeepsATasksOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.create(1)[0]
	c := b.claim(b.Contributors[0], pipeline.KindSubtask)
	_, err := b.Store.Submit(ctx, b.Contributors[0], c.ID, raw(`{"answer":"42","sure":true}`))
	require.NoError(t, err)
	for _, want := range []pipeline.EventKind{pipeline.EventCreate, pipeline.EventClaim, pipeline.EventSubmit} {
		got, err := b.Store.TakeOutbox(ctx, 10, store.UrgencyCreated)
		require.NoError(t, err)
		require.Len(t, got, 1, "only the oldest row of a task")
		require.Equal(t, want, got[0].Event.Kind)
		require.Equal(t, id, got[0].TaskID)
		none, err := b.Store.TakeOutbox(ctx, 10, store.UrgencyCreated)
		require.NoError(t, err)
		require.Empty(t, none, "while it is under way the next one waits")
		require.NoError(t, b.Store.DoneOutbox(ctx, []int64{got[0].ID}))
	}
}

// What a dispatcher had in its hands when it died is delivered by another one,
// and has its consequences, within the 30 s after which a dead worker's work
// must have gone on: the lease leaves ten of them for that.
func TestWhatADeadDispatcherTookIsDueSoon(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(1)
	got, err := b.Store.TakeOutbox(ctx, 10, store.UrgencyCreated)
	require.NoError(t, err)
	require.Len(t, got, 1)
	b.exec(`UPDATE outbox SET leased_until = leased_until - interval '20 seconds'`)
	again, err := b.Store.TakeOutbox(ctx, 10, store.UrgencyCreated)
	require.NoError(t, err)
	require.Len(t, again, 1)
	require.Equal(t, got[0].ID, again[0].ID)
}

func TestReconcileRingsWhatLags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(3)
	b.claim(b.Contributors[0], pipeline.KindSubtask)
	rung, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Empty(t, rung)
	b.exec(`DELETE FROM outbox`)
	b.exec(`UPDATE tasks SET updated_at = now() - interval '2 minutes' WHERE id = $1`, ids[0])
	b.exec(`UPDATE task_nodes SET sla_at = now() - interval '10 minutes' WHERE task_id = $1 AND key = 'solve'`, ids[1])
	rung, err = b.Store.Reconcile(ctx, 100, ids[0], ids[2])
	require.NoError(t, err)
	require.Equal(t, []int64{ids[1]}, rung, "not who was excepted")
	rung, err = b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Equal(t, []int64{ids[0]}, rung, "who has a row already needs none")
	still, err := b.Store.StillLagging(ctx, ids)
	require.NoError(t, err)
	require.Equal(t, []int64{ids[0]}, still)
	got, err := b.Store.TakeOutbox(ctx, 10, store.UrgencyCreated)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, d := range got {
		require.Equal(t, store.TopicSync, d.Topic)
	}
}

// The run of a task that somebody works on begins before those of new tasks, and
// those hear how long people wait; what lags for another reason slows none.
func TestNewTasksKnowWhetherPeopleWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(2)
	behind, err := b.Store.StepsBehind(ctx)
	require.NoError(t, err)
	require.Zero(t, behind, "nobody waits for the run of a new task")

	b.claim(b.Contributors[0], pipeline.KindSubtask)
	got, err := b.Store.TakeOutbox(ctx, 10, store.UrgencyCreated)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.False(t, got[0].Bulk)
	require.True(t, got[1].Bulk)

	for since, want := range map[string]time.Duration{"3 seconds": 3 * time.Second, "1 minute": 0} {
		b.exec(`UPDATE tasks SET updated_at = now() - $2::interval WHERE id = $1`, got[0].TaskID, since)
		behind, err = b.Store.StepsBehind(ctx)
		require.NoError(t, err)
		require.InDelta(t, want, behind, float64(2*time.Second), since)
	}
}
