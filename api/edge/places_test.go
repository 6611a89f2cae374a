package edge

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
				if g.programs.full(0) || ex.enter(t.Context()) != nil {
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
						all.Go(func() { assert.False(t, l.take(t.Context(), back, 0)) })
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
					l.done.Store(l.age()) // some were served meanwhile, so it is no standstill
				}
				require.True(t, l.overloaded())
				require.EqualValues(t, c.before, l.waiting.Load())
				stand(c.during, false)
				require.EqualValues(t, c.before+c.during, l.waiting.Load())
				require.Equal(t, c.full, l.full(0))
				all.Wait()
				require.Zero(t, l.waiting.Load())
			})
		})
	}
}

// Who had less than those who wait is served before them, so they keep it out at no door;
// nor do they keep people out where these are served before programs.
func TestTheDoorCountsWhoHadNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const much, little caller = 1, 2
		g := NewGate(1, people, time.Now, nil)
		for _, l := range []*line{g.programs, g.people, g.slow} {
			require.True(t, l.places.try())
			l.places.had.charge(much, true, 0, 0)
			l.places.had.charge(much, true, 0, time.Second)
			l.places.had.charge(little, true, 0, time.Second/2)
			var all sync.WaitGroup
			stand := func() {
				for range overloadLine {
					all.Go(func() { assert.False(t, l.take(t.Context(), false, much)) })
				}
			}
			stand()
			all.Wait() // in vain, so it is an overload
			stand()
			synctest.Wait()
			require.True(t, l.full(much))
			require.Equal(t, l == g.people, l.full(little), "of people nobody asks what they had")
			require.Equal(t, l == g.people, l.full(person))
			all.Wait()
		}
	})
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
				if assert.True(t, l.take(t.Context(), who == "back", 0)) {
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

// Where things take long people are served before programs that came first, but not all
// of many.
func TestPeopleKeepNoProgramOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewGate(1, people, time.Now, nil).slow
		require.True(t, l.places.try())
		var order []caller // one at a time has the place
		var all sync.WaitGroup
		for _, who := range []caller{1, 2, person, person, person, person, person, person} {
			all.Go(func() {
				if assert.True(t, l.take(t.Context(), false, who)) {
					order = append(order, who)
					l.places.release()
				}
			})
			synctest.Wait()
		}
		l.places.release()
		all.Wait()
		require.Equal(t, []caller{person, person, person, person, 1, person, person, 2}, order)
	})
}

// Who was let in before is next. In an overload, those who are late come after those
// who are not, and the last come of them first; of the others those come first who had
// least.
func TestWhoIsNext(t *testing.T) {
	t.Parallel()
	const each = 10 * time.Millisecond
	for name, c := range map[string]struct {
		late time.Duration
		had  []time.Duration // by the callers' numbers
		want []string
	}{
		"in order":                     {0, nil, []string{"back 1", "back 2", "1", "2", "3", "4"}},
		"two are late":                 {3*each + each/2, nil, []string{"back 1", "back 2", "3", "4", "2", "1"}},
		"all are late":                 {each / 2, nil, []string{"back 1", "back 2", "4", "3", "2", "1"}},
		"nobody is late":               {time.Second, nil, []string{"back 1", "back 2", "1", "2", "3", "4"}},
		"in order, whatever they had":  {0, []time.Duration{0, 3, 1, 3}, []string{"back 1", "back 2", "1", "2", "3", "4"}},
		"who had least":                {time.Second, []time.Duration{0, 3, 1, 3}, []string{"back 1", "back 2", "4", "2", "1", "3"}},
		"who had least and is in time": {3*each + each/2, []time.Duration{0, 0, 0, 3}, []string{"back 1", "back 2", "4", "3", "2", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := newPlaces(1, func() time.Duration { return time.Since(began) }, func() time.Duration { return c.late })
				if c.had != nil {
					p.had = newShares()
					for who := range 5 { // all are known
						p.had.charge(caller(who), true, 0, 0)
					}
					for who, had := range c.had {
						p.had.charge(caller(who), true, 0, had)
					}
				}
				require.True(t, p.try())
				var order []string // one at a time has the place
				var all sync.WaitGroup
				for _, who := range []string{"1", "back 1", "2", "3", "back 2", "4"} {
					all.Go(func() {
						if assert.True(t, p.wait(t.Context(), strings.HasPrefix(who, "back"), caller(who[len(who)-1]-'0'))) {
							order = append(order, who)
							p.release()
						}
					})
					pass(each)
				}
				left, leave := context.WithCancel(t.Context())
				leave()
				require.False(t, p.wait(left, true, 0), "nobody waits for who leaves")
				require.False(t, p.wait(left, false, 0))
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
