package edge

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
)

// In an overload made by some the others are served as if there were none: programs that
// ask again at once, with keys that are known, or with made-up ones.
func TestAnOverloadLeavesOutWhoMadeIt(t *testing.T) {
	t.Parallel()
	const work, lasts = 4 * time.Millisecond, 10 * time.Second // two places: 500 a second
	const programs = 20
	const idle = 3000 // keys that were found to be good some time ago
	for name, floods := range map[string]func(program, n int) (who caller, good bool){
		"with keys of their own":        func(program, _ int) (caller, bool) { return caller(program), true },
		"with more keys than are known": func(program, n int) (caller, bool) { return caller(10_000 + program + n*programs), true },
		"with keys that nobody made":    func(program, n int) (caller, bool) { return caller(10_000 + program + n*programs), false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := NewGate(2, people, time.Now, nil)
				for i := range idle {
					g.programs.places.had.charge(caller(1000+i), true, 0, 0)
				}
				began := time.Now()
				var mu sync.Mutex
				var all sync.WaitGroup
				served := map[string]map[bool]int{"waits": {}, "floods": {}} // of the second half
				ask := func(kind string, who caller, good bool) {
					ex, at := arrival(g), time.Since(began)
					ex.caller = who
					in := !g.programs.full(who) && ex.enter(t.Context()) == nil
					mu.Lock()
					if at > lasts/2 {
						served[kind][in]++
					}
					mu.Unlock()
					if in {
						if good {
							ex.owner = "key"
						}
						pass(work)
						ex.Leave()
					}
				}
				for i := range programs {
					all.Go(func() { // who comes ten times a second, whatever it is told
						pass(time.Duration(i) * 5 * time.Millisecond)
						for time.Since(began) < lasts {
							pass(100 * time.Millisecond)
							all.Go(func() { ask("waits", caller(100+i), true) })
						}
					})
					all.Go(func() {
						for n := 0; time.Since(began) < lasts; n++ {
							who, good := floods(i, n)
							ask("floods", who, good)
							pass(time.Millisecond)
						}
					})
				}
				all.Wait()
				require.Greater(t, served["waits"][true], 19*served["waits"][false], "nineteen of twenty")
				require.InDelta(t, 300*int(lasts/2/time.Second), served["floods"][true], 100, "what is left is theirs")
			})
		})
	}
}

func TestCallersByTheirKeys(t *testing.T) {
	t.Parallel()
	key := func(n int) string { return fmt.Sprintf("%s%040x", apikey.Prefix, n) }
	of := func(pairs ...string) caller {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return callerOf(h)
	}
	one := of("Authorization", "Bearer "+key(1))
	for name, c := range map[string]caller{
		"beside what is no credential": of("Authorization", "Bearer "+key(1), "Accept", "x"),
		"beside a cookie":              of("Authorization", "Bearer "+key(1), "Cookie", "balancer=7"),
		"beside another authorization": of("Authorization", "Bearer "+key(1), "Authorization", "Basic eA=="),
		"in another spelling":          of("Authorization", "bearer   "+key(1)),
		"in the other header":          of("X-API-Key", key(1)),
		"in both":                      of("X-API-Key", key(1), "Authorization", "Bearer "+key(1)),
	} {
		require.Equal(t, one, c, name)
	}
	nobody := of()
	for name, c := range map[string]caller{
		"no key":         of("X-API-Key", "x"),
		"another no key": of("Authorization", "Bearer y"),
		"a cookie":       of("Cookie", "taskloom_session=1"),
		"two keys":       of("X-API-Key", key(1), "Authorization", "Bearer "+key(2)),
	} {
		require.Equal(t, nobody, c, name)
	}
	different := map[caller]bool{nobody: true}
	for i := range 10_000 {
		different[of("X-API-Key", key(i))] = true
	}
	require.Len(t, different, 10_001)
}

func TestShares(t *testing.T) {
	t.Parallel()
	const who, other, third = 1, 2, 3
	s := newShares()
	s.charge(who, true, 0, time.Second)
	require.InDelta(t, 1, s.of(who, time.Second), 1e-9)
	require.InDelta(t, 0.25, s.of(who, time.Second+2*shareHalf), 1e-9, "forgotten by halves")
	require.InDelta(t, 1, s.of(other, time.Second), 1e-9, "who came as a stranger is charged as one, too")
	s.charge(who, true, 0, time.Second)
	require.InDelta(t, 2, s.of(who, time.Second), 1e-9)
	require.InDelta(t, 1, s.of(other, time.Second), 1e-9, "no stranger any more")
	s.charge(third, false, 0, time.Second)
	require.InDelta(t, 2, s.of(third, time.Second), 1e-9, "strangers have one share together")
	require.InDelta(t, 2, s.of(other, time.Second), 1e-9)
	require.InDelta(t, 2, s.of(who, time.Second), 1e-9)
	s.charge(who, false, 0, time.Second)
	require.InDelta(t, 3, s.of(who, time.Second), 1e-9, "Postgres is away, or the key is gone")
	require.InDelta(t, 2, s.of(other, time.Second), 1e-9, "it is no stranger for that")
	s.charge(other, true, 6*time.Second, 6*time.Second)
	require.InDelta(t, 0, s.of(other, 5*time.Second), 1e-9)
	s.charge(other, true, 5*time.Second, 6*time.Second)
	require.InDelta(t, 1, s.of(other, 5*time.Second), 1e-9, "a moment before it was noted")
	require.Zero(t, (*shares)(nil).of(who, 0), "without shares nobody had anything")
}

// Good keys in any number take no more memory, and who was here lately is kept.
func TestSharesAreBounded(t *testing.T) {
	t.Parallel()
	const steady, gone = 1, 2
	s := newShares()
	s.charge(gone, true, 0, time.Second)
	s.charge(steady, true, 0, time.Second)
	for i := range 3 * knownMost {
		s.charge(caller(1000+i), true, 0, 0)
		if i%(knownMost/2) == 0 {
			s.charge(steady, true, 0, 0)
		}
	}
	require.Equal(t, knownMost, s.known.Len())
	require.InDelta(t, 1, s.of(steady, time.Second), 1e-9)
	require.InDelta(t, 2, s.of(gone, time.Second), 1e-9, "a stranger once more")
	s.charge(gone, true, 0, time.Second)
	require.InDelta(t, 1, s.of(gone, time.Second), 1e-9)
}
