package edge

import (
	"context"
	"math/rand/v2"
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

// Those who were turned away together wait for as long as they are told and come back
// together. In between nobody is there: they are let in as they can be served, and not
// turned away once more as in an overload that goes on.
func TestThoseWhoComeBackTogetherAreServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places, work = 4, 10 * time.Millisecond // 400 a second
		g := NewGate(places, people, time.Now, nil)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 600 {
			all.Go(func() {
				pass(time.Duration(i) * 10 * time.Microsecond)
				ex := arrival(g)
				for ex.enter(t.Context()) != nil {
					pass(time.Second)
					ex = arrival(g)
				}
				pass(work)
				ex.Leave()
			})
		}
		all.Wait()
		require.Less(t, time.Since(began), 4*time.Second)
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

// standstills lets people come at random, at a rate that two places have ample time for,
// and stops all work for a while every five seconds, as a disk does that brings nothing
// back. It returns how many were served and refused, and after how long the last one was
// served of those who came in a standstill or just after.
func standstills(t *testing.T, each time.Duration) (served, refused int, longest time.Duration) {
	t.Helper()
	const every, work, gap = 5 * time.Second, 5 * time.Millisecond, 14 * time.Millisecond // 70 a second, a fifth of what can be done
	g := NewGate(2, people, time.Now, nil)
	began, chance := time.Now(), rand.New(rand.NewPCG(1, 2))
	stop := func() { // at each end of some work
		if into := time.Since(began) % every; into < each {
			pass(each - into)
		}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for time.Since(began) < 6*every {
		pass(time.Duration(chance.ExpFloat64() * float64(gap)))
		all.Go(func() {
			ex, came := arrival(g), time.Now()
			err := ex.enter(t.Context())
			if err == nil {
				pass(work)
				stop()
				ex.Leave()
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				return
			}
			served++
			longest = max(longest, time.Since(came))
		})
	}
	all.Wait()
	return served, refused, longest
}

// While nothing at all is done for a moment, what comes waits, and is done at once
// afterwards: it is no more than there are places for, so nobody is refused.
func TestAStandstillIsNoOverload(t *testing.T) {
	t.Parallel()
	for _, each := range []time.Duration{0, 350 * time.Millisecond, 700 * time.Millisecond} {
		t.Run(each.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				served, refused, longest := standstills(t, each)
				require.Greater(t, served, 1500)
				require.Zero(t, refused)
				require.Less(t, longest, each+200*time.Millisecond)
			})
		})
	}
}

// Where nothing is done for longer than somebody waits, who comes hears so soon: a
// database that is away is not waited for. It ends with the standstill.
func TestALongStandstillIsAnOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const still = 3 * time.Second
		g := NewGate(2, people, time.Now, nil)
		began, chance := time.Now(), rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		var all sync.WaitGroup
		early, soon, after := 0, 0, 0 // refused after waiting, at once, and when it was over
		for time.Since(began) < 2*still {
			pass(time.Duration(chance.ExpFloat64() * float64(14*time.Millisecond)))
			all.Go(func() {
				ex, came := arrival(g), time.Now()
				err := ex.enter(t.Context())
				wait := time.Since(came)
				if err == nil {
					if into := time.Since(began); into < still {
						pass(still - into)
					}
					pass(5 * time.Millisecond)
					ex.Leave()
					return
				}
				mu.Lock()
				defer mu.Unlock()
				switch into := came.Sub(began); {
				case into > still+300*time.Millisecond:
					after++
				case into > quickPatience.burst+100*time.Millisecond:
					soon++
					assert.LessOrEqual(t, wait, quickPatience.overload)
				default:
					early++
					assert.LessOrEqual(t, wait, quickPatience.burst)
				}
			})
		}
		all.Wait()
		require.Greater(t, early, 50)
		require.Greater(t, soon, 100)
		require.Zero(t, after)
	})
}
