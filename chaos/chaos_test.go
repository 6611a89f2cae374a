package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChaos breaks the product by chance for CHAOS_DUR (3 minutes, 45 faults),
// under load, and checks all promises. CHAOS_SEED repeats the schedule of a
// run, CHAOS_REPLAY that of a file, CHAOS_LOAD multiplies the people.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks a whole stack for some minutes")
	}
	s := scheduleOf(t)
	path := filepath.Join(outDir(t), fmt.Sprintf("chaos-%d.schedule.json", s.Seed))
	t.Logf("CHAOS_SEED=%d: %d faults; CHAOS_REPLAY=%s", s.Seed, len(s.Faults), path)
	require.NoError(t, s.Save(path))
	r := startRun(t, Settings{Seed: s.Seed, Load: s.Load})
	r.uploader = r.newUploader()
	r.Play(s)
	r.Finish(t.Context())
	require.GreaterOrEqual(t, r.injected(), leastInjected(len(s.Faults)),
		"invalid run: too few of %d faults found something to break", len(s.Faults))
	r.noPanics()
	r.verdict("chaos")
}

// scheduleOf is the file of CHAOS_REPLAY, or what the settings lead to.
func scheduleOf(t *testing.T) Schedule {
	t.Helper()
	if path := os.Getenv("CHAOS_REPLAY"); path != "" {
		s, err := LoadSchedule(path)
		require.NoError(t, err)
		return s
	}
	d := 3 * time.Minute
	if text := os.Getenv("CHAOS_DUR"); text != "" {
		var err error
		d, err = time.ParseDuration(text)
		require.NoError(t, err, "CHAOS_DUR is a duration such as 3m or 2h")
	}
	return NewSchedule(seedOf(t), d, peopleOf(t))
}

// Play injects the faults of a schedule, each at its time, or as soon after it
// as the one before is healed and the traffic is back. The first one waits until
// it is known how quick everything is without faults.
func (r *Run) Play(s Schedule) {
	r.t.Helper()
	ctx := r.t.Context()
	r.cutShare(s.Load.CutShare)
	r.Work()
	r.warm(ctx)
	for i := 0; i < len(s.Faults); {
		n := 1
		for i+n < len(s.Faults) && s.Faults[i+n].Joined {
			n++
		}
		together := s.Faults[i : i+n]
		i += n
		require.NoError(r.t, r.pause(ctx, time.Until(r.began.Add(time.Duration(together[0].AtMS)*time.Millisecond))))
		require.NoError(r.t, r.Floor(ctx))
		r.together(ctx, together)
	}
}

// together injects faults at once, heals each in its time, and waits for the
// recovery from all of them, and where it is to be full, for the former speed.
func (r *Run) together(ctx context.Context, steps []Step) {
	r.t.Helper()
	type pending struct {
		kind  string
		fault Fault
		until time.Time
		heal  func(context.Context) error
	}
	var names []string
	var broken []pending
	calm := false
	for _, s := range steps {
		kind, ok := findFault(s.Kind)
		require.True(r.t, ok, "unknown fault %q", s.Kind)
		f := kind.fault(s)
		heal := r.inject(ctx, s.Kind, f)
		broken = append(broken, pending{s.Kind, f, time.Now().Add(time.Duration(s.HoldMS) * time.Millisecond), heal})
		names, calm = append(names, f.Name), calm || s.Calm
	}
	slices.SortStableFunc(broken, func(a, b pending) int { return a.until.Compare(b.until) })
	for _, p := range broken {
		require.NoError(r.t, r.pause(ctx, time.Until(p.until)))
		r.heal(ctx, p.kind, p.fault, p.heal)
	}
	after, healed := strings.Join(names, " and "), time.Now()
	r.Recover(ctx, after, calm, recoverWithin)
	if calm {
		r.settles(ctx, after, healed, recoverWithin)
	}
}
