package edge

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// pass lets the bubble's clock go on. With time.After four in sixteen runs of all tests
// with -race crashed in runtime.(*timer).maybeRunChan (go1.26.8, some 30,000 waits in
// bubbles beside each other); with a function's timer none of sixteen did.
func pass(d time.Duration) {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	<-over
}

// people is where they call.
const people = "/api/console/"

// arrival is a program's request, of one that is not told together with who has no key.
func arrival(g *Gate) *Exchange {
	n, _ := arrived.LoadOrStore(g, &atomic.Uint32{})
	who := caller(n.(*atomic.Uint32).Add(1))
	if who%toldCount == callerOf(http.Header{})%toldCount { // by chance, once in as many processes
		return arrival(g)
	}
	return &Exchange{gate: g, line: g.programs, caller: who}
}

// arrived is how many came by arrival, by gate: each is another program.
var arrived sync.Map

func count(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var d dto.Metric
	require.NoError(t, c.Write(&d))
	return d.GetCounter().GetValue()
}

// While an overload lasts, who has no chance is answered before anything is done
// for them, and whoever needs no place is not touched.
func TestWhoHasNoChanceIsShedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2, people, time.Now, nil)
		reached := 0
		h := g.Shed("/api/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reached++
			w.WriteHeader(http.StatusOK)
		}))
		get := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
			r.Header.Set(RequestIDHeader, "mine")
			h.ServeHTTP(w, r)
			return w
		}
		require.Equal(t, http.StatusOK, get("/api/v1/workflows").Code)
		inside := []*Exchange{arrival(g), arrival(g)}
		for _, ex := range inside {
			require.NoError(t, ex.enter(t.Context()))
		}
		var all sync.WaitGroup
		for range 4 * remembered {
			all.Go(func() { _ = arrival(g).enter(t.Context()) })
		}
		synctest.Wait()
		require.Equal(t, http.StatusOK, get("/api/v1/workflows").Code, "a burst may wait")
		all.Wait() // in vain
		require.Positive(t, count(t, g.vain))
		require.Zero(t, count(t, g.shed), "nobody was refused before they stood in line")
		for range overloadLine * len(inside) {
			all.Go(func() { _ = arrival(g).enter(t.Context()) })
		}
		synctest.Wait()
		inLine := count(t, g.vain)
		came := time.Now()
		refused := get("/api/v1/workflows")
		require.Zero(t, time.Since(came))
		require.InDelta(t, 1, count(t, g.shed), 0)
		require.InDelta(t, inLine, count(t, g.vain), 0, "who is refused at the door never stood in line")
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.Equal(t, "1", refused.Header().Get("Retry-After"))
		require.Equal(t, "mine", refused.Header().Get(RequestIDHeader))
		require.JSONEq(t, `{"error":"service_unavailable","message":"`+turnedAway+`"}`, refused.Body.String())
		require.Equal(t, http.StatusOK, get("/api/v1/health").Code)
		require.Equal(t, http.StatusOK, get("/api/console/login").Code)
		require.Equal(t, http.StatusOK, get("/api/console/queues").Code, "programs keep no people out")
		require.Equal(t, http.StatusOK, get("/healthz").Code)
		large := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/workflows/1/tasks", http.NoBody)
		large.ContentLength = slowBody + 1
		w := httptest.NewRecorder()
		h.ServeHTTP(w, large)
		require.Equal(t, http.StatusOK, w.Code, "quick requests keep no large one out")
		all.Wait()
		for _, ex := range inside {
			ex.Leave()
		}
		require.Equal(t, http.StatusOK, get("/api/v1/workflows").Code)
		require.Equal(t, 8, reached)
	})
}

