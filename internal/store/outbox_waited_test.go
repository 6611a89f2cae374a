package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// The database tells how long a row has waited, for it dated the row: whoever takes it
// may have another time.
func TestARowSaysHowLongItWaited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(1)[0]
	b.exec(`UPDATE outbox SET created_at = now() - interval '26 hours' WHERE task_id = $1`, id)
	got := b.take(store.UrgencyCreated)
	require.Len(t, got, 1)
	require.InDelta(t, 26*time.Hour, got[0].Waited, float64(time.Minute))
}
