package retryproxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ask sends a request through the proxy.
func ask(t *testing.T, p *Proxy, method, path, key string) (status int, by, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.URL()+path, strings.NewReader(`{"a":1}`))
	require.NoError(t, err)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header.Get(ServedBy), string(raw)
}

// nowhere is the URL of a port on which nobody listens.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return "http://" + l.Addr().String()
}

// A request that failed goes to another server where that is safe, and only there.
func TestWhatMayBeSentAgain(t *testing.T) {
	t.Parallel()
	var took atomic.Int64
	well := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/readyz" {
			return
		}
		took.Add(1)
		raw, _ := io.ReadAll(req.Body)
		_, _ = w.Write(raw)
	}))
	t.Cleanup(well.Close)
	// It says that it is ready, and serves nobody.
	sick := func(serve http.HandlerFunc) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path != "/readyz" {
				serve(w, req)
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	later := sick(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	cut := sick(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	broken := sick(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	for name, c := range map[string]struct {
		server, method, path, key string
		status                    int
	}{
		"refused":           {nowhere(t), http.MethodPost, "/claim", "", 200},
		"later, read":       {later, http.MethodGet, "/tasks", "", 200},
		"later, keyed":      {later, http.MethodPost, "/tasks", "k", 200},
		"later, of a claim": {later, http.MethodPost, "/claims/1/submit", "", 200},
		"later, unsafe":     {later, http.MethodPost, "/claim", "", 503},
		"cut, keyed":        {cut, http.MethodPost, "/tasks", "k", 200},
		"cut, unsafe":       {cut, http.MethodPost, "/claim", "", 502},
		"an error":          {broken, http.MethodGet, "/tasks", "", 500},
	} {
		p, err := Listen(t.Context(), well.URL, c.server) // the second has the first turn
		require.NoError(t, err)
		p.servers[1].ready.Store(true)
		status, by, body := ask(t, p, c.method, c.path, c.key)
		require.Equal(t, c.status, status, name)
		if status == http.StatusOK {
			require.Equal(t, well.URL, by, name)
			require.JSONEq(t, `{"a":1}`, body, name)
			require.Equal(t, Stats{Again: 1}, p.Stats(), name)
		}
		require.NoError(t, p.Close())
	}
	require.EqualValues(t, 5, took.Load())
}

// Nobody is sent to a server that says that it ends, while another one is ready; and
// when none serves, the request goes round until it is told so.
func TestWhoIsNotReadyIsLeft(t *testing.T) {
	t.Parallel()
	var draining atomic.Bool
	draining.Store(true)
	ends := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/readyz" && draining.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(ends.Close)
	p, err := Listen(t.Context(), nowhere(t), ends.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	require.Eventually(t, func() bool { return !p.servers[0].ready.Load() && !p.servers[1].ready.Load() }, 10*time.Second, time.Millisecond)
	status, by, _ := ask(t, p, http.MethodPost, "/claim", "")
	require.Equal(t, http.StatusOK, status, "it still serves, and nobody else does")
	require.Equal(t, ends.URL, by)
	draining.Store(false)
	require.Eventually(t, func() bool { return p.servers[1].ready.Load() }, 10*time.Second, time.Millisecond)
	before := p.Stats().Again
	for range 4 {
		status, _, _ = ask(t, p, http.MethodPost, "/claim", "")
		require.Equal(t, http.StatusOK, status)
	}
	require.Equal(t, before, p.Stats().Again, "it is the only one that is ready")
	ends.Close()
	status, _, _ = ask(t, p, http.MethodPost, "/claim", "")
	require.Equal(t, http.StatusBadGateway, status)
	require.EqualValues(t, 1, p.Stats().Failed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, answer{}.later(ctx), "nobody waits any more")
}
