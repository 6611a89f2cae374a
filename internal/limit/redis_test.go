package limit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/limit/limittest"
)

// lines is a log that tests read.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(level string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), "level="+level)
}

// stall is how long nobody may wait for a dead Redis.
const stall = time.Second

func dead(t *testing.T, url string, pause time.Duration) (*limit.Limiter, *lines) {
	t.Helper()
	log := &lines{}
	began := time.Now()
	l, err := limit.New(limit.Options{
		Rates: per(1000, time.Minute), RedisURL: url, Pause: pause, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	require.NoError(t, err, "a Redis that is not there may come")
	require.Less(t, time.Since(began), 2*stall)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l, log
}

func TestADeadRedisDoesNotStall(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"refuses": "redis://127.0.0.1:1", "hangs": limittest.Hanging(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, log := dead(t, url, time.Hour)
			require.False(t, l.Up())
			began := time.Now()
			for range 1000 {
				d := l.Take(t.Context(), bucket, "a", 1)
				require.True(t, d.Unknown)
				require.False(t, d.Reached)
				require.False(t, d.Counted())
				require.Equal(t, int64(3600), d.Seconds())
			}
			require.Less(t, time.Since(began), stall, "one wait at most, not one for each call")
			require.Equal(t, 1, log.count("WARN"))
		})
	}
}

// One caller after each pause tries, and waits; the others go on.
func TestAHangingRedisIsTriedByOneCallerAtATime(t *testing.T) {
	t.Parallel()
	const pause = 50 * time.Millisecond
	l, log := dead(t, limittest.Hanging(t), pause)
	<-time.After(2 * pause)
	var slow sync.Map
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			began := time.Now()
			l.Take(t.Context(), bucket, "a", 1)
			if took := time.Since(began); took > 100*time.Millisecond {
				slow.Store(i, took)
			}
		})
	}
	wg.Wait()
	n := 0
	slow.Range(func(_, took any) bool {
		n++
		require.Less(t, took, stall)
		return true
	})
	require.LessOrEqual(t, n, 10, "most do not wait")
	require.Equal(t, 1, log.count("WARN"))
}

func TestRedisGoesAndComesBack(t *testing.T) {
	t.Parallel()
	server := limittest.NewRedis(t)
	l, log := dead(t, server.URL(), 100*time.Millisecond)
	require.Equal(t, int64(999), l.Take(t.Context(), bucket, "a", 1).Remaining)
	for round := 1; round <= 2; round++ {
		server.Kill()
		require.Eventually(t, func() bool { return l.Take(t.Context(), bucket, "a", 1).Unknown }, 5*time.Second, time.Millisecond)
		for range 300 {
			began := time.Now()
			require.True(t, l.Take(t.Context(), bucket, "a", 1).Unknown)
			require.Less(t, time.Since(began), stall)
		}
		require.False(t, l.Up())
		require.Equal(t, round, log.count("WARN"), "once, not for each call")
		server.Start()
		require.Eventually(t, func() bool { return l.Take(t.Context(), bucket, "a", 1).Counted() }, 10*time.Second, 10*time.Millisecond,
			"the scripts are loaded anew")
		require.True(t, l.Up())
		require.Equal(t, round, log.count("INFO"))
	}
}

// Where nobody's request is counted, as at night, nobody would notice that Redis is
// back but those who look.
func TestARedisThatComesBackIsNoticedWithoutARequest(t *testing.T) {
	t.Parallel()
	server := limittest.NewRedis(t)
	l, _ := dead(t, server.URL(), 100*time.Millisecond)
	require.True(t, l.Up())
	server.Kill()
	require.Eventually(t, func() bool { return l.Take(t.Context(), bucket, "a", 1).Unknown }, 5*time.Second, time.Millisecond)
	require.False(t, l.Up())
	server.Start()
	require.Eventually(t, l.Up, 10*time.Second, 10*time.Millisecond)
	require.True(t, l.Take(t.Context(), bucket, "a", 1).Counted())
}

func TestBucketsInRedisEndByThemselves(t *testing.T) {
	t.Parallel()
	server := limittest.NewRedis(t)
	l := patient(t, server.URL(), per(1, time.Second))
	l.Take(t.Context(), bucket, "a", 1)
	found, err := server.Do("PTTL taskloom:limit:test:a")
	require.NoError(t, err)
	require.Regexp(t, `^:[1-9]`, found)
	d := l.Take(t.Context(), bucket, "a", 1)
	require.True(t, d.Reached)
	<-time.After(time.Duration(d.Seconds()) * time.Second)
	require.False(t, l.Take(t.Context(), bucket, "a", 1).Reached, "who waits as told is admitted")
}
