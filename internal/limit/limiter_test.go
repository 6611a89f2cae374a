package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/limit/limittest"
)

const bucket = limit.Bucket("test")

func per(n int64, period time.Duration) limit.Rates {
	return limit.Rates{bucket: {Limit: n, Period: period}}
}

// patient is a Limiter over Redis that a busy test machine does not frighten.
func patient(t *testing.T, url string, rates limit.Rates) *limit.Limiter {
	t.Helper()
	l, err := limit.New(limit.Options{Rates: rates, RedisURL: url, Timeout: 10 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// stores runs a test on both stores.
func stores(t *testing.T, rates limit.Rates, test func(t *testing.T, l *limit.Limiter)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, limit.Memory(rates))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		test(t, patient(t, limittest.NewRedis(t).URL(), rates))
	})
}

func TestTake(t *testing.T) {
	t.Parallel()
	stores(t, per(5, time.Minute), func(t *testing.T, l *limit.Limiter) {
		t.Helper()
		ctx := t.Context()
		require.Equal(t, int64(4), l.Take(ctx, bucket, "a", 1).Remaining)
		require.Equal(t, int64(2), l.Take(ctx, bucket, "a", 2).Remaining)
		require.Equal(t, int64(2), l.Peek(ctx, bucket, "a").Remaining)
		full := l.Take(ctx, bucket, "a", 2)
		require.Equal(t, int64(0), full.Remaining)
		require.False(t, full.Reached, "all of it is allowed")
		d := l.Take(ctx, bucket, "a", 1)
		require.True(t, d.Reached)
		require.True(t, d.Counted())
		require.LessOrEqual(t, d.Seconds(), int64(62))
		require.GreaterOrEqual(t, d.Seconds(), int64(50))
		require.Equal(t, int64(4), l.Take(ctx, bucket, "b", 1).Remaining, "another key, another bucket")
		require.Equal(t, int64(5), l.Forget(ctx, bucket, "a").Remaining)
		require.Equal(t, int64(4), l.Take(ctx, bucket, "a", 1).Remaining)
		require.Equal(t, int64(5), l.Return(ctx, bucket, "a", 1).Remaining)
	})
}

// A call that costs more than a window holds would never be admitted, and one
// that turns out large is charged for without being refused.
func TestLargeCosts(t *testing.T) {
	t.Parallel()
	stores(t, per(3, time.Minute), func(t *testing.T, l *limit.Limiter) {
		t.Helper()
		ctx := t.Context()
		require.False(t, l.Take(ctx, bucket, "a", 10).Reached)
		require.True(t, l.Take(ctx, bucket, "a", 1).Reached)
		require.False(t, l.Take(ctx, bucket, "b", 1).Reached)
		l.Charge(ctx, bucket, "b", 31)
		require.True(t, l.Take(ctx, bucket, "b", 1).Reached)
	})
}

func TestNoLimits(t *testing.T) {
	t.Parallel()
	var none *limit.Limiter
	for _, l := range []*limit.Limiter{none, none.With(per(1, time.Minute)), limit.Memory(nil), limit.Memory(per(0, 0))} {
		for range 3 {
			d := l.Take(t.Context(), bucket, "a", 1)
			require.Equal(t, limit.Decision{}, d)
			require.False(t, d.Counted())
		}
		require.True(t, l.Up())
		require.NoError(t, l.Close())
	}
}

func TestLimitersShareAStore(t *testing.T) {
	t.Parallel()
	l := limit.Memory(per(3, time.Minute))
	l.Take(t.Context(), bucket, "a", 1)
	require.Equal(t, int64(8), l.With(per(10, time.Minute)).Take(t.Context(), bucket, "a", 1).Remaining)
}

// Of many at a time exactly as many get in as may, from one process or two.
func TestExactlyTheLimitIsAdmitted(t *testing.T) {
	t.Parallel()
	const callers, allowed = 200, 50
	rush := func(t *testing.T, limiters ...*limit.Limiter) {
		t.Helper()
		var admitted, unknown atomic.Int64
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range callers {
			wg.Go(func() {
				<-start
				d := limiters[i%len(limiters)].Take(t.Context(), bucket, "crowd", 1)
				if d.Unknown {
					unknown.Add(1)
				}
				if !d.Reached {
					admitted.Add(1)
				}
			})
		}
		close(start)
		wg.Wait()
		require.Zero(t, unknown.Load())
		require.Equal(t, int64(allowed), admitted.Load())
	}
	stores(t, per(allowed, time.Hour), func(t *testing.T, l *limit.Limiter) {
		t.Helper()
		rush(t, l)
	})
	t.Run("two processes", func(t *testing.T) {
		t.Parallel()
		url := limittest.NewRedis(t).URL()
		rush(t, patient(t, url, per(allowed, time.Hour)), patient(t, url, per(allowed, time.Hour)))
	})
}
