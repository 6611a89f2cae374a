package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// line is the way from a walk to the API. It is bad once in every way that a
// client must survive: a first try of some calls is answered 429 or 503, and
// the answer to the first creation is lost on the way.
type line struct {
	url string
	api *httputil.ReverseProxy

	mu    sync.Mutex
	tries map[string][]time.Time // by what fails
}

// retryAfter is how long the line asks to wait, in seconds, and hostile what it says
// instead, once: no client may die of it, and a shell may not run it.
const (
	retryAfter = 1
	hostile    = "1+a[$(kill $$)]"
)

func newLine(t *testing.T, api string) *line {
	t.Helper()
	to, err := url.Parse(api)
	require.NoError(t, err)
	l := &line{api: httputil.NewSingleHostReverseProxy(to), tries: map[string][]time.Time{}}
	srv := httptest.NewServer(l)
	t.Cleanup(srv.Close)
	l.url = srv.URL
	return l
}

// kind is what may happen to a call; empty when nothing does.
func kind(r *http.Request) string {
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/schema"):
		return "429"
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/confirm"):
		return "503"
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/tasks"):
		return "lost answer"
	}
	return ""
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := kind(r)
	l.mu.Lock()
	first := len(l.tries[what]) == 0
	l.tries[what] = append(l.tries[what], time.Now())
	l.mu.Unlock()
	switch {
	case what == "" || !first:
		l.api.ServeHTTP(w, r)
	case what == "lost answer":
		l.api.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler) // the tasks are made, and nobody is told
	case what == "429":
		refuse(w, http.StatusTooManyRequests, strconv.Itoa(retryAfter), fmt.Sprintf(`{"error":"rate_limit_exceeded","message":"slow down","retry_after":%d}`, retryAfter))
	default:
		refuse(w, http.StatusServiceUnavailable, hostile, `{"error":"service_unavailable","message":"no worker"}`)
	}
}

func refuse(w http.ResponseWriter, status int, after, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", after)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// check tells whether all of it happened, and the walk waited as it was told.
func (l *line) check(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range []string{"429", "503", "lost answer"} {
		require.Greater(t, len(l.tries[what]), 1, what)
		if what != "lost answer" {
			require.GreaterOrEqual(t, l.tries[what][1].Sub(l.tries[what][0]), retryAfter*time.Second, what)
		}
	}
}
