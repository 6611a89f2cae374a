package slo

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGate(t *testing.T) {
	t.Parallel()
	claim, ok := Get("claim", 99)
	require.True(t, ok)
	require.Equal(t, "≤ 100ms", claim.String())
	require.Equal(t, "≤ 200ms", claim.Gate(2).String())
	files, ok := Get(IngestRate, 0)
	require.True(t, ok)
	require.Equal(t, "≥ 300 files/s", files.Gate(2).String())
	up, ok := Get(Availability, 0)
	require.True(t, ok)
	require.Equal(t, "≥ 99.9%", up.Gate(2).String())
	for sli, want := range map[string][2]string{
		Refused: {"≤ 0.1%", "≤ 0.1%"}, TooLate: {"≤ 0.1%", "≤ 0.1%"}, LeftOut: {"≤ 1%", "≤ 1%"}, Unchanged: {"≥ 90%", "≥ 90%"},
	} {
		o, ok := Get(sli, 0)
		require.True(t, ok, sli)
		require.Equal(t, want, [2]string{o.String(), o.Gate(2).String()}, sli)
	}
	for _, o := range Table {
		if o.Number {
			require.Equal(t, o, o.Gate(2), "only times are doubled")
		}
	}
	late, ok := Get(Lateness, 99)
	require.True(t, ok)
	require.Equal(t, "≤ 20ms", late.Gate(2).String())
	for _, percent := range []float64{50, 99} {
		first, ok := Get("claim", percent)
		require.True(t, ok)
		review, ok := Get("claim-review", percent)
		require.True(t, ok, "a claim is a claim")
		require.Equal(t, first.Limit, review.Limit)
	}
	lost, ok := Get(LostWrites, 0)
	require.True(t, ok)
	require.Equal(t, "≤ 0", lost.Gate(2).String())
	_, ok = Get("claim", 98)
	require.False(t, ok)
}

// times are in order.
type times []time.Duration

func (ts times) N() int64 { return int64(len(ts)) }

func (ts times) Quantile(percent float64) time.Duration {
	return ts[int(math.Ceil(percent/100*float64(len(ts))))-1]
}

func TestJudge(t *testing.T) {
	t.Parallel()
	took := map[string]times{}
	add := func(op string, n int, each time.Duration) {
		took[op] = append(took[op], slices.Repeat(times{each}, n)...)
	}
	add("claim", 985, 5*time.Millisecond)
	add("claim", 15, 150*time.Millisecond) // p99 is 150 ms
	add("submit", 100, 500*time.Millisecond)
	m := Measured{
		Times:   func(op string) Sample { return took[op] },
		Numbers: map[string]float64{LostWrites: 0, DoubleClaims: 1, Availability: 99.95, IngestRate: 160, Recovery: 61, Refused: 0.15, DeadWorker: 14},
	}
	verdicts := func(factor float64) map[string]Verdict {
		out := map[string]Verdict{}
		for _, j := range Judge(m, factor) {
			out[j.Name] = j.Verdict
		}
		require.Len(t, out, len(Table), "two objectives have one name")
		return out
	}
	strict, gated := verdicts(1), verdicts(2)
	for name, want := range map[string][2]Verdict{
		"claim the next task, p50":         {Met, Met},
		"claim the next task, p99":         {Missed, Met},
		"hand in a subtask, p99":           {Missed, Missed},
		"give a verdict, p99":              {Unknown, Unknown},
		"acked writes lost":                {Met, Met},
		"nodes with two claims at a time":  {Missed, Missed},
		"availability of all calls":        {Met, Met},
		"ingestion":                        {Missed, Missed},
		"back inside all objectives after": {Missed, Missed},
		"acked drafts lost":                {Unknown, Unknown},
		"refused, below an overload":       {Missed, Missed},
		"work of a dead worker goes on":    {Met, Met},
	} {
		require.Equal(t, want, [2]Verdict{strict[name], gated[name]}, name)
	}
	require.True(t, AnyMissed(Judge(m, 2)))
	require.False(t, AnyMissed([]Judged{{Verdict: Met}, {Verdict: Unknown}}))
	require.True(t, AnyMissed([]Judged{{Verdict: Met}, {Verdict: NotMeasured}}))

	m.Must = []string{"claim", "verdict", LostDrafts}
	gated = verdicts(2)
	for name, want := range map[string]Verdict{
		"claim the next task, p50": Met, // it was measured
		"give a verdict, p50":      NotMeasured,
		"give a verdict, p99":      NotMeasured,
		"acked drafts lost":        NotMeasured,
		"confirm to first row":     Unknown,
	} {
		require.Equal(t, want, gated[name], name)
	}
}
