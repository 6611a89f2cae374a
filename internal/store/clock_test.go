package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// A database's clock that steps back leaves rows in the future. None of them
// waits until the clock is there again; what is put off as it should be stays.
func TestAClockThatSteppedBackHoldsNothingUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	ids := b.create(5)
	const future = `UPDATE outbox SET next_attempt_at = now() + $2::interval, attempts = $3 WHERE task_id = $1`
	b.exec(future, ids[0], "10 minutes", 0)
	b.exec(future, ids[1], "10 minutes", 3)
	b.exec(future, ids[2], "5 minutes", 9)
	b.exec(`UPDATE outbox SET leased_until = now() + interval '10 minutes', attempts = 1 WHERE task_id = $1`, ids[3])
	b.exec(`UPDATE outbox SET leased_until = now() + $2::interval, attempts = 1 WHERE task_id = $1`, ids[4], store.OutboxLease-time.Second)
	require.Empty(t, b.take(store.UrgencyCreated))
	_, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	var due []int64
	for _, d := range b.take(store.UrgencyCreated) {
		due = append(due, d.TaskID)
	}
	require.ElementsMatch(t, []int64{ids[0], ids[1], ids[3]}, due)
}

func TestAnUploadOfTheFutureIsRung(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	id := u.confirmed().ID
	_, err := u.Store.Pool().Exec(t.Context(), `UPDATE uploads SET ring_at = now() + interval '10 minutes' WHERE id = $1`, id)
	require.NoError(t, err)
	_, err = u.Store.Reconcile(t.Context(), 100)
	require.NoError(t, err)
	got, err := u.Store.TakeUploads(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, id, got[0].ID)
}

// Nor has anything been waiting since a time to come: whose word was lost on the way is
// rung as soon as without the step, and left alone as long after a ring.
func TestWhatLagsSinceTheFutureIsRung(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	b.create(2)
	id := b.claim(b.Contributors[0], pipeline.KindSubtask).TaskID
	b.exec(`UPDATE tasks SET updated_at = now() + interval '1 hour' WHERE id = $1`, id)
	b.exec(`DELETE FROM outbox WHERE task_id = $1`, id)
	rung, err := b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Empty(t, rung, "it is not known for how long it has been waiting")
	b.exec(`UPDATE tasks SET updated_at = updated_at - interval '31 seconds' WHERE id = $1`, id)
	rung, err = b.Store.Reconcile(ctx, 100)
	require.NoError(t, err)
	require.Equal(t, []int64{id}, rung)
	still, err := b.Store.StillLagging(ctx, rung)
	require.NoError(t, err)
	require.Equal(t, rung, still)
}

func TestAnUploadThatStandsSinceTheFutureIsRung(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	ctx := t.Context()
	id := u.confirmed(rows(1)...).ID
	rings, err := u.Store.TakeUploads(ctx, 1)
	require.NoError(t, err)
	require.NoError(t, u.Store.DoneUpload(ctx, id, rings[0].Gen))
	for _, sql := range []string{`UPDATE uploads SET updated_at = now() + interval '1 hour'`, `UPDATE uploads SET updated_at = updated_at - interval '16 minutes'`} {
		rings, err = u.Store.TakeUploads(ctx, 1)
		require.NoError(t, err)
		require.Empty(t, rings)
		_, err = u.Store.Pool().Exec(ctx, sql)
		require.NoError(t, err)
		_, err = u.Store.Reconcile(ctx, 100)
		require.NoError(t, err)
	}
	rings, err = u.Store.TakeUploads(ctx, 1)
	require.NoError(t, err)
	require.Len(t, rings, 1)
	require.Equal(t, id, rings[0].ID)
}

// The kept counts are compared again within the hour.
func TestCountsComparedInTheFutureAreComparedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`UPDATE count_checks SET at = now() + interval '2 days'`)
	_, err := b.Store.Reconcile(t.Context(), 100)
	require.NoError(t, err)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM count_checks WHERE at <= now()`))
}

// A worker that was heard in the future is one of before the step, which may be gone.
func TestAHeartbeatOfTheFutureIsNoWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	require.NoError(t, b.Store.Beat(ctx, "before", []string{"tasks"}, true))
	require.NoError(t, b.Store.Beat(ctx, "now", []string{"tasks"}, true))
	b.exec(`UPDATE worker_heartbeats SET at = now() + interval '1 hour' WHERE worker_id = 'before'`)
	alive, err := b.Store.WorkersAlive(ctx, "tasks", time.Minute)
	require.NoError(t, err)
	require.Equal(t, 1, alive)
	v, err := b.Store.Vitals(ctx, time.Minute)
	require.NoError(t, err)
	require.Equal(t, map[string]store.QueueWorkers{"tasks": {Heard: 1, Ready: 1}}, v.Workers)
}
