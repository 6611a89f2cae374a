package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vegeta "github.com/tsenart/vegeta/v12/lib"
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

// Who is due waits from then on, also for a client that comes late to send it.
func TestLatencyCountsFromWhenARequestWasDue(t *testing.T) {
	t.Parallel()
	const every, took = 10 * time.Millisecond, 2 * time.Millisecond
	began := time.Now()
	collect := func(every time.Duration) Result {
		c := collector{Result: Result{Statuses: map[int]int{}}, every: every, began: began}
		for seq, late := range []time.Duration{5 * time.Millisecond, 0, -time.Millisecond, 30 * time.Millisecond} {
			sent := began.Add(time.Duration(seq)*every + late)
			c.add(&vegeta.Result{Seq: uint64(seq), Code: http.StatusOK, Timestamp: sent, Latency: took})
		}
		c.add(&vegeta.Result{Seq: 4, Timestamp: began.Add(4 * every), Latency: took, Error: "no answer"})
		return c.Result
	}
	open := collect(every)
	require.InDeltaSlice(t, []float64{7, 2, 2, 32}, open.Millis, 1e-9)
	require.InDeltaSlice(t, []float64{5, 0, 0, 30, 0}, open.Late, 1e-9)
	closed := collect(0)
	require.InDeltaSlice(t, []float64{2, 2, 2, 2}, closed.Millis, 1e-9, "nothing is due in a closed loop")
	require.Empty(t, closed.Late)
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
