package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// line is the way from a walk to the API. It is bad in every way that a client must
// survive: see failures.
type line struct {
	url string
	api *httputil.ReverseProxy

	mu    sync.Mutex
	tries map[string][]time.Time // by the call
}

// failures are what happens to the first tries of a call, by its method and the end
// of its path. The answer to the first creation is lost on the way, and who asks for
// it again is told twice that it is still running, as where its server died in the
// middle.
var failures = map[string][]string{
	"GET schema":   {"429"},
	"GET tasks":    {"502"},
	"POST confirm": {"503"},
	"POST tasks":   {"lost answer", "409", "409"},
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

// next notes a try and says what happens to it; empty when nothing does.
func (l *line) next(r *http.Request) string {
	call := r.Method + " " + path.Base(r.URL.Path)
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.tries[call])
	l.tries[call] = append(l.tries[call], time.Now())
	if n >= len(failures[call]) {
		return ""
	}
	return failures[call][n]
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch l.next(r) {
	case "":
		l.api.ServeHTTP(w, r)
	case "lost answer":
		l.api.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler) // the tasks are made, and nobody is told
	case "409":
		refuse(w, http.StatusConflict, strconv.Itoa(retryAfter), `{"error":"api_error","message":"still running"}`)
	case "429":
		refuse(w, http.StatusTooManyRequests, strconv.Itoa(retryAfter), fmt.Sprintf(`{"error":"rate_limit_exceeded","message":"slow down","retry_after":%d}`, retryAfter))
	case "502":
		page(w, http.StatusBadGateway)
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

// page answers as a proxy does that has no answer of the service.
func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<html><h1>%d %s</h1></html>\n", status, http.StatusText(status))
}

// check tells whether all of it happened, and the walk waited as it was told, and
// longer the second time.
func (l *line) check(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for call, failed := range failures {
		tries := l.tries[call]
		require.Greater(t, len(tries), len(failed), call)
		for i, what := range failed {
			if what != "lost answer" { // which a client's HTTP library may ask for again at once
				require.GreaterOrEqual(t, tries[i+1].Sub(tries[i]), time.Duration(max(1, i)*retryAfter)*time.Second, "%s: %s", call, what)
			}
		}
	}
}
