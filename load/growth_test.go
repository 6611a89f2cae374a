package main

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

func TestGrowthClaims(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 4, growthClaims(100_000, time.Minute), 1e-9)
	few := growthClaims(1000, time.Minute)
	require.Less(t, few, 4.0)
	both := 2 * (growthWarm + time.Minute)
	require.Less(t, few*both.Seconds(), 600.0, "more is claimed than is free")
}

// TestCompareSizes has two sizes, of which the larger one takes twice as long,
// and a tenth more the second time.
func TestCompareSizes(t *testing.T) {
	t.Parallel()
	rec, err := record.New(time.Now(), nil)
	require.NoError(t, err)
	add := func(size int, half, op string, took time.Duration) {
		for range 10 {
			rec.Record(record.Key{Phase: sizeName(size, half), Op: op, Class: record.OK}, took, 200, "")
		}
	}
	sizes := []int{1000, 5000}
	for _, half := range halves {
		add(1000, half, "create-5000", 100*time.Millisecond)
	}
	add(5000, halves[0], "create-5000", 200*time.Millisecond)
	add(5000, halves[1], "create-5000", 220*time.Millisecond)
	add(5000, halves[0], "claim", time.Millisecond) // it was not measured beside the smallest

	lines := map[string]growthLine{}
	all := compareSizes(rec, sizes)
	for _, l := range all {
		if l.Size == 5000 {
			lines[l.Op] = l
		}
	}
	require.Len(t, all, len(sizes)*len(grown))
	create := lines["create-5000"]
	require.EqualValues(t, 20, create.N)
	require.InEpsilon(t, 2.0, create.Ratio, 0.01)
	require.InEpsilon(t, 2.2, create.Tail, 0.01)
	require.InEpsilon(t, 1.1, create.Same, 0.01)
	require.Zero(t, lines["claim"].Ratio)
	require.Zero(t, lines["claim"].Same)

	r := &run{options: options{sizes: sizes}, stdout: io.Discard}
	r.numbers.set(map[string]float64{})
	r.judgeCreation(all)
	require.InEpsilon(t, 2.0, r.numbers.get()[slo.CreateGrowth], 0.01)
	require.NoError(t, r.printGrowth(all))

	// The control hears that there is no such pipeline: that is its answer.
	rec.Record(record.Key{Phase: sizeName(1000, halves[0]), Op: control, Class: record.Stale}, time.Millisecond, 404, "")
	require.EqualValues(t, 1, lineOf(rec, control, 1000).N)

	// Creations that all failed are no reason to meet the objective.
	none, err := record.New(time.Now(), nil)
	require.NoError(t, err)
	r.script = "growth"
	r.numbers.set(map[string]float64{})
	r.judgeCreation(compareSizes(none, sizes))
	for _, j := range slo.Judge(slo.Measured{
		Times: func(string) slo.Sample { return none.Select(func(record.Key) bool { return false }) }, Numbers: r.numbers.get(), Must: r.must(),
	}, 2) {
		if j.SLI == slo.CreateGrowth {
			require.Equal(t, slo.NotMeasured, j.Verdict)
		}
	}
}

// TestARemovalTellsWhatWasLost has tasks removed that are all there, and then some of
// which one was acked and never written: the end of the run could not tell.
func TestARemovalTellsWhatWasLost(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := withDatabase(t)
	for _, missing := range []int64{0, 1} {
		require.NoError(t, r.world.fill(ctx, 2, mathcheck.Mix{Free: 2}))
		created, err := r.world.someTasks(ctx, 2)
		require.NoError(t, err)
		require.Len(t, created, 2)
		for range missing {
			created = append(created, r.world.filled+1)
		}
		r.facts.created(created)
		require.NoError(t, r.deleteCreated(ctx))
		require.NoError(t, r.check(ctx))
		require.InDelta(t, float64(missing), r.numbers.get()[slo.LostWrites], 1e-9)
	}
}
