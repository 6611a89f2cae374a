package edge

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

// A burst is let in as work gets done: nobody is refused who is served within
// the wait.
func TestABurstWaitsItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(4, people, time.Now, nil)
		var mu sync.Mutex
		var most, inside int
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				ex := arrival(g)
				if err := ex.enter(t.Context()); err != nil {
					t.Error(err)
					return
				}
				defer ex.Leave()
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				pass(20 * time.Millisecond) // of work: the last begin after 80 ms
				mu.Lock()
				inside--
				mu.Unlock()
			})
		}
		all.Wait()
		require.Equal(t, 4, most)
	})
}

// What comes faster than it can be done is refused soon, those who are let in
// wait no longer, and the moment it is over everybody is let in again.
func TestAnOverloadIsRefusedSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const work = 10 * time.Millisecond // four places: 400 a second
		g := NewGate(4, people, time.Now, nil)
		began := time.Now()
		var mu sync.Mutex
		var served, refused int
		var longest time.Duration // of all who came when it lasted
		var all sync.WaitGroup
		for range 10 * 1200 { // ten seconds of three times as many
			pass(time.Second / 1200)
			all.Go(func() {
				ex, came := arrival(g), time.Now()
				err := ex.enter(t.Context())
				mu.Lock()
				defer mu.Unlock()
				// The line that formed at first is gone soon after.
				if came.Sub(began) > 2*quickPatience.burst {
					longest = max(longest, time.Since(came))
				}
				if err != nil {
					refused++
					require.True(t, fault.Is(err, fault.Unavailable))
					return
				}
				served++
				mu.Unlock()
				pass(work)
				ex.Leave()
				mu.Lock()
			})
		}
		all.Wait()
		require.LessOrEqual(t, longest, quickPatience.overload)
		require.InDelta(t, 4000, served, 200, "places stay busy")
		require.Equal(t, 12000, served+refused)
		ex := arrival(g)
		require.NoError(t, ex.enter(t.Context()))
		ex.Leave()
	})
}

// An overload goes on when the line was empty for a moment, and is over when
// nobody was turned away for a while.
func TestAnEmptyMomentEndsNoOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, people, time.Now, nil)
		waits := func() time.Duration { // until they are turned away, several together
			began := time.Now()
			var all sync.WaitGroup
			for range 4 * remembered {
				all.Go(func() { assert.Error(t, arrival(g).enter(t.Context())) })
			}
			all.Wait()
			return time.Since(began)
		}
		inside := arrival(g)
		again := func() {
			inside.Leave()
			inside = arrival(g)
			require.NoError(t, inside.enter(t.Context()))
		}
		again()
		require.Equal(t, quickPatience.burst, waits())
		again()
		pass(quickPatience.calm / 2)
		require.Equal(t, quickPatience.overload, waits())
		again()
		pass(quickPatience.calm)
		require.Equal(t, quickPatience.burst, waits())

		left, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		pass(quickPatience.calm)
		require.Error(t, arrival(g).enter(left))
		require.Equal(t, quickPatience.burst, waits(), "who left was not turned away")
		inside.Leave()
	})
}

// A server that stands still for a while turns some away, who come again. When it
// goes on, it can do what comes, though there is always somebody for whom the
// patience of an overload is too short: an overload that feeds on its own
// refusals would last for as long as they come.
func TestAPauseEndsInNoOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places, pause = 8, 2 * time.Second
		g := NewGate(places, people, time.Now, nil)
		began := time.Now()
		chance := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		var all sync.WaitGroup
		late := map[bool]int{} // whether they were refused, of those who asked long after the pause
		ask := func(work time.Duration) bool {
			ex, at := arrival(g), time.Since(began)
			err := ex.enter(t.Context())
			if at > 10*pause {
				mu.Lock()
				late[err != nil]++
				mu.Unlock()
			}
			if err != nil {
				return false
			}
			defer ex.Leave()
			if in := time.Since(began); in < pause {
				pass(pause - in)
			}
			pass(work)
			return true
		}
		for time.Since(began) < 20*pause {
			pass(time.Duration(chance.ExpFloat64() * float64(10*time.Millisecond))) // 100 a second
			work := time.Duration(chance.ExpFloat64() * float64(60*time.Millisecond))
			all.Go(func() {
				for range 10 {
					if ask(work) {
						return
					}
					pass(time.Second)
				}
			})
		}
		all.Wait()
		require.Greater(t, late[false], 1500)
		require.Less(t, late[true], 10)
	})
}

