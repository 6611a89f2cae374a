// The checks that must find broken promises are themselves tested here: each
// bug of this package is switched on in a build of the product that carries
// it, and has to be found, by the invariants or by what clients saw.
package planted_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	// found is how long a bug may stay unseen.
	found = 2 * time.Minute
	// lasts is for how long a promise must be broken to count: longer than a run
	// takes from a signal to its step, the 10 s included that the SDK's pollers wait
	// after an outage before they ask again, and shorter than the half a minute
	// after which the reconciler mends what was lost.
	lasts = 12 * time.Second
)

// TestThePlantedBugsAreFound plays every scene without its bug, when nothing
// may be found, and then with it, when it must be.
func TestThePlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product once more and starts a stack")
	}
	began := time.Now()
	y := newYard(t, stacktest.Planted(t))
	t.Logf("built and started after %s", time.Since(began).Round(time.Second))
	for _, s := range scenes {
		seen, err := s.play(y, t.Context())
		require.NoError(t, err, "%s, without its bug", s.bug)
		require.Empty(t, seen, "%s, without its bug", s.bug)
		require.Empty(t, y.lasting(s.by), "%s, without its bug", s.bug)
		if s.outage {
			err := y.until(t.Context(), found, func() (bool, error) { return y.rested(t.Context()) })
			require.NoError(t, err, "%s, without its bug: something is lost", s.bug)
		}
		require.Empty(t, y.broken(), "%s, without its bug", s.bug)
	}
	for _, s := range scenes {
		y.restart(s.bug)
		if s.by != "" {
			require.Empty(t, y.lasting(s.by), "%s is to be found by what another bug has left", s.bug)
		}
		began := time.Now()
		var told []string
		for len(told) == 0 && time.Since(began) < found {
			seen, err := s.play(y, t.Context())
			require.NoError(t, err, s.bug)
			if told = seen; s.by != "" {
				told = y.lasting(s.by)
			}
		}
		if len(told) == 0 {
			t.Errorf("%s: not found within %s", s.bug, found)
			continue
		}
		t.Logf("%s: found after %s by %q, first: %s", s.bug, time.Since(began).Round(10*time.Millisecond), s.by, told[0])
	}
}

// TestAStepWithoutItsFenceIsFound does the same for the one bug that shows only
// where two runs walk one task: in the tests of the store, which play both.
func TestAStepWithoutItsFenceIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the store's tests once more")
	}
	program := filepath.Join(t.TempDir(), "store.test")
	run(t, stacktest.Root(t), []string{"CGO_ENABLED=0"}, "go", "test", "-trimpath", "-tags", "planted", "-c", "-o", program, "./internal/store")
	play := func(bug planted.Bug) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestALateRunChangesNothing$", "-test.v")
		cmd.Env = append(os.Environ(), "TASKLOOM_PLANTED="+string(bug))
		cmd.Dir = filepath.Join(stacktest.Root(t), "internal", "store")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := play("")
	require.NoError(t, err, out)
	require.Contains(t, out, "--- PASS: TestALateRunChangesNothing")
	out, err = play(planted.StepUnfenced)
	require.Error(t, err, out)
	require.Contains(t, out, "{events-applied ", "found by another check")
}

// Every bug has its scene, and no build but a planted one can have any.
func TestEveryBugIsPlayed(t *testing.T) {
	played := []planted.Bug{planted.StepUnfenced}
	for _, s := range scenes {
		played = append(played, s.bug)
	}
	require.ElementsMatch(t, planted.Bugs(), played)
	if !planted.Enabled {
		t.Setenv("TASKLOOM_PLANTED", string(planted.ClaimUnlocked))
		require.False(t, planted.Is(planted.ClaimUnlocked))
	}
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v\n%s", name, args, out)
}

// yard is a running product with two organizations and people who work in the
// first.
type yard struct {
	*stacktest.Stack
	t            *testing.T
	ours, theirs *org
	batch        int
}

func newYard(t *testing.T, program string) *yard {
	t.Helper()
	y := &yard{t: t, Stack: stacktest.Start(t, stacktest.Options{
		Document: document("ours", "theirs"), Binary: program, ServeEnv: []string{"RATE_LIMIT_KEY=off", "REQUESTS_AT_ONCE=16"},
	})}
	y.ours, y.theirs = y.org("ours"), y.org("theirs")
	return y
}

// restart brings the processes up with a bug.
func (y *yard) restart(bug planted.Bug) {
	y.t.Helper()
	env := "TASKLOOM_PLANTED=" + string(bug)
	y.Serve.Halt()
	y.Worker.Halt()
	y.Serve.Start("RATE_LIMIT_KEY=off", "REQUESTS_AT_ONCE=16", env)
	y.Worker.Start("METRICS_ADDR="+y.Value("WORKER_METRICS_ADDR"), env)
	y.WaitReady()
}

// broken returns what is broken while people may be at work, by the
// invariant's name. Five seconds without a touch are a rest here.
func (y *yard) broken() map[string][]string {
	y.t.Helper()
	found, err := y.Store().Check(y.t.Context(), store.CheckOptions{Grace: 5 * time.Second})
	require.NoError(y.t, err)
	out := map[string][]string{}
	for _, f := range found {
		for _, v := range f.Violations {
			out[f.Name] = append(out[f.Name], v.Where)
		}
	}
	return out
}

// lasting returns what is broken of an invariant, and still is a while later. What
// Temporal has just been told after an outage is neither in the outbox nor in the
// rows for a moment, and nothing is wrong with that.
func (y *yard) lasting(invariant string) []string {
	y.t.Helper()
	first := y.broken()[invariant]
	if len(first) == 0 {
		return nil
	}
	require.NoError(y.t, wait(y.t.Context(), lasts))
	return slices.DeleteFunc(y.broken()[invariant], func(where string) bool { return !slices.Contains(first, where) })
}
