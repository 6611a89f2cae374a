package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
