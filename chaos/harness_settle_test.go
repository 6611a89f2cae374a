package chaos

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// warmFor is the load before the first fault of a row: what people feel then,
	// its first seconds aside, is what they must feel again after each.
	warmFor  = 25 * time.Second
	coldFor  = 5 * time.Second
	settleIn = 10 * time.Second
	// settledShare of the calls of so long are inside: their p99 is.
	settledShare = 0.99
)

// warm waits for enough of the load to know what people feel without faults.
func (r *Run) warm(ctx context.Context) {
	r.t.Helper()
	if r.before != nil {
		return
	}
	require.NoError(r.t, r.pause(ctx, time.Until(r.began.Add(warmFor))))
	r.before = r.latencies(r.began.Add(coldFor), time.Now())
	r.Logf("p99 before the first fault: %s", r.before)
}

// settles is I10: by the deadline after a fault was healed, ten seconds come in
// which the p99 of the calls that people and programs make is less than twice
// what it was before, or inside the objectives.
func (r *Run) settles(ctx context.Context, after string, healed time.Time, deadline time.Duration) {
	r.t.Helper()
	for {
		got := r.latencies(time.Now().Add(-settleIn), time.Now())
		share, n := got.inside(r.before)
		if time.Since(healed) >= settleIn && n > 0 && share >= settledShare {
			r.Logf("as quick as before %s after %s was healed: %.1f %% of %d calls", time.Since(healed).Round(time.Second), after, 100*share, n)
			return
		}
		if time.Since(healed) > deadline {
			r.Violate("I10: %s after %s was healed %.1f %% of %d calls are as quick as before, p99: %s; before: %s (%s)",
				deadline, after, 100*share, n, got, r.before, loadOfMachine())
			return
		}
		require.NoError(r.t, r.pause(ctx, time.Second))
	}
}

// inside is how much of these calls took no longer than twice the p99 of their
// kind before, or than the objectives allow here, and how many they are.
func (m measured) inside(before measured) (ofAll float64, n int) {
	good := 0
	for kind, took := range m {
		most := max(gate*objectives[kind], 2*quantile(before[kind], 0.99))
		for _, d := range took {
			if n++; d <= most {
				good++
			}
		}
	}
	return float64(good) / float64(max(n, 1)), n
}
