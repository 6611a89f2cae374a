package chaos

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// servedShare of the calls that were acknowledged before a fault must go on being
	// acknowledged where clients are served on: with one of two servers gone, or with
	// Temporal away, hardly fewer do, and this leaves room for a busy machine.
	servedShare = 0.3
	// servedFor is the shortest time that is judged: calls that hang when a fault
	// begins take callTimeout to fail, and go to the other server then.
	servedFor = 2 * callTimeout
)

// hold keeps a fault for a while and sees that clients are served on, where
// that is promised, compared with what was before its injection. One that is held
// for less than servedFor is for servedSince.
func (r *Run) hold(ctx context.Context, f Fault, d time.Duration, injected time.Time) {
	r.t.Helper()
	from := time.Now()
	require.NoError(r.t, r.pause(ctx, d))
	if d >= servedFor {
		// Calls that hang when it begins take their time to fail.
		r.servedOn(f, r.ackedPerSecond(floorWindow, injected), time.Since(from)-callTimeout, time.Now())
	}
}

// servedSince judges a fault that was healed soon: the time that begins with its
// injection has what it broke, and what came of that after the heal. Where the
// injection itself takes long, as with processes that are replaced one after the
// other, it is all of it, as in hold.
func (r *Run) servedSince(ctx context.Context, f Fault, injected, healed time.Time) {
	r.t.Helper()
	from, until := injected, injected.Add(servedFor)
	if healed.After(until) {
		from, until = injected.Add(callTimeout), healed
	}
	require.NoError(r.t, r.pause(ctx, time.Until(until)))
	r.servedOn(f, r.ackedPerSecond(floorWindow, injected), until.Sub(from), until)
}

// servedOn tells how many calls went on, and notes a violation when too few calls were acknowledged over some time
// up to a moment, with so many a second before the fault.
func (r *Run) servedOn(f Fault, before float64, over time.Duration, until time.Time) {
	during := r.ackedPerSecond(over, until)
	r.Logf("during %s %.1f calls a second were acknowledged in %s, %.1f before it", f.Name, during, over.Round(time.Millisecond), before)
	if during < f.leastServed(before, over) {
		r.Violate("clients were not served during %s: %.1f calls a second were acknowledged in %s, %.1f before it (%s)",
			f.Name, during, over.Round(time.Millisecond), before, loadOfMachine())
	}
}

// ackedPerSecond is how many calls that changed something were acknowledged a
// second, over some time up to a moment.
func (r *Run) ackedPerSecond(over time.Duration, until time.Time) float64 {
	return float64(r.History.AckedWithin(over, until)) / over.Seconds()
}

// leastServed is how many calls a second must be acknowledged over some time
// during a fault, with so many before it; 0 where nothing is promised.
func (f Fault) leastServed(before float64, over time.Duration) float64 {
	switch {
	case !f.Serves:
		return 0
	case f.Starves: // one call
		return 1 / over.Seconds()
	}
	return servedShare * before
}

func TestHowManyCallsMustGoOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault  Fault
		during float64
		served bool
	}{
		{Fault{}, 0, true},
		{Fault{Serves: true}, 40, true},
		{Fault{Serves: true}, 12.1, true},
		{Fault{Serves: true}, 11.9, false},
		{Fault{Serves: true}, 0, false},
		{Fault{Serves: true, Starves: true}, 1 / servedFor.Seconds(), true},
		{Fault{Serves: true, Starves: true}, 0, false},
	} {
		require.Equal(t, c.served, c.during >= c.fault.leastServed(40, servedFor), "%+v", c)
	}
}

// A fault that is healed at once is judged by what came after its injection, and
// by what was before it.
func TestAFaultThatIsHealedSoonIsJudged(t *testing.T) {
	t.Parallel()
	injected := time.Unix(1000, 0)
	for _, c := range []struct {
		during     int // calls a second, for
		seconds    int // and none after it
		healed     time.Duration
		violations int
	}{
		{0, 60, time.Second, 1},
		{2, 60, time.Second, 1},
		{4, 60, time.Second, 0},
		{4, 10, time.Second, 0},
		{4, 10, time.Minute, 1},
		{4, 60, time.Minute, 0},
	} {
		r := &Run{History: newHistory(), t: t, stopped: true, ctx: t.Context()}
		for second := range 10 {
			for range 10 {
				r.History.add(Op{Kind: opSubmit, Outcome: OK, Return: injected.Add(-time.Duration(second) * time.Second).UnixNano()})
			}
		}
		for second := range c.seconds {
			for range c.during {
				r.History.add(Op{Kind: opSubmit, Outcome: OK, Return: injected.Add(time.Duration(second+1) * time.Second).UnixNano()})
			}
		}
		r.servedSince(t.Context(), Fault{Name: "a fault", Serves: true}, injected, injected.Add(c.healed))
		require.Len(t, r.Violations(), c.violations, "%+v of 10 calls a second", c)
	}
}
