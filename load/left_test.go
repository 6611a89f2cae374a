package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/arrival"
)

// TestLeftOut has a hundred things due of each of two kinds, in an overload and
// below it: of reviews two find nobody below it.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	r.sumLeftOut()
	require.NotContains(t, r.numbers.get(), slo.LeftOut, "nothing was due")
	peak, over := r.began.Add(time.Second), r.began.Add(time.Minute)
	r.enter("peak", 0)
	r.enter(overload, time.Minute)
	for i := range 100 {
		require.True(t, r.somebody("claims", peak, true, "all are at work"))
		require.Equal(t, i >= 2, r.somebody("reviews", peak, i >= 2, "all are at work"))
		r.somebody("reviews", over, false, "all are at work")
	}
	r.sumLeftOut()
	require.InDelta(t, 2, r.numbers.get()[slo.LeftOut], 1e-9, "claims do not hide it")
	require.InDelta(t, 0, r.numbers.get()["left out of claims, %"], 1e-9)
	require.EqualValues(t, 102, r.facts.skipped["all are at work"])
}

// TestNobodyIsFree has one thing of each kind due, and nobody for any of them.
func TestNobodyIsFree(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	r.enter("peak", 0)
	now := time.Now()
	r.contribute(t.Context(), now, time.Minute, 1)
	r.review(t.Context(), now, time.Nanosecond)
	r.extend(t.Context(), now)
	r.save(t.Context(), now)
	none := tally{due: 1, left: 1}
	require.Equal(t, map[string]tally{"claims": none, "reviews": none, "renewed leases": none, "drafts": none}, r.facts.tallies)
	require.Len(t, r.facts.skipped, 4)
}

// TestSomebodyIsFree looks at how many people are at work in the busiest stretch
// of a day and at the peak. By chance there are more: by 2.5 times the root of
// their number in one of 160 moments.
func TestSomebodyIsFree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ there, busy float64 }{
		"contributors, day":  {contributorCount + standIns, arrival.DayMost * mean.Tasks * mean.Handling.Seconds()},
		"contributors, peak": {contributorCount + standIns, busiest.Tasks * busiest.Handling.Seconds()},
	} {
		require.Greater(t, c.there, c.busy+2.5*math.Sqrt(c.busy), name)
	}
}
