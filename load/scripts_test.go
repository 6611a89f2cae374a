package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWind has something under way at the end that ends by itself in time, or
// does not.
func TestWind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes, took time.Duration
		cut         bool
	}{
		"in time":                {takes: time.Second, took: time.Second},
		"who insists to the end": {takes: insistent + requestTimeout - time.Second, took: insistent + requestTimeout - time.Second},
		"too long":               {takes: time.Hour, took: insistent + requestTimeout, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := standing(t, nil)
				play, stop := context.WithCancel(t.Context())
				r.loop.Start(time.Now(), func() { _ = wait(play, c.takes) })
				began := time.Now()
				require.NoError(t, r.wind(t.Context(), stop, &sync.WaitGroup{}))
				require.Equal(t, c.took, time.Since(began))
				if !c.cut {
					require.Empty(t, r.failures.get())
					return
				}
				require.Len(t, r.failures.get(), 1)
				require.ErrorContains(t, r.failures.get()[0], "1 of what was begun were still under way 3m0s after the end")
			})
		})
	}
}

// TestQuarterTimes looks that nothing is created before it counts, and that all
// fits.
func TestQuarterTimes(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"-script quarter", "-script quarter -dur 1m", "-script quarter -dur 10m"} {
		o, err := parseOptions(strings.Fields(args), t.Output())
		require.NoError(t, err)
		times := slices.Collect(o.quarterTimes(quarterCreations / creatorCount))
		require.Len(t, times, 5)
		require.Equal(t, o.warmFor(), times[0])
		require.Less(t, times[4], o.dur*8/10, "the last of 100,000 tasks are created in the script's length")
	}
}

// TestLengths looks that each peak of an overload counts for a minute at least.
func TestLengths(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][2]time.Duration{
		"-script stress -dur 150s": {85 * time.Second, 2 * time.Minute},
		"-script stress":           {2 * time.Minute, 3 * time.Minute},
		"-script stress -dur 50m":  {10 * time.Minute, 11 * time.Minute},
	} {
		o, err := parseOptions(strings.Fields(args), t.Output())
		require.NoError(t, err)
		require.Equal(t, want, [2]time.Duration{o.stressBase(), o.stressTail()}, args)
		require.GreaterOrEqual(t, o.stressBase()-o.warmFor(), judgedLeast)
		require.GreaterOrEqual(t, o.stressTail()-recovering, judgedLeast)
		require.Equal(t, want[0]+o.dur*6/10+want[1], o.length())
	}
	require.True(t, counts("after"))
	r := standing(t, nil)
	r.enter("peak", 0)
	r.enterRecovery(time.Minute)
	for at, want := range map[time.Duration]string{
		30 * time.Second: "peak", time.Minute: "recovery", time.Minute + recovering - 1: "recovery", time.Minute + recovering: "after",
	} {
		require.Equal(t, want, r.phaseAt(r.began.Add(at)))
	}
}
