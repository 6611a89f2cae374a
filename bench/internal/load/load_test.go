package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClosedLoop(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNotModified)
	}))
	defer s.Close()
	r, err := Run(t.Context(), Plan{Clients: 4, Requests: 100}, func() Request {
		return Request{Method: http.MethodGet, URL: s.URL}
	})
	require.NoError(t, err)
	require.Equal(t, map[int]int{http.StatusNotModified: 90, http.StatusServiceUnavailable: 10}, r.Statuses)
	require.Equal(t, 10, r.Failed)
	require.Len(t, r.Millis, 90, "who is refused is not served")
	require.Empty(t, r.Late)
	require.Greater(t, r.Sent, int64(100*len("GET / HTTP/1.1\r\n")))
	require.Greater(t, r.Received, int64(100*len("HTTP/1.1 304 Not Modified\r\n")))
}

func TestOpenLoopDoesNotWaitForAnswers(t *testing.T) {
	t.Parallel()
	const requests = 20
	var waiting atomic.Int64
	all := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if waiting.Add(1) == requests {
			close(all)
		}
		<-all
	}))
	defer s.Close()
	r, err := Run(t.Context(), Plan{Every: time.Millisecond, Requests: requests}, func() Request {
		return Request{Method: http.MethodGet, URL: s.URL}
	})
	require.NoError(t, err)
	require.Zero(t, r.Failed)
	require.Len(t, r.Late, requests)
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	next := func() Request { return Request{Method: http.MethodGet, URL: s.URL} }
	r, err := Run(t.Context(), Plan{Every: time.Millisecond, For: 20 * time.Millisecond}, next)
	require.NoError(t, err)
	require.Positive(t, r.Failed)
	require.Equal(t, r.Failed, r.Statuses[0])
	require.Empty(t, r.Millis)
	require.NotEmpty(t, r.FirstFailure)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, Plan{Clients: 1}, next)
	require.ErrorIs(t, err, context.Canceled)
}
