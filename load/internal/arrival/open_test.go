package arrival

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALoopDoesNotWaitForWhatItStarted(t *testing.T) {
	t.Parallel()
	const n = 50
	var waiting atomic.Int64
	all := make(chan struct{})
	var late atomic.Int64
	l := Loop{Began: time.Now(), Late: func(due time.Time, by time.Duration) {
		if due.Add(by).After(time.Now()) {
			t.Error("later than now")
		}
		late.Add(1)
	}}
	l.Run(t.Context(), Burst(n, 0, 50*time.Millisecond), func(due time.Time) {
		if !due.Before(l.Began.Add(50 * time.Millisecond)) {
			t.Error("due after the end")
		}
		if waiting.Add(1) == n {
			close(all)
		}
		<-all // none ends before the last one has begun
	})
	l.Wait()
	require.EqualValues(t, n, waiting.Load())
	require.EqualValues(t, n, late.Load())
	require.Zero(t, l.LeftOut())
	require.Zero(t, l.Open())
}

func TestALoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	l := Loop{Began: time.Now()}
	l.Run(ctx, At(0, time.Hour), func(time.Time) { cancel() })
	l.Wait()
	require.Error(t, ctx.Err())
}
