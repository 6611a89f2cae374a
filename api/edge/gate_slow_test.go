package edge

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What takes long by its nature stands in a line of its own, which the door does not
// know of: when that is too long, nobody new stands in it.
func TestTheLineOfSlowWorkIsAskedAsWell(t *testing.T) {
	t.Parallel()
	router := chi.NewRouter()
	router.Use(Identify)
	api := humachi.New(router, Config("test", "1", ""))
	g := NewGate(1, people, time.Now, nil)
	api.UseMiddleware(g.Middleware(api))
	huma.Register(api, huma.Operation{
		OperationID: "search", Method: http.MethodGet, Path: people + "tasks", Security: []map[string][]string{{"key": {}}}, Metadata: Slow(),
	}, func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	search := func() int {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, people+"tasks", http.NoBody))
		return w.Code
	}
	require.Equal(t, http.StatusNoContent, search())
	g.slow.waiting.Store(longestLine)
	require.Equal(t, http.StatusServiceUnavailable, search(), "though a place is free")
	require.InDelta(t, 1, count(t, g.vain), 0)
	require.Error(t, arrival(g).enterWith(t.Context(), slowBody+1), "nor somebody whose body was not announced")
	require.InDelta(t, 2, count(t, g.vain), 0)
	g.slow.waiting.Store(longestLine - 1)
	require.Equal(t, http.StatusNoContent, search())
}

// What takes long by its nature and what does not keep each other waiting
// neither way, and a few that take long at once are no overload.
func TestSlowWorkHasPlacesOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(8, people, time.Now, nil)
		slow := func() *Exchange { return &Exchange{gate: g, line: g.slow} }
		inside := []*Exchange{slow(), slow()}
		for _, ex := range inside {
			require.NoError(t, ex.enter(t.Context()))
		}
		began := time.Now()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				ex := slow()
				if err := ex.enter(t.Context()); err != nil {
					t.Error(err)
				}
				ex.Leave()
			})
		}
		for range 8 { // quick ones are let in beside them at once
			require.NoError(t, arrival(g).enter(t.Context()))
		}
		for range 8 {
			require.NoError(t, (&Exchange{gate: g, line: g.line(people+"queues", 0)}).enter(t.Context()))
		}
		require.Zero(t, time.Since(began))
		pass(time.Second) // of slow work
		for _, ex := range inside {
			ex.Leave()
		}
		all.Wait()
		require.Error(t, arrival(g).enter(t.Context()), "all quick places are taken")
		require.NoError(t, slow().enter(t.Context()), "slow work goes on")
	})
}

// Who comes while the only place for slow work is taken by a creation on a full
// machine, for three seconds, has the next turn: sent away, they would send it again.
func TestSlowWorkWaitsForSlowWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2, people, time.Now, nil)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				ex := &Exchange{gate: g, line: g.slow}
				if err := ex.enter(t.Context()); err != nil {
					t.Error(err)
					return
				}
				pass(3 * time.Second)
				ex.Leave()
			})
		}
		began := time.Now()
		all.Wait()
		require.Equal(t, 6*time.Second, time.Since(began), "one after the other")
	})
}

// A quarter as many places as programs have, and no single one where there is room
// for two.
func TestPlacesForSlowWork(t *testing.T) {
	t.Parallel()
	for places, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 8: 2, 11: 2, 12: 3, 16: 4, 64: 16} {
		require.Equal(t, want, slowPlaces(places), "%d places", places)
	}
}

// A large body makes slow work of any request, from its announcement on.
func TestALargeBodyIsSlowWork(t *testing.T) {
	t.Parallel()
	g := NewGate(1, people, time.Now, nil)
	for path, quick := range map[string]*line{"/api/v1/workflows/1/tasks": g.programs, people + "claims/1/submit": g.people} {
		for announced, want := range map[int64]*line{-1: quick, 0: quick, slowBody: quick, slowBody + 1: g.slow} {
			require.Same(t, want, g.line(path, announced), "%s, %d bytes", path, announced)
		}
	}
	ex := arrival(g)
	require.NoError(t, ex.enter(t.Context()))
	ex.Leave()
	require.NoError(t, ex.enterWith(t.Context(), slowBody+1))
	require.True(t, g.programs.places.try(), "it has left the quick ones")
	require.False(t, g.slow.places.try())
	ex.Leave()
	require.True(t, g.slow.places.try())
}

// onRead is a body of nothing that tells when somebody reads it.
type onRead func()

func (f onRead) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// What is read of a body that is too large, for its sender to see the answer,
// keeps no place from others.
func TestABodyThatIsRefusedHoldsNoPlace(t *testing.T) {
	t.Parallel()
	g := NewGate(1, people, time.Now, nil)
	read := false
	h := Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex := From(r.Context())
		ex.gate, ex.line = g, g.line(r.URL.Path, r.ContentLength)
		assert.NoError(t, ex.enter(r.Context()))
		defer ex.Leave()
		_, err := NewReader().Read(w, r, 1<<20)
		assert.ErrorContains(t, err, "larger than 1048576 bytes")
	}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/workflows/1/tasks", onRead(func() {
		read = true
		require.True(t, g.slow.places.try(), "the only place for slow work")
		g.slow.places.release()
	}))
	r.ContentLength = 1<<20 + 1
	h.ServeHTTP(httptest.NewRecorder(), r)
	require.True(t, read)
}