// A line that stands for too long is an overload, though everybody in
// it gets a place in time.
func TestAStandingLineIsAnOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const work = 100 * time.Millisecond
		g := NewGate(1, people, time.Now, nil)
		began := time.Now()
		var all sync.WaitGroup
		longest, refused := time.Duration(0), 0
		var mu sync.Mutex
		for range 8 { // each asks again as soon as it was served
			all.Go(func() {
				for time.Since(began) < 5*time.Second {
					came, ex := time.Now(), arrival(g)
					err := ex.enter(t.Context())
					mu.Lock()
					if err != nil {
						refused++
					} else if came.Sub(began) > 2*quickPatience.burst {
						longest = max(longest, time.Since(came))
					}
					mu.Unlock()
					pass(work)
					ex.Leave()
				}
			})
		}
		all.Wait()
		require.Positive(t, refused)
		require.LessOrEqual(t, longest, quickPatience.overload)
	})
}

// Who was let in and gave the place away while a body was read gets one again, in an
// overload, too.
func TestWhoLeftForABodyIsLetInAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const work = 20 * time.Millisecond // twice the patience of an overload
		g := NewGate(1, people, time.Now, nil)
		var all sync.WaitGroup
		began, served, refused := time.Now(), 0, 0
		var mu sync.Mutex
		for range 5 * 200 { // five seconds of eight times as many
			pass(5 * time.Millisecond)
			all.Go(func() {
				ex, came := arrival(g), time.Now()
				if ex.enter(t.Context()) != nil {
					mu.Lock()
					defer mu.Unlock()
					refused++
					return
				}
				pass(work)
				ex.Leave()
				pass(time.Millisecond) // of reading
				if err := ex.enterWith(t.Context(), 100); err != nil {
					assert.Less(t, came.Sub(began), quickPatience.burst, "the line that formed at first is gone soon after")
					return
				}
				pass(work)
				ex.Leave()
				mu.Lock()
				defer mu.Unlock()
				served++
			})
		}
		all.Wait()
		require.Greater(t, refused, 500)
		require.InDelta(t, 125, served, 40, "work goes on")
	})
}

// A large body gets no place sooner in an overload because its sender was let in
// before.
func TestALargeBodyIsLetInAsIfItWereNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(4, people, time.Now, nil)
		ex := arrival(g)
		require.NoError(t, ex.enter(t.Context()))
		ex.Leave()
		for range g.slow.size {
			require.True(t, g.slow.places.try())
		}
		g.slow.crowd.Store(everybody)
		g.slow.vain.Store(time.Now().UnixNano())
		came := time.Now()
		require.Error(t, ex.enterWith(t.Context(), slowBody+1))
		require.Equal(t, slowPatience.overload, time.Since(came))
	})
}

// Where about as much comes as can be done, a stall makes few late: who comes while
// the line stands is told so, until it is gone.
func TestAStallWhereManyWaitIsAnOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const bound = 60 * time.Millisecond
		g := NewGate(2, people, time.Now, nil)
		began := time.Now()
		chance := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		var all sync.WaitGroup
		admitted, late, refused := 0, 0, 0
		var longest time.Duration // until somebody was refused
		for time.Since(began) < 30*time.Second {
			pass(time.Duration(chance.ExpFloat64() * float64(5*time.Millisecond))) // 200 a second
			work := time.Duration(chance.ExpFloat64() * float64(7*time.Millisecond))
			all.Go(func() {
				ex, came := arrival(g), time.Now()
				err := ex.enter(t.Context())
				wait := time.Since(came)
				mu.Lock()
				switch {
				case came.Sub(began) < 10*time.Second: // of which it has to learn
				case err != nil:
					refused++
					longest = max(longest, wait)
				default:
					admitted++
					if wait > bound {
						late++
					}
				}
				mu.Unlock()
				if err != nil {
					return
				}
				defer ex.Leave()
				pass(work)
				if into := time.Since(began) % (3 * time.Second); into < 200*time.Millisecond { // a stall, every three seconds
					pass(200*time.Millisecond - into)
				}
			})
		}
		all.Wait()
		require.Greater(t, admitted, 3000)
		require.Less(t, late, admitted/100)
		require.Less(t, refused, admitted/7, "those of the stalls, 200 ms of every three seconds, and some")
		require.LessOrEqual(t, longest, quickPatience.overload, "nobody who stood there when it began does so in vain")
	})
}

