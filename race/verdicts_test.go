package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What bench measured is claimed by the rule for all others: every round must say the
// same. Where an older report has no turns, no round can have said anything else.
func TestFiguresOfTheBenchAreClaimedRoundByRound(t *testing.T) {
	t.Parallel()
	const within = "! not claimed, the rounds differ and the median is within the aim"
	const unknown = "! not claimed, what each round says is not known"
	for _, c := range []struct {
		name        string
		rounds      int
		ours, floor string
		want        string
	}{
		{"both turns within", 1, `"values": [4, 5]`, `"values": [2, 2]`, "2.25 of floor server, aim ≤ 3.00: met (2.00, 2.50)."},
		{"both turns beyond", 1, `"values": [7, 8]`, `"values": [2, 2]`, "3.75 of floor server, aim ≤ 3.00: **missed** (3.50, 4.00)."},
		{"there and back differ", 1, `"values": [4, 7]`, `"values": [2, 2]`, "2.75 of floor server, aim ≤ 3.00: " + within + " (2.00, 3.50)."},
		{
			"turns are paired in their order, however far the extremes are", 1,
			`"values": [4, 9], "min": 4, "median": 6.5, "max": 9`, `"values": [2, 4], "min": 2, "median": 3, "max": 4`,
			"2.17 of floor server, aim ≤ 3.00: met (2.00, 2.25).",
		},
		{
			"one of three rounds beyond", 3, `"values": [4, 4, 4, 4, 7, 7]`, `"values": [2, 2, 2, 2, 2, 2]`,
			"2.00 of floor server, aim ≤ 3.00: " + within + " (2.00, 2.00, 3.50).",
		},
		{
			"a turn of a round beyond, and the round within", 2, `"values": [4, 7, 4, 4]`, `"values": [2, 2, 2, 2]`,
			"2.00 of floor server, aim ≤ 3.00: met (2.75, 2.00).",
		},
		{"one round, where the race has three", 3, `"values": [4, 7]`, `"values": [2, 2]`, "2.75 of floor server, aim ≤ 3.00: " + within + " (2.00, 3.50)."},
		{"turns of one side only", 1, `"values": [4, 4], "min": 4, "median": 4, "max": 4`, `"min": 2, "median": 2, "max": 2`, "aim ≤ 3.00: met (each within 2.00 to 2.00)."},
		{
			"no turns, and no round can be beyond", 1, `"min": 4, "median": 4.5, "max": 5`, `"min": 2, "median": 2.25, "max": 2.5`,
			"2.00 of floor server, aim ≤ 3.00: met (each within 1.60 to 2.50).",
		},
		{
			"no turns, and one may be beyond", 1, `"min": 2.9, "median": 3.96, "max": 5.02`, `"min": 1.61, "median": 1.86, "max": 2.11`,
			"2.13 of floor server, aim ≤ 3.00: " + unknown + " (each within 1.37 to 3.12).",
		},
		{
			"no turns, and all are beyond", 1, `"min": 8, "median": 9, "max": 10`, `"min": 2, "median": 2.25, "max": 2.5`,
			"4.00 of floor server, aim ≤ 3.00: **missed** (each within 3.20 to 5.00).",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var report benchReport
			require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"measures": [{"case": "p99 of a status at 100/s", "unit": "ms", "noise": 1.01,
				"ours": {%s}, "floor": {%s}}]}`, c.ours, c.floor), &report))
			var r results
			r.add(pollResults(&report, "1", c.rounds, 10)...)
			lines := r.Races[0].verdicts()
			require.Len(t, lines, 1)
			require.Contains(t, lines[0], c.want)
		})
	}
}

// Rounds on both sides of an aim leave open whether it is reached. On which side the
// median is stands there all the same, with as many digits as that takes.
func TestWhereRoundsDifferTheSideOfTheMedianIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		aim  float64
		ours []float64 // there and back in each of three rounds; theirs are 100
		want string
	}{
		{
			"missed by less than two digits show", 0.67,
			[]float64{67.4, 67.4, 66.7, 66.7, 64.9, 64.9},
			"0.667 of pg-boss, aim ≥ 0.67: ! not claimed, the rounds differ and the median misses the aim (0.674, 0.667, 0.649).",
		},
		{
			"kept by less than two digits show", 0.67,
			[]float64{68.1, 68.1, 67.3, 67.3, 64.9, 64.9},
			"0.673 of pg-boss, aim ≥ 0.67: ! not claimed, the rounds differ and the median is within the aim (0.681, 0.673, 0.649).",
		},
		{
			"a round that two digits would put onto it", 0.67,
			[]float64{72, 72, 70, 70, 66.6, 66.6},
			"0.700 of pg-boss, aim ≥ 0.67: ! not claimed, the rounds differ and the median is within the aim (0.720, 0.700, 0.666).",
		},
		{
			"all rounds agree, and miss it by as little", 0.67,
			[]float64{66.8, 66.8, 66.7, 66.7, 66.6, 66.6},
			"0.667 of pg-boss, aim ≥ 0.67: **missed** (0.668, 0.667, 0.666).",
		},
		{
			"what is the aim itself", 0.5,
			[]float64{50, 50, 50, 50, 40, 40},
			"0.50 of pg-boss, aim ≥ 0.50: ! not claimed, the rounds differ and the median is within the aim (0.50, 0.50, 0.40).",
		},
		{
			"far from it", 0.5,
			[]float64{60, 60, 40, 40, 30, 30},
			"0.40 of pg-boss, aim ≥ 0.50: ! not claimed, the rounds differ and the median misses the aim (0.60, 0.40, 0.30).",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := aRun().Races[0]
			r.Figures[0].Aim, r.Runs[0].Rounds = c.aim, 3
			us, them := r.Contenders[0], r.Contenders[1]
			us.Samples, them.Samples = nil, nil
			for _, v := range c.ours {
				us.Samples = append(us.Samples, &sample{Values: map[string]float64{"rate": v}})
				them.Samples = append(them.Samples, &sample{Values: map[string]float64{"rate": 100}})
			}
			require.Equal(t, []string{"done per CPU second: " + c.want}, r.verdicts())
		})
	}
}

// What has a bound of its own and no unit is shown in the same way.
func TestAMedianBesideItsBoundIsShownOnItsSide(t *testing.T) {
	t.Parallel()
	r := aRun().Races[0]
	r.Figures[0].Aim, r.Figures[0].Bound, r.Figures[0].Unit = 0, 0.95, ""
	us := r.Contenders[0].Samples
	us[0].Values["rate"], us[1].Values["rate"] = 0.9, 0.996
	require.Equal(t, []string{
		"done per CPU second: 0.948, aim ≥ 0.95: ! not claimed, the rounds differ and the median misses the aim (0.900, 0.996).",
	}, r.verdicts())
}

// The aims are of ours however it is run, and a line says which it is of where that is
// not the usual way.
func TestEachWayToRunOursIsJudged(t *testing.T) {
	t.Parallel()
	r := aRun().Races[0]
	bounded := &contenderResult{info: info{Name: taskloomBounded.name, Contract: contractOurs}}
	for _, rate := range []float64{700, 720} {
		bounded.Samples = append(bounded.Samples, &sample{Values: map[string]float64{"rate": rate}})
	}
	r.Contenders = append(r.Contenders, bounded)
	require.Equal(t, []string{
		"done per CPU second: 0.56 of pg-boss, aim ≥ 0.50: met (0.50, 0.61).",
		"Taskloom, bound as it comes: done per CPU second: 0.39 of pg-boss, aim ≥ 0.50: **missed** (0.39, 0.40).",
	}, r.verdicts())
}

// A race that was broken off between there and back has nothing that agrees.
func TestWhatHasNotAllItsTurnsIsNotClaimed(t *testing.T) {
	t.Parallel()
	r := aRun().Races[0]
	r.Contenders[0].Samples = r.Contenders[0].Samples[1:]
	require.Equal(t, []string{"done per CPU second: 0.61 of pg-boss, aim ≥ 0.50: ! not claimed, what each round says is not known."}, r.verdicts())
}

func TestOldResultsOfTheBenchAreKnownByTheirName(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "old.json")
	require.NoError(t, os.WriteFile(name, []byte(`{"races": [{"race": "polls"}, {"race": "ingest"}, {"race": "flow"}]}`), 0o600))
	r, err := readResults(name)
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, false}, []bool{r.Races[0].Told, r.Races[1].Told, r.Races[2].Told})
}
