package edge

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// In an overload made by some the others are served as if there were none: programs that
// ask again at once, with keys that are known, or with made-up ones.
func TestAnOverloadLeavesOutWhoMadeIt(t *testing.T) {
	t.Parallel()
	const work, lasts = 4 * time.Millisecond, 10 * time.Second // two places: 500 a second
	const programs = 20
	keys := differentKeys(2 * programs)
	for name, floods := range map[string]func(program, n int) (caller, string){
		"with keys of their own":     func(program, _ int) (caller, string) { return caller(program), keys[program] },
		"as somebody new each time":  func(_, n int) (caller, string) { return caller(100 + n%3000), keys[0] },
		"with keys that nobody made": func(program, n int) (caller, string) { return caller(100 + (program*97+n)%3000), "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := NewGate(2, people, time.Now, nil)
				began := time.Now()
				var mu sync.Mutex
				var all sync.WaitGroup
				served := map[string]map[bool]int{"waits": {}, "floods": {}} // of the second half
				ask := func(kind string, who caller, owner string) {
					ex, at := arrival(g), time.Since(began)
					ex.caller = who
					in := !g.programs.full(who) && ex.enter(t.Context()) == nil
					mu.Lock()
					if at > lasts/2 {
						served[kind][in]++
					}
					mu.Unlock()
					if in {
						ex.owner = owner
						pass(work)
						ex.Leave()
					}
				}
				for i := range programs {
					all.Go(func() { // who comes ten times a second, whatever it is told
						pass(time.Duration(i) * 5 * time.Millisecond)
						for time.Since(began) < lasts {
							pass(100 * time.Millisecond)
							all.Go(func() { ask("waits", caller(4000+i), keys[programs+i]) })
						}
					})
					all.Go(func() {
						for n := 0; time.Since(began) < lasts; n++ {
							who, owner := floods(i, n)
							ask("floods", who, owner)
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

// differentKeys are owners none of whom has another's share.
func differentKeys(n int) (keys []string) {
	taken := map[uint16]bool{}
	for i := 0; len(keys) < n; i++ {
		if key := "key " + strconv.Itoa(i); !taken[shareOf(key)] {
			keys, taken[shareOf(key)] = append(keys, key), true
		}
	}
	return keys
}

func TestCallersByWhatTheySay(t *testing.T) {
	t.Parallel()
	of := func(pairs ...string) caller {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return callerOf(h)
	}
	require.Equal(t, of("Authorization", "Bearer a", "Accept", "x"), of("Authorization", "Bearer a"))
	different := map[caller]bool{}
	for i := range 100 {
		different[of("Authorization", "Bearer "+strconv.Itoa(i))] = true
		different[of("X-API-Key", strconv.Itoa(i))] = true
		different[of("Cookie", "taskloom_session="+strconv.Itoa(i))] = true
	}
	require.Greater(t, len(different), 270, "few have the hash of another")
}

func TestShares(t *testing.T) {
	t.Parallel()
	const who, other, third = 1, 2, 3
	var s shares
	s.charge(who, "key 7", 0, time.Second)
	require.InDelta(t, 1, s.of(who, time.Second), 1e-9)
	require.InDelta(t, 0.25, s.of(who, time.Second+2*shareHalf), 1e-9, "forgotten by halves")
	require.InDelta(t, 1, s.of(other, time.Second), 1e-9, "of whom nobody knows anything")
	s.charge(other, "key 7", 0, time.Second)
	require.InDelta(t, 2, s.of(who, time.Second), 1e-9, "the same key, sent otherwise")
	require.InDelta(t, 2, s.of(other, time.Second), 1e-9)
	require.InDelta(t, 2, s.of(third, time.Second), 1e-9, "who came as a stranger is charged as one, too")
	s.charge(third, "", 0, time.Second)
	require.InDelta(t, 3, s.of(third, time.Second), 1e-9)
	require.InDelta(t, 2, s.of(who, time.Second), 1e-9)
	s.charge(who, "", 0, time.Second)
	require.InDelta(t, 3, s.of(who, time.Second), 1e-9, "Postgres is away, or the key is gone")
	require.InDelta(t, 3, s.of(other, time.Second), 1e-9)
	require.InDelta(t, 3, s.stranger.now(time.Second), 1e-9, "it is no stranger for that")
	s.charge(other, "key 7", 6*time.Second, 6*time.Second)
	require.InDelta(t, 3.0/32, s.of(other, 5*time.Second), 1e-9, "a moment before it was noted")
	require.Zero(t, (*shares)(nil).of(who, 0), "without shares nobody had anything")
}