// Who stood in line when an overload began is late whatever happens: those who come
// then are served before them, and in time.
func TestAnOverloadServesWhoCameLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const work, bound = 4 * time.Millisecond, 60 * time.Millisecond // two places: 500 a second
		g := NewGate(2, people, time.Now, nil)
		began := time.Now()
		var mu sync.Mutex
		var all sync.WaitGroup
		served, late := 0, 0 // of those who came in the first second
		for time.Since(began) < 3*time.Second {
			pass(time.Second / 1500)
			all.Go(func() {
				ex, came := arrival(g), time.Now()
				if g.programs.full() || ex.enter(t.Context()) != nil {
					return
				}
				mu.Lock()
				if came.Sub(began) < time.Second {
					served++
					if time.Since(came) > bound {
						late++
					}
				}
				mu.Unlock()
				pass(work)
				ex.Leave()
			})
		}
		all.Wait()
		require.InDelta(t, 500, served, 100)

		require.Less(t, late, 150, "who came until it was known to be an overload")
	})
}

// The door counts who is served before somebody new: not those who came before the
// overload and are late, but all who come back, and all where nobody is late.
func TestTheDoorCountsWhoIsServedBefore(t *testing.T) {
	t.Parallel()
	const most = overloadLine // for one place
	for name, c := range map[string]struct {
		slow, back     bool
		before, during int
		full           bool
	}{
		"they came before":         {before: 3 * most},
		"few came in the overload": {before: 3 * most, during: most - 1},
		"as many as may":           {before: 3 * most, during: most, full: true},
		"they come back":           {back: true, before: 3 * most, full: true},
		"no slow work is late":     {slow: true, before: 3 * most, full: true},
		"as many as ever may":      {before: longestLine, full: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := NewGate(1, people, time.Now, nil)
				l := g.programs
				if c.slow {
					l = g.slow
				}
				require.True(t, l.places.try())
				var all sync.WaitGroup
				stand := func(n int, back bool) {
					for range n {
						all.Go(func() { assert.False(t, l.take(t.Context(), back)) })
					}
					synctest.Wait()
				}
				if c.slow { // it is an overload when these have stood in vain
					stand(remembered*4, false)
					pass(l.burst / 2)
				}
				stand(c.before, c.back)
				require.False(t, l.overloaded())
				if c.slow {
					pass(l.burst/2 + time.Millisecond)
				} else {
					pass(l.standing + time.Millisecond)
				}
				require.True(t, l.overloaded())
				require.EqualValues(t, c.before, l.waiting.Load())
				stand(c.during, false)
				require.EqualValues(t, c.before+c.during, l.waiting.Load())
				require.Equal(t, c.full, l.full())
				all.Wait()
				require.Zero(t, l.waiting.Load())
				require.Zero(t, l.ahead.Load())
			})
		})
	}
}

// Who comes back is served before others, but not all of many.
func TestWhoComesBackKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(1, quickPatience, time.Now)
		require.True(t, l.places.try())
		var order []string // one at a time has the place
		var all sync.WaitGroup
		for _, who := range []string{"new", "new", "back", "back", "back", "back", "back", "back"} {
			all.Go(func() {
				if assert.True(t, l.take(t.Context(), who == "back")) {
					order = append(order, who)
					l.places.release()
				}
			})
			synctest.Wait()
		}
		l.places.release()
		all.Wait()
		require.Equal(t, []string{"back", "back", "back", "back", "new", "back", "back", "new"}, order)
		require.Panics(t, l.places.release, "twice")
	})
}

// Who was let in before is next. In an overload, those who are late come after those
// who are not, and the last come of them first.
func TestWhoIsNext(t *testing.T) {
	t.Parallel()
	const each = 10 * time.Millisecond
	for name, c := range map[string]struct {
		late time.Duration
		want []string
	}{
		"in order":       {0, []string{"back 1", "back 2", "1", "2", "3", "4"}},
		"two are late":   {3*each + each/2, []string{"back 1", "back 2", "3", "4", "2", "1"}},
		"all are late":   {each / 2, []string{"back 1", "back 2", "4", "3", "2", "1"}},
		"nobody is late": {time.Second, []string{"back 1", "back 2", "1", "2", "3", "4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := newPlaces(1, func() time.Duration { return time.Since(began) }, func() time.Duration { return c.late })
				require.True(t, p.try())
				var order []string // one at a time has the place
				var all sync.WaitGroup
				for _, who := range []string{"1", "back 1", "2", "3", "back 2", "4"} {
					all.Go(func() {
						if assert.True(t, p.wait(t.Context(), strings.HasPrefix(who, "back"))) {
							order = append(order, who)
							p.release()
						}
					})
					pass(each)
				}
				left, leave := context.WithCancel(t.Context())
				leave()
				require.False(t, p.wait(left, true), "nobody waits for who leaves")
				require.False(t, p.wait(left, false))
				require.False(t, p.try())
				p.release()
				all.Wait()
				require.Equal(t, c.want, order)
				require.True(t, p.try(), "nobody waits any more")
				require.False(t, p.try())
			})
		})
	}
}
