package chaos

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// holdFor is how long a row keeps something broken: short, times CHAOS_SCALE.
// CHAOS_SCALE=30 turns twenty seconds into the ten minutes of the matrix.
func holdFor(short time.Duration) time.Duration {
	if n, err := strconv.ParseFloat(os.Getenv("CHAOS_SCALE"), 64); err == nil && n > 0 {
		return time.Duration(float64(short) * n)
	}
	return short
}

// startRow is RunRow's beginning for rows that play themselves: a product
// without load, with the prober logged in. Its end is r.verdict.
func startRow(t *testing.T, row Row) *Run {
	t.Helper()
	row.skip(t)
	seed := seedOf(t)
	t.Logf("row %d, %s: CHAOS_SEED=%d", row.Number, row.Name, seed)
	s := Settings{Seed: seed, Load: DefaultLoad(peopleOf(t))}
	s.Load.CutShare, s.Load.LoseShare = 0, 0 // a row has its own faults only
	if row.Settings != nil {
		row.Settings(&s)
	}
	r := startRun(t, s)
	r.began = time.Now()
	r.probes.login(t.Context())
	return r
}

// eventually waits until the answer is yes, and notes a violation when it does
// not come.
func (r *Run) eventually(ctx context.Context, within time.Duration, what string, ask func(ctx context.Context) (bool, error)) bool {
	r.t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		yes, err := ask(ctx)
		if yes {
			r.Logf("%s after %s", what, time.Since(began).Round(10*time.Millisecond))
			return true
		}
		if wait(ctx, 50*time.Millisecond) != nil {
			r.Violate("liveness: not within %s: %s (%v)", within, what, err)
			return false
		}
	}
}

// number is Count for what cannot fail: nothing is broken when it is asked.
func (r *Run) number(ctx context.Context, sql string, args ...any) int {
	r.t.Helper()
	n, err := r.Count(ctx, sql, args...)
	require.NoError(r.t, err)
	return n
}

// lightly makes a load that is a little over the traffic floor, for rows whose
// subject is not the amount: on a small machine more of it would be one.
func lightly(l *Load) { l.Backlog, l.Batch, l.ThinkMS = 40*l.Contributors/4, 10, 1500 }
