package edge

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standstills lets people come at random for a while, at a fifth of what two places can
// do. Work goes on after held, which is asked when some is done, and told hears of each
// who came: when, how long they stood in line, how long it took in all, and the refusal.
func standstills(t *testing.T, lasts time.Duration, held func(at time.Duration) time.Duration, told func(came, wait, took time.Duration, err error)) {
	t.Helper()
	g := NewGate(2, people, time.Now, nil)
	began, chance := time.Now(), rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	var all sync.WaitGroup
	for time.Since(began) < lasts {
		pass(time.Duration(chance.ExpFloat64() * float64(14*time.Millisecond))) // 70 a second
		all.Go(func() {
			ex, came := arrival(g), time.Now()
			err := ex.enter(t.Context())
			wait := time.Since(came)
			if err == nil {
				pass(5 * time.Millisecond)
				pass(held(time.Since(began)))
				ex.Leave()
			}
			mu.Lock()
			defer mu.Unlock()
			told(came.Sub(began), wait, time.Since(came), err)
		})
	}
	all.Wait()
}

// While nothing at all is done for a moment, what comes waits, and is done at once
// afterwards: it is no more than there are places for, so nobody is refused.
func TestAStandstillIsNoOverload(t *testing.T) {
	t.Parallel()
	for _, each := range []time.Duration{0, 50 * time.Millisecond, 350 * time.Millisecond, 500 * time.Millisecond, 700 * time.Millisecond, 1500 * time.Millisecond} {
		t.Run(each.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const every = 5 * time.Second
				served, refused, longest := 0, 0, time.Duration(0)
				held := func(at time.Duration) time.Duration { return max(0, each-at%every) }
				standstills(t, 20*every, held, func(_, _, took time.Duration, err error) {
					if err != nil {
						refused++
						return
					}
					served++
					longest = max(longest, took)
				})
				require.Greater(t, served, 6000)
				require.Zero(t, refused)
				require.Less(t, longest, each+max(200*time.Millisecond, each/4)) // a sixth is work that came meanwhile
			})
		})
	}
}

// While something is done it is no standstill, however little that is: a line that stands
// for too long is an overload, before anybody has waited in vain.
func TestSlowWorkIsNoStandstill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(1, quickPatience, time.Now)
		require.True(t, l.places.try())
		var all sync.WaitGroup
		for range 3 * remembered {
			all.Go(func() { l.enter(t.Context(), 0) })
		}
		synctest.Wait()
		var overload time.Duration
		for began := time.Now(); overload == 0; {
			require.Less(t, time.Since(began), quickPatience.burst)
			pass(quickPatience.still - time.Millisecond)
			l.release()
			synctest.Wait()
			if l.overloaded() {
				overload = time.Since(began)
			}
		}
		require.Less(t, overload, quickPatience.standing+quickPatience.still)
		for l.waiting.Load() > 0 {
			l.release()
			synctest.Wait()
		}
		all.Wait()
	})
}

// Where nothing is done for longer than somebody waits, who comes hears so soon: a
// database that is away is not waited for. It ends with the standstill.
func TestALongStandstillIsAnOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const still = 4 * time.Second
		early, soon, after := 0, 0, 0 // refused after waiting, at once, and when it was over
		held := func(at time.Duration) time.Duration { return max(0, still-at) }
		standstills(t, 2*still, held, func(came, wait, _ time.Duration, err error) {
			switch {
			case err == nil:
			case came > still+300*time.Millisecond:
				after++
			case came > quickPatience.burst+100*time.Millisecond:
				soon++
				assert.LessOrEqual(t, wait, quickPatience.overload)
			default:
				early++
				assert.LessOrEqual(t, wait, quickPatience.burst)
			}
		})
		require.Greater(t, early, 50)
		require.Greater(t, soon, 100)
		require.Zero(t, after)
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
