package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/limit/limittest"
	"github.com/taskloom/taskloom/internal/store"
)

// shared lets a handler count in Redis. The log of the limits is that of its
// requests.
func shared(t *testing.T, url string, rates limit.Rates, timeout time.Duration) func(*api.Deps) {
	t.Helper()
	return func(d *api.Deps) {
		l, err := limit.New(limit.Options{
			Rates: rates, RedisURL: url, Log: d.Logger, Timeout: timeout, Pause: 200 * time.Millisecond,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		d.Limits = l
	}
}

// patient does not give up a Redis that a busy test machine makes slow.
const patient = 10 * time.Second

func TestTwoProcessesShareABucket(t *testing.T) {
	t.Parallel()
	url := limittest.NewRedis(t).URL()
	w := dbtest.NewWorld(t)
	one := serve(t, w, shared(t, url, minutely(4, 4, 4), patient))
	two := serve(t, w, shared(t, url, minutely(4, 4, 4), patient))
	for i, b := range []*bench{one, two, one, two} {
		require.Equal(t, 3-i, left(t, b.v1(t, http.MethodGet, b.workflow(""), nil), "key"))
		require.Equal(t, 3-i, left(t, b.keyless(t, http.MethodGet, "/health"), "address"))
		require.Equal(t, 3-i, left(t, b.keyless(t, http.MethodGet, b.workflow("")), "failed_auth"))
	}
	for _, b := range []*bench{one, two} {
		tooMany(t, b.v1(t, http.MethodGet, b.workflow(""), nil))
		tooMany(t, b.keyless(t, http.MethodGet, "/health"))
		tooMany(t, b.keyless(t, http.MethodGet, b.workflow("")))
	}
	for range 10 {
		require.Equal(t, http.StatusUnauthorized, one.console(t, http.MethodPost, "/login", wrongLogin(w)).Status)
	}
	require.Equal(t, http.StatusTooManyRequests, two.console(t, http.MethodPost, "/login", wrongLogin(w)).Status)

	options, err := redis.ParseURL(url)
	require.NoError(t, err)
	c := redis.NewClient(options)
	defer c.Close()
	keys, err := c.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 6, "key, address, failed_auth and three for the login: %v", keys)
	for _, k := range keys {
		require.True(t, strings.HasPrefix(k, "taskloom:limit:"), k)
		require.NotContains(t, k, w.KeyValue[8:], "a key is never stored")
		require.NotContains(t, k, "admin1", "nor an email")
		require.Positive(t, c.PTTL(t.Context(), k).Val(), "%s ends by itself", k)
	}
}

func wrongLogin(w *dbtest.World) map[string]any {
	return map[string]any{"email": w.Email("admin1"), "password": "wrong"}
}

// While the store is dead, keys and addresses are not limited; who fails to
// authenticate gets no further.
func TestADeadStoreStopsGuessingOnly(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"refuses": "redis://127.0.0.1:1", "hangs": limittest.Hanging(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := serve(t, dbtest.NewWorld(t), shared(t, url, minutely(1, 1, 100), 0))
			for range 20 {
				began := time.Now()
				good := b.v1(t, http.MethodGet, b.workflow(""), nil)
				require.Equal(t, http.StatusOK, good.Status)
				require.Empty(t, good.Header.Get("RateLimit"))
				require.Equal(t, http.StatusOK, b.keyless(t, http.MethodGet, "/health").Status)
				bad := b.keyless(t, http.MethodGet, b.workflow(""))
				require.Equal(t, time.Second, tooMany(t, bad))
				require.Empty(t, bad.Header.Get("RateLimit"))
				require.Less(t, time.Since(began), 3*time.Second, "three calls")
			}
			require.Equal(t, 1, strings.Count(b.logs.text(), `"level":"WARN"`))
		})
	}
}

func TestRedisDiesAndComesBackUnderLoad(t *testing.T) {
	t.Parallel()
	server := limittest.NewRedis(t)
	b := serve(t, dbtest.NewWorld(t), shared(t, server.URL(), minutely(1_000_000, 1_000_000, 1_000_000), 0))
	counted := func() bool { return b.keyless(t, http.MethodGet, "/health").Header.Get("RateLimit") != "" }
	require.Eventually(t, counted, 10*time.Second, 10*time.Millisecond)
	warnings := strings.Count(b.logs.text(), `"level":"WARN"`)

	stop := make(chan struct{})
	var mu sync.Mutex
	var slowest time.Duration
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				a := b.keyless(t, http.MethodGet, "/health")
				mu.Lock()
				slowest = max(slowest, time.Since(began))
				statuses[a.Status]++
				mu.Unlock()
			}
		})
	}
	server.Kill()
	require.Eventually(t, func() bool { return !counted() }, 10*time.Second, time.Millisecond)
	for range 100 {
		require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
	}
	down := strings.Count(b.logs.text(), `"level":"WARN"`) - warnings
	server.Start()
	require.Eventually(t, counted, 10*time.Second, 10*time.Millisecond)
	close(stop)
	wg.Wait()
	require.Equal(t, 1, down, "logged once, not for each request")
	require.Less(t, slowest, time.Second)
	require.Len(t, statuses, 1, "all of them were answered: %v", statuses)
	require.NotContains(t, b.logs.text(), "panic")
	require.NotContains(t, b.logs.text(), `"level":"ERROR"`)
	require.Contains(t, b.logs.text(), "Redis answers")
}

// A revoked, expired or unknown key stops at all processes with its next
// request: keys are not cached.
func TestRevocationActsAtOnceInAllProcesses(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	open := func() *store.Store {
		st, err := store.Open(t.Context(), address, store.Options{MaxConns: 2})
		require.NoError(t, err)
		t.Cleanup(st.Close)
		return st
	}
	w := dbtest.Org(t, open())
	one := serve(t, w, nil)
	two := serve(t, w, func(d *api.Deps) { d.Store, d.Logger = open(), slog.New(slog.DiscardHandler) })
	both := func(status int) {
		t.Helper()
		for _, b := range []*bench{one, two} {
			require.Equal(t, status, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
		}
	}
	both(http.StatusOK)
	one.exec(t, `UPDATE api_keys SET expires_at = now()`)
	both(http.StatusUnauthorized)
	one.exec(t, `UPDATE api_keys SET expires_at = NULL`)
	both(http.StatusOK)
	_, err := w.Store.RevokeKey(t.Context(), w.OrgID, w.KeyID, w.Admin)
	require.NoError(t, err)
	both(http.StatusUnauthorized)
}