// A program that asks again as soon as it was refused is answered later, at the door and in
// line. Nobody else is.
func TestWhoAsksAgainAtOnceHearsItLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const rude, polite caller = 1, 2
		g := NewGate(1, people, time.Now, nil)
		for _, l := range []*line{g.programs, g.people} {
			require.True(t, l.places.try())
			asks := func(who caller, pause time.Duration) time.Duration {
				pass(pause)
				came := time.Now()
				ex := Exchange{gate: g, line: l, caller: who}
				require.Error(t, ex.enter(t.Context()))
				return time.Since(came)
			}
			held := func(otherwise time.Duration) time.Duration {
				if l == g.people {
					return otherwise
				}
				return toldAfter
			}
			var all sync.WaitGroup
			for range 4 * remembered {
				all.Go(func() { asks(0, 0) })
			}
			all.Wait() // in vain, so it is an overload
			require.Equal(t, quickPatience.overload, asks(rude, 0))
			require.Equal(t, held(quickPatience.overload), asks(rude, time.Millisecond))
			require.Equal(t, quickPatience.overload, asks(polite, 0))
			require.Equal(t, quickPatience.overload, asks(polite, atOnce))
			require.Equal(t, held(quickPatience.overload), asks(polite, atOnce-time.Millisecond))

			door := func(ctx context.Context, who caller) time.Duration {
				came := time.Now()
				g.hold(ctx, l, who, l.places.now())
				return time.Since(came)
			}
			left, leave := context.WithCancel(t.Context())
			leave()
			pass(atOnce)
			require.Zero(t, door(t.Context(), rude))
			require.Equal(t, held(0), door(t.Context(), rude))
			require.Zero(t, door(left, rude), "who left waits no more")
			for range longestLine {
				all.Go(func() { door(t.Context(), rude) })
			}
			synctest.Wait()
			require.Zero(t, door(t.Context(), rude), "so many wait already")
			all.Wait()
			require.Zero(t, g.held.Load())
		}
	})
}

// Who left while waiting takes no place.
func TestACallerWhoLeavesTakesNoPlace(t *testing.T) {
	t.Parallel()
	g := NewGate(1, people, time.Now, nil)
	first := arrival(g)
	require.NoError(t, first.enter(t.Context()))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, arrival(g).enter(gone))
	first.Leave()
	first.Leave() // twice is once
	require.NoError(t, arrival(g).enter(t.Context()))
	require.False(t, g.programs.places.try())
}

type gatedInput struct{ Payload }

type gatedOutput struct {
	Body func(huma.Context)
}

// Neither a body that never ends nor an answer that nobody reads holds a place.
func TestSlowCallersHoldNoPlace(t *testing.T) {
	t.Parallel()
	router := chi.NewRouter()
	router.Use(Identify)
	api := humachi.New(router, Config("test", "1", ""))
	g, bodies := NewGate(1, people, time.Now, nil), NewReader()
	api.UseMiddleware(g.Middleware(api))
	known := []map[string][]string{{"key": {}}}
	reading, writing := make(chan struct{}), make(chan struct{})
	huma.Register(api, huma.Operation{OperationID: "send", Method: http.MethodPost, Path: "/send", Security: known},
		func(ctx context.Context, in *gatedInput) (*struct{}, error) {
			require.True(t, From(ctx).inside)
			body, err := in.Read(bodies, MaxBody)
			if err == nil {
				require.True(t, From(ctx).inside, "the work is done in a place")
			}
			body.Close()
			return nil, err
		})
	huma.Register(api, huma.Operation{OperationID: "get", Method: http.MethodGet, Path: "/get", Security: known},
		func(context.Context, *struct{}) (*gatedOutput, error) {
			return &gatedOutput{Body: func(ctx huma.Context) {
				_ = ctx.BodyWriter()
				close(writing)
				<-ctx.Context().Done() // as a write that blocks
			}}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "health", Method: http.MethodGet, Path: "/health"},
		func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := func(method, path string, body io.Reader) int {
		req, err := http.NewRequestWithContext(ctx, method, server.URL+path, body)
		require.NoError(t, err)
		res, err := server.Client().Do(req)
		if err != nil {
			return 0
		}
		defer func() { _ = res.Body.Close() }()
		return res.StatusCode
	}
	pipe, w := io.Pipe()
	go call(http.MethodPost, "/send", pipe)
	go func() { defer close(reading); _, _ = w.Write([]byte(`{"a":`)) }()
	<-reading
	require.Equal(t, http.StatusNoContent, call(http.MethodPost, "/send", strings.NewReader(`{}`)))
	go call(http.MethodGet, "/get", nil)
	<-writing
	require.Equal(t, http.StatusNoContent, call(http.MethodPost, "/send", strings.NewReader(`{}`)))

	require.True(t, g.programs.places.try()) // all places are taken now
	require.Equal(t, http.StatusServiceUnavailable, call(http.MethodPost, "/send", strings.NewReader(`{}`)))
	require.Equal(t, http.StatusNoContent, call(http.MethodGet, "/health", nil))
	g.programs.places.release()
	require.NoError(t, w.Close())
}
