package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/giveway"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// While people wait for what follows from what they did, few new tasks get their
// runs, but some do; what people do keeps its own pace, the start of a task that
// they work on too. When nobody waits, the pace comes back.
func TestStartsOfNewTasksGiveWayToPeople(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newFakeOutbox()
		out.put(newTasks(1, 3000)...)
		out.behind = time.Second
		b := newBench(t, out, &fakeRuns{})
		starts := func(d time.Duration) int {
			before := len(b.runs.made())
			b.serve(d)
			return len(b.runs.made()) - before
		}
		starts(5 * time.Second) // it finds its pace
		require.InDelta(t, startsLeast*20, starts(20*time.Second), 15)

		for id := int64(3001); id <= 3300; id++ {
			out.put(row(id, 1, pipeline.EventCreate)) // somebody has claimed these
		}
		require.InDelta(t, 300, starts(2*time.Second), 30)

		out.behind = peopleWait / 2
		require.InDelta(t, 20*(startsLeast+20), starts(20*time.Second), 150, "one a second more each half second")
	})
}

// A start that nobody asked for in bulk learns nothing and asks nothing.
func TestThePaceLearnsOnlyBesideBulkStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newStartPace(200)
		require.False(t, p.due())
		p.took(newTasks(1, 1))
		require.True(t, p.due())
		p.learn(0)
		require.False(t, p.due())
		pause(t.Context(), giveway.Every)
		require.True(t, p.due())
		p.took(nil)
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
