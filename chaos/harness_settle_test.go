package chaos

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/chaos/internal/pgproxy"
)

const (
	// warmFor is the load before the first fault: what people feel then,
	// its first seconds aside, is what they must feel again after each.
	warmFor  = 25 * time.Second
	coldFor  = 5 * time.Second
	settleIn = 10 * time.Second
	// settledShare of the calls of so long are inside: their p99 is.
	settledShare = 0.99
	// settledKind is how many calls of a kind are enough to judge it by itself, too: a
	// slow one is lost among many quick ones of other kinds.
	settledKind = 20
	// settledTraffic is the part of the calls of before that must be made again: a few
	// quick ones beside many that get no answer are no recovery.
	settledTraffic = 0.5
)

// warm waits for enough of the load to know what people feel without faults.
func (r *Run) warm(ctx context.Context) {
	r.t.Helper()
	if r.before != nil {
		return
	}
	require.NoError(r.t, r.pause(ctx, time.Until(r.began.Add(warmFor))))
	r.before = r.latencies(r.began.Add(coldFor), time.Now())
	r.openBefore = r.openShare(r.began.Add(coldFor), time.Now())
	r.Logf("p99 before the first fault: %s", r.before)
}

// settles is I10, which asks for traffic, too (settledTraffic), and that answers come: by the deadline after a fault was healed, ten seconds come in
// which the p99 of the calls that people and programs make is less than twice
// what it was before, or inside the objectives.
func (r *Run) settles(ctx context.Context, after string, healed time.Time, deadline time.Duration) {
	r.t.Helper()
	for {
		got := r.latencies(time.Now().Add(-settleIn), time.Now())
		share, n := got.inside(r.before)
		open := r.openShare(time.Now().Add(-settleIn), time.Now())
		if time.Since(healed) >= settleIn && n >= r.leastAgain() && share >= settledShare && len(got.slow(r.before)) == 0 && open <= max(1-settledShare, 2*r.openBefore) {
			r.Logf("as quick as before %s after %s was healed: %.1f %% of %d calls", time.Since(healed).Round(time.Second), after, 100*share, n)
			return
		}
		if time.Since(healed) > deadline {
			r.Violate("I10: %s after %s was healed %.1f %% of %d calls (at least %d) are as quick as before, by themselves not %v, %.1f %% got no answer (%.1f %% before), p99: %s; before: %s (%s)",
				deadline, after, 100*share, n, r.leastAgain(), got.slow(r.before), 100*open, 100*r.openBefore, got, r.before, loadOfMachine())
			return
		}
		require.NoError(r.t, r.pause(ctx, time.Second))
	}
}

// leastAgain is how many calls must be acknowledged in settleIn.
func (r *Run) leastAgain() int {
	return max(1, int(settledTraffic*float64(r.before.calls())*settleIn.Seconds()/(warmFor-coldFor).Seconds()))
}

// openShare is how much of the calls that ended in a stretch of the run had no answer,
// or one that says nothing of their fate.
func (r *Run) openShare(from, to time.Time) float64 {
	open, all := 0, 0
	for _, op := range r.History.Since(from) {
		if objectives[op.Kind] == 0 || op.Return >= to.UnixNano() {
			continue
		}
		if all++; op.Outcome == Unknown {
			open++
		}
	}
	return float64(open) / float64(max(all, 1))
}

// calls is how many there are.
func (m measured) calls() (n int) {
	for _, took := range m {
		n += len(took)
	}
	return n
}

// inside is how much of these calls took no longer than twice the p99 of their
// kind before, or than the objectives allow here, and how many they are.
func (m measured) inside(before measured) (ofAll float64, n int) {
	good := 0
	for kind, took := range m {
		n += len(took)
		good += quick(kind, took, before)
	}
	return float64(good) / float64(max(n, 1)), n
}

// quick is how many calls of one kind are inside.
func quick(kind string, took []time.Duration, before measured) (n int) {
	most := max(gate*objectives[kind], 2*quantile(before[kind], 0.99))
	for _, d := range took {
		if d <= most {
			n++
		}
	}
	return n
}

// slow are the kinds that have enough calls and, by themselves, too few inside.
func (m measured) slow(before measured) (kinds []string) {
	for kind, took := range m {
		if len(took) >= settledKind && float64(quick(kind, took, before)) < settledShare*float64(len(took)) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func TestARareKindIsJudgedByItself(t *testing.T) {
	t.Parallel()
	calls := func(quick, slow int) []time.Duration {
		return slices.Concat(slices.Repeat([]time.Duration{time.Millisecond}, quick), slices.Repeat([]time.Duration{time.Minute}, slow))
	}
	got := measured{opPoll: calls(5000, 0), opDraft: calls(19, 1), opClaim: calls(99, 1), opReview: calls(0, 19), opSubmit: calls(197, 3)}
	share, n := got.inside(measured{})
	require.Equal(t, 5000+20+100+19+200, n)
	require.Greater(t, share, settledShare, "nobody sees it among all")
	require.Equal(t, []string{opDraft, opSubmit}, got.slow(measured{}))
	require.Empty(t, got.slow(measured{opDraft: calls(0, 1), opSubmit: calls(0, 1)}), "as before")
}

func TestAFewQuickCallsAreNoRecovery(t *testing.T) {
	t.Parallel()
	r := &Run{History: newHistory(), before: measured{opPoll: make([]time.Duration, 400)}}
	require.Equal(t, 100, r.leastAgain(), "half of what 10 of 20 seconds had")
	require.Equal(t, 1, (&Run{}).leastAgain())
	now := time.Now()
	for i, o := range []Outcome{OK, OK, Refused, Unknown, Unknown} {
		r.History.add(Op{Kind: opPoll, Outcome: o, Return: now.Add(time.Duration(i) * time.Second).UnixNano()})
	}
	r.History.add(Op{Kind: opLogin, Outcome: Unknown, Return: now.Add(5 * time.Second).UnixNano()})
	require.InDelta(t, 0.4, r.openShare(now, now.Add(time.Minute)), 1e-9, "of the calls that have an objective")
	require.InDelta(t, 0.25, r.openShare(now, now.Add(4*time.Second)), 1e-9)
	require.Zero(t, r.openShare(now.Add(time.Hour), now.Add(2*time.Hour)))
}

// A random run is held to the former speed wherever everything is to have recovered:
// here nobody is answered any more.
func TestARandomRunIsHeldToItsFormerSpeed(t *testing.T) {
	t.Parallel()
	for _, calm := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) { // the deadline passes at once
			r := &Run{
				World: newWorld(DefaultLoad(1)), History: newHistory(), ServeProxy: &pgproxy.Proxy{}, WorkerProxy: &pgproxy.Proxy{},
				front: []string{"http://nobody.test"}, before: measured{opPoll: make([]time.Duration, 400)}, t: t, ctx: t.Context(), stopped: true,
			}
			r.probes = r.newProber()
			r.probes.integrator.http.Transport = roundTrips(func(*http.Request) (*http.Response, error) { return nil, errors.New("nobody is there") })
			r.together(t.Context(), []Step{{Kind: "pause serve", Target: targetBoth, Calm: calm}})
			slower := slices.ContainsFunc(r.Violations(), func(v string) bool { return strings.HasPrefix(v, "I10: ") })
			require.Equal(t, calm, slower, "%v", r.Violations())
		})
	}
}
