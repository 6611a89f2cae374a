package edge

import (
	"context"
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
