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

// TestTheHarnessFindsPlantedBugs lets the load meet bugs that only its own checks can
// see: those of what clients were told. internal/planted plays the two others, a step
// without its fence and an outbox that is emptied too early, for which one run for
// each task and a Temporal that stays do not suffice.
func TestTheHarnessFindsPlantedBugs(t *testing.T) {
	if os.Getenv("CHAOS_PLANTED") == "" || testing.Short() {
		t.Skip("make planted runs it")
	}
	program := stacktest.Planted(t)
	for _, c := range []struct {
		bug   planted.Bug
		finds string // how the violation begins
		load  func(l *Load)
	}{
		{"", "", func(l *Load) { l.Upload = 25 }},
		{planted.ClaimUnlocked, "I2: ", func(l *Load) { l.ThinkMS = 5 }},
		{planted.SubmitAnyClaim, "I2: ", func(l *Load) { l.Late = 40 }},
		{planted.DraftUnguarded, "I1: revision ", func(l *Load) { l.Tabs = 60 }},
		{planted.TaskAnyOrg, "I11: ", func(*Load) {}},
		{planted.CopyUnasked, "I8: ", func(l *Load) { l.Upload, l.CutShare = 100, 0.1 }},
	} {
		t.Run("bug "+string(c.bug), func(t *testing.T) {
			seed := seedOf(t)
			t.Logf("CHAOS_SEED=%d", seed)
			s := Settings{Seed: seed, Load: DefaultLoad(1), Binary: program, Env: []string{"TASKLOOM_PLANTED=" + string(c.bug)}}
			s.Load.CutShare, s.Load.LoseShare = 0, 0
			c.load(&s.Load)
			r := startRun(t, s)
			r.uploader = r.newUploader()
			r.cutShare(s.Load.CutShare)
			r.Work()
			ctx := t.Context()
			found := func() bool {
				return slices.ContainsFunc(r.Violations(), func(v string) bool { return c.bug != "" && strings.HasPrefix(v, c.finds) })
			}
			for began := time.Now(); time.Since(began) < plantedFor && !found(); {
				require.NoError(t, r.pause(ctx, time.Second))
			}
			if c.bug == "" {
				r.Finish(ctx)
				require.Empty(t, r.Violations(), "without a bug")
				return
			}
			if !found() { // by what everybody was told; tasks that a bug has broken never come to rest
				r.goHome()
				whole := func(ctx context.Context) error { return r.filesAreWhole(ctx, bucketOf(r.Stack)) }
				for _, check := range []func(context.Context) error{r.checkClaims, r.checkSubmissions, r.checkDrafts, whole} {
					require.NoError(t, check(ctx))
				}
			}
			require.True(t, found(), "%s was not found: no violation begins with %q among %v", c.bug, c.finds, r.Violations())
		})
	}
}
