package chaos

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/stacktest"
)

// plantedFor is how long a bug may stay unseen while people work.
const plantedFor = 90 * time.Second

// sought is a bug, and how the violation begins that finds it.
type sought struct {
	bug   planted.Bug
	finds string
}

// TestTheHarnessFindsPlantedBugs lets the load meet bugs that only its own checks can
// see: those of what clients were told. internal/planted plays the two others, a step
// without its fence and an outbox that is emptied too early, for which one run for
// each task and a Temporal that stays do not suffice. Each load is one under which some
// bug shows soon. It is played without a bug first, for as long, and then nothing may be
// found: else what finds the bug might as well be the load.
func TestTheHarnessFindsPlantedBugs(t *testing.T) {
	if os.Getenv("CHAOS_PLANTED") == "" || testing.Short() {
		t.Skip("make planted runs it")
	}
	program := stacktest.Planted(t)
	for _, c := range []struct {
		load string
		set  func(l *Load)
		bugs []sought
	}{
		{"files now and then", func(l *Load) { l.Upload = 25 }, []sought{{planted.TaskAnyOrg, "I11: "}}},
		{"hardly a rest", func(l *Load) { l.ThinkMS = 5 }, []sought{{planted.ClaimUnlocked, "I2: "}}},
		{"late work", func(l *Load) { l.Late = 40 }, []sought{{planted.SubmitAnyClaim, "I2: "}}},
		{"two tabs", func(l *Load) { l.Tabs = 60 }, []sought{{planted.DraftUnguarded, "I1: revision "}}},
		{"files and cuts", func(l *Load) { l.Upload, l.CutShare = 100, 0.1 }, []sought{{planted.CopyUnasked, "I8: "}}},
	} {
		t.Run("no bug, "+c.load, func(t *testing.T) {
			r := playPlanted(t, program, "", c.set)
			require.NoError(t, r.pause(t.Context(), plantedFor))
			r.Finish(t.Context())
			r.verdict("planted-none")
		})
		for _, b := range c.bugs {
			t.Run("bug "+string(b.bug), func(t *testing.T) { b.isFound(t, playPlanted(t, program, b.bug, c.set)) })
		}
	}
}

// playPlanted begins the load on a build with this bug, "" for none.
func playPlanted(t *testing.T, program string, bug planted.Bug, set func(l *Load)) *Run {
	t.Helper()
	seed := seedOf(t)
	t.Logf("CHAOS_SEED=%d", seed)
	s := Settings{Seed: seed, Load: DefaultLoad(1), Binary: program, Env: []string{"TASKLOOM_PLANTED=" + string(bug)}}
	s.Load.CutShare, s.Load.LoseShare = 0, 0
	set(&s.Load)
	r := startRun(t, s)
	r.uploader = r.newUploader()
	r.cutShare(s.Load.CutShare)
	r.Work()
	return r
}

func (b sought) isFound(t *testing.T, r *Run) {
	t.Helper()
	ctx := t.Context()
	found := func() bool {
		return slices.ContainsFunc(r.Violations(), func(v string) bool { return strings.HasPrefix(v, b.finds) })
	}
	for began := time.Now(); time.Since(began) < plantedFor && !found(); {
		require.NoError(t, r.pause(ctx, time.Second))
	}
	if !found() { // by what everybody was told; tasks that a bug has broken never come to rest
		r.goHome()
		whole := func(ctx context.Context) error { return r.filesAreWhole(ctx, bucketOf(r.Stack)) }
		for _, check := range []func(context.Context) error{r.checkClaims, r.checkSubmissions, r.checkDrafts, whole} {
			require.NoError(t, check(ctx))
		}
	}
	require.True(t, found(), "%s was not found: no violation begins with %q among %v", b.bug, b.finds, r.Violations())
}
