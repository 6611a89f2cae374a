package edge

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
)

// searching returns how an admin searches behind the gate, and does that in their place.
// They send a key besides, which tells nothing of a person.
func searching(t *testing.T, g *Gate, does func()) (search func() (status int)) {
	t.Helper()
	router := chi.NewRouter()
	router.Use(Identify)
	api := humachi.New(router, Config("test", "1", ""))
	api.UseMiddleware(g.Middleware(api))
	huma.Register(api, huma.Operation{
		OperationID: "search", Method: http.MethodGet, Path: people + "tasks", Security: []map[string][]string{{"key": {}}}, Metadata: Slow(),
	}, func(context.Context, *struct{}) (*struct{}, error) { does(); return nil, nil })
	return func() int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, people+"tasks", http.NoBody)
		r.Header.Set(KeyHeader, apikey.Prefix+strings.Repeat("0", apikey.Length-len(apikey.Prefix)))
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		return w.Code
	}
}

// What takes long by its nature stands in a line of its own, which the door does not
// know of: when that is too long, nobody new stands in it.
func TestTheLineOfSlowWorkIsAskedAsWell(t *testing.T) {
	t.Parallel()
	g := NewGate(1, people, time.Now, nil)
	search := searching(t, g, func() {})
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

// slowPlay is who asks for slow work for half a minute, and what became of it.
type slowPlay struct {
	gate            *Gate
	began           time.Time
	all             sync.WaitGroup
	mu              sync.Mutex
	served, refused map[caller]int
}

func newSlowPlay() *slowPlay {
	return &slowPlay{
		gate:  NewGate(8, people, time.Now, nil), // two places for slow work
		began: time.Now(), served: map[caller]int{}, refused: map[caller]int{},
	}
}

// asks lets somebody ask again and again, after a pause each time.
func (p *slowPlay) asks(t *testing.T, who caller, work, pause time.Duration) {
	t.Helper()
	p.all.Go(func() {
		for time.Since(p.began) < 30*time.Second {
			ex := &Exchange{gate: p.gate, line: p.gate.slow, caller: who}
			err := ex.enter(t.Context())
			p.mu.Lock()
			if err == nil {
				p.served[who]++
			} else {
				p.refused[who]++
			}
			p.mu.Unlock()
			if err == nil {
				ex.owner = "known"
				pass(work)
				ex.Leave()
			}
			pass(pause)
		}
	})
}

// A program with many large requests at a time keeps neither an admin's search nor another
// program's import out, before it is known to be an overload and in it.
func TestAFloodOfSlowWorkKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const flooding, other caller = 1, 2
		p := newSlowPlay()
		for range 20 { // creations of 5,000 tasks on a full machine
			p.asks(t, flooding, 2500*time.Millisecond, 10*time.Millisecond)
		}
		pass(1500 * time.Millisecond)
		p.asks(t, person, 100*time.Millisecond, time.Second)
		p.asks(t, other, time.Second/2, 2*time.Second)
		p.all.Wait()
		require.Zero(t, p.refused[person])
		require.Zero(t, p.refused[other])
		require.Greater(t, p.served[person], 6)
		require.Greater(t, p.served[other], 4)
		require.Positive(t, p.refused[flooding])
		require.Greater(t, p.served[flooding], 14, "what is left is its own")
	})
}

// Nor do people who flood keep a program out, though they go first.
func TestAFloodOfSearchesKeepsNoImportOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const program caller = 1
		p := newSlowPlay()
		for range 20 {
			p.asks(t, person, 1200*time.Millisecond, 10*time.Millisecond)
		}
		pass(5 * time.Second) // it is known to be an overload by then
		p.asks(t, program, time.Second/2, time.Second)
		p.all.Wait()
		require.Positive(t, p.refused[person])
		require.Zero(t, p.refused[program])
		require.Greater(t, p.served[program], 4)
	})
}

// An admin's search goes before an import that came first, whatever key it sends along.
func TestASearchGoesBeforeAnImport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, people, time.Now, nil)
		var order []string // one at a time has the place
		search := searching(t, g, func() { order = append(order, "search") })
		require.True(t, g.slow.places.try())
		var all sync.WaitGroup
		all.Go(func() {
			ex := &Exchange{gate: g, line: g.slow, caller: 1}
			if assert.NoError(t, ex.enter(t.Context())) {
				order = append(order, "import")
				ex.Leave()
			}
		})
		synctest.Wait()
		all.Go(func() { assert.Equal(t, http.StatusNoContent, search()) })
		synctest.Wait()
		g.slow.release()
		all.Wait()
		require.Equal(t, []string{"search", "import"}, order)
	})
}

// In an overload of what takes long those have a burst's patience who did not make it:
// people, and who had less than one that waits.
func TestWhoMadeNoOverloadOfSlowWorkWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const much, little caller = 1, 2
		l := NewGate(1, people, time.Now, nil).slow
		require.True(t, l.places.try())
		l.places.had.charge(much, true, 0, time.Second)
		l.places.had.charge(much, true, 0, time.Second)
		l.places.had.charge(little, true, 0, 0)
		waits := func(who caller) time.Duration {
			came := time.Now()
			assert.False(t, l.take(t.Context(), false, who))
			return time.Since(came)
		}
		var all sync.WaitGroup
		for range remembered {
			all.Go(func() { waits(much) })
		}
		all.Wait() // in vain, so it is an overload
		all.Go(func() { assert.Equal(t, slowPatience.overload, waits(much)) })
		synctest.Wait()
		all.Go(func() { assert.Equal(t, slowPatience.burst, waits(little)) })
		all.Go(func() { assert.Equal(t, slowPatience.burst, waits(person)) })
		all.Wait()
		require.Equal(t, slowPatience.overload, waits(little), "when nobody waits who had more")
		require.Equal(t, slowPatience.burst, waits(person))
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
