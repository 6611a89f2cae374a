package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// round plays one round: of those pending the given ones still lag, and as many
// tasks as may be rung are.
func round(p *ringPace, now time.Time, next *int64, lagging int, stuck func(id int64) bool) (rung int) {
	var still []int64
	for _, id := range p.known() {
		if stuck(id) {
			still = append(still, id)
		}
	}
	p.learn(still)
	var ids []int64
	for range min(p.limit(), lagging) {
		*next++
		ids = append(ids, *next)
	}
	p.rang(ids, now)
	return len(ids)
}

func TestRingsDoubleWhileTheyHelp(t *testing.T) {
	t.Parallel()
	p, now, next := &ringPace{}, time.Unix(0, 0), int64(0)
	var got []int
	for range 5 {
		got = append(got, round(p, now, &next, 1<<20, func(int64) bool { return false }))
		now = now.Add(15 * time.Second)
	}
	require.Equal(t, []int{200, 400, 800, 1000, 1000}, got)
	require.LessOrEqual(t, len(p.pending(now)), ringsAtMost)
}

// Where ringing does not help, it takes ever less from those that work.
func TestRingsHalveWhileTheyDoNotHelp(t *testing.T) {
	t.Parallel()
	p, now, next := &ringPace{}, time.Unix(0, 0), int64(0)
	var got []int
	for range 8 {
		got = append(got, round(p, now, &next, 1<<20, func(int64) bool { return true }))
		now = now.Add(15 * time.Second)
	}
	require.Equal(t, []int{200, 100, 50, 25, 12, 10, 10, 10}, got)
	require.Len(t, p.pending(now), len(p.known())-p.limit()/2, "after a minute they may be rung again, in half of each round")
	// And it comes back when it helps again, a round without any in between.
	for range 5 {
		round(p, now, &next, 5, func(int64) bool { return false })
		round(p, now, &next, 0, func(int64) bool { return false })
		now = now.Add(15 * time.Second)
	}
	require.Greater(t, p.limit(), 100)
}

func TestWhoWasRungIsLeftAlone(t *testing.T) {
	t.Parallel()
	p, now := &ringPace{}, time.Unix(0, 0)
	require.Empty(t, p.pending(now))
	p.rang([]int64{3, 1}, now)
	require.Equal(t, []int64{1, 3}, p.pending(now))
	p.learn([]int64{1})
	require.Equal(t, []int64{1}, p.pending(now.Add(15*time.Second)), "3 moved")
	require.Empty(t, p.pending(now.Add(ringAgainAfter)))
	require.Equal(t, []int64{1}, p.known(), "it is asked for on")
}

// Tasks that no ring helps are the oldest for ever. One that was lost after them must
// not wait for them.
func TestThoseWhomNoRingHelpsMakeRoom(t *testing.T) {
	t.Parallel()
	for _, stuck := range []int64{100, 2000} {
		p, now, lost := &ringPace{}, time.Unix(0, 0), stuck+1
		reconcile := func(there int64) (rung []int64) {
			p.learn(p.known())
			except := p.pending(now)
			for id := int64(1); id <= there && len(rung) < p.limit(); id++ {
				if !slices.Contains(except, id) {
					rung = append(rung, id)
				}
			}
			p.rang(rung, now)
			now = now.Add(15 * time.Second)
			return rung
		}
		for rounds := 0; rounds < 40 || int64(len(p.known())) < stuck; rounds++ {
			reconcile(stuck)
			require.Less(t, rounds, 1000, "all are rung some time")
		}
		for rounds := 0; !slices.Contains(reconcile(lost), lost); rounds++ {
			require.Less(t, rounds, 8, "two minutes, with %d", stuck)
		}
		before := p.rung[1].at
		for rounds := 0; p.rung[1].at.Equal(before); rounds++ {
			reconcile(stuck)
			require.Less(t, rounds, 1000, "they are rung again, with %d", stuck)
		}
	}
}
