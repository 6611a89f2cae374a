package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/giveway"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// While people wait for what follows from what they did, few claims are told and
// few new tasks get their runs, but some; what people hand in keeps its own pace.
// When nobody waits, the pace comes back.
func TestClaimsAndStartsGiveWayToWhatIsHandedIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        pipeline.EventKind
		least, most int
	}{
		{pipeline.EventCreate, startsLeast, 200},
		{pipeline.EventClaim, claimsLeast, claimsMost},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out := newFakeOutbox()
				for id := int64(1); id <= 3000; id++ {
					out.put(row(id, 2, c.kind))
				}
				out.behind = time.Second
				b := newBench(t, out, &fakeRuns{})
				told := func(d time.Duration) int {
					before := len(b.runs.made())
					b.serve(d)
					return len(b.runs.made()) - before
				}
				told(5 * time.Second) // it finds its pace
				require.InDelta(t, c.least*20, told(20*time.Second), 15)

				for id := int64(3001); id <= 3300; id++ {
					out.put(row(id, 3, pipeline.EventSubmit))
				}
				require.InDelta(t, 300, told(2*time.Second), 30)

				out.behind = startsWait
				if c.kind == pipeline.EventClaim {
					require.InDelta(t, 350, told(10*time.Second), 70, "a quarter more each half second; 200 by one")
					require.InDelta(t, 10*c.most, told(10*time.Second), 25, "and no more than so many")
					return
				}
				require.InDelta(t, 20*(c.least+5), told(20*time.Second), 40, "a quarter of one more each half second")
			})
		})
	}
}

// TestStartsGiveWayBeforeClaims asserts that what nobody waits for at all is the first to
// make room.
func TestStartsGiveWayBeforeClaims(t *testing.T) {
	t.Parallel()
	c := calmOf(Rates{Signals: 200, Starts: 200})
	starts := c[store.UrgencyCreated]
	require.InDelta(t, startsFirst, float64(starts.limit.Limit()), 0, "nobody knows yet whether people are there")
	for range 200 {
		starts.learn(startsWait)
	}
	for _, step := range []struct {
		behind         time.Duration
		starts, claims float64
	}{
		{startsWait, 200, claimsMost},
		{startsWait + 1, 25, claimsMost},
		{peopleWait, 25. / 8, claimsMost},
		{peopleWait + 1, startsLeast, claimsMost / 2},
	} {
		starts.learn(step.behind)
		c[store.UrgencyClaimed].learn(step.behind)
		require.InDelta(t, step.starts, float64(starts.limit.Limit()), 0, "%v", step.behind)
		require.InDelta(t, step.claims, float64(c[store.UrgencyClaimed].limit.Limit()), 0, "%v", step.behind)
	}
}

// Where nothing gives way, nobody is asked.
func TestThePaceLearnsOnlyWhatThereIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := calmOf(Rates{Signals: 20, Starts: 200})
		require.InDelta(t, 20, float64(c[store.UrgencyClaimed].limit.Limit()), 0, "no more than of what is handed in")
		p := c[store.UrgencyCreated]
		require.False(t, p.due())
		p.took(1)
		require.True(t, p.due())
		p.learn(0)
		require.False(t, p.due())
		pause(t.Context(), giveway.Every)
		require.True(t, p.due())
		p.took(0)
		require.False(t, p.due())

		for range 20 {
			p.learn(time.Minute)
		}
		require.InDelta(t, startsLeast, float64(p.limit.Limit()), 0)
		for range 500 {
			p.learn(0)
		}
		require.InDelta(t, 200, float64(p.limit.Limit()), 0)
	})
}
