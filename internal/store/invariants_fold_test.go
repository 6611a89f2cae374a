package store_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/store"
)

// TestFoldingHoldsNoTransaction has nothing but one connection: while journals are gone
// through, and what is wrong is told, it is free.
func TestFoldingHoldsNoTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.create(2)
	b.exec(`UPDATE tasks SET status = 'finished'`)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	one := b.oneConnection()
	var told []int64
	found, last, err := store.FoldPage(one, ctx, time.Minute, 0, math.MaxInt64, 10, func(v store.Violation) {
		require.NoError(t, one.Ping(ctx))
		told = append(told, v.TaskID)
	})
	require.NoError(t, err)
	require.Equal(t, len(ids), found)
	require.Equal(t, ids[1], last)
	require.Equal(t, ids, told)
}
