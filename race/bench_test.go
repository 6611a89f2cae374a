package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchScript stands in for the bench: it writes what it is told to, and fails.
const benchScript = `#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -results ] && echo '{"measures": [{"case": "p99 of a status at 100/s", "unit": "ms"}]}' >"$2"; shift; done
exit 3
`

func TestWhatAFailingBenchWroteIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bench"), []byte(benchScript), 0o755))
	var progress strings.Builder
	r := &room{options: options{cache: dir, benchDir: dir, rounds: 1, present: 10, shapes: "5x1KB"}, dir: dir, progress: &progress, results: &results{}}
	require.ErrorContains(t, pollsRace(t.Context(), r), "exit status 3")
	require.Len(t, r.results.Races, 2)
	require.Len(t, r.results.Races[0].Figures, 2)
	require.NotEmpty(t, r.results.Polls)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "bench"), []byte("#!/bin/sh\nexit 4\n"), 0o755))
	err := ingestRace(t.Context(), r)
	require.ErrorContains(t, err, "exit status 4")
	require.ErrorContains(t, err, "read what bench wrote")
	require.Len(t, r.results.Races, 2)
}

func tables(t *testing.T, races ...*raceResult) string {
	t.Helper()
	require.NoError(t, (&results{Races: races}).keep(filepath.Join(t.TempDir(), "r.json")))
	var b strings.Builder
	writeTables(&b, &results{Races: races})
	return b.String()
}

func TestPollsBecomeRaces(t *testing.T) {
	t.Parallel()
	var report benchReport
	require.NoError(t, json.Unmarshal([]byte(`{"measures": [
		{"case": "a status, 20 clients as fast as they can", "unit": "/s", "floor": {"median": 9000, "min": 8000, "max": 9500, "n": 2},
			"ours": {"median": 4000, "min": 3900, "max": 4100, "n": 2}, "noise": 1.01},
		{"case": "p99 of a status at 100/s", "unit": "ms", "floor": {"median": 2, "min": 1, "max": 3, "n": 2},
			"ours": {"median": 4, "min": 3, "max": 5, "n": 2}, "noise": 1.2,
			"floor_latencies_ms": {"p50": 0.5, "n": 9}, "ours_latencies_ms": {"p50": 0.9, "n": 9}},
		{"case": "p99 of a status at 400/s with If-None-Match", "unit": "ms", "floor": {"median": 2, "min": 1, "max": 3, "n": 2},
			"ours": {"median": 3, "min": 3, "max": 3, "n": 2}, "noise": 1,
			"floor_latencies_ms": {"p50": 0.5, "n": 9}, "ours_latencies_ms": {"p50": 0.7, "p90": 1, "p99": 3, "p999": 4, "n": 9}},
		{"case": "100 polls of a status with If-None-Match, against without", "unit": "s of CPU", "floor": {"median": 8, "min": 8, "max": 8, "n": 2},
			"ours": {"median": 7, "min": 7, "max": 7, "n": 2}, "noise": 0}],
	"findings": [
		{"case": "p99 of a status at 100/s", "figures": [{"name": "polls that failed", "value": 0, "none": true},
			{"name": "answered 304", "value": 0, "unit": "%"},
			{"name": "CPU a poll, all processes", "value": 0.9, "unit": "ms of CPU"},
			{"name": "CPU a poll, all processes, the floor", "value": 0.6, "unit": "ms of CPU"},
			{"name": "CPU a poll, API and Postgres", "value": 0.5, "unit": "ms of CPU"},
			{"name": "CPU a poll, API and Postgres, the floor", "value": 0.2, "unit": "ms of CPU"},
			{"name": "sent late, p99", "value": 0.3, "unit": "ms"},
			{"name": "sent late, p99, the floor", "value": 0.4, "unit": "ms"}]},
		{"case": "p99 of a status at 400/s with If-None-Match", "figures": [{"name": "answered 304", "value": 100, "unit": "%"}]},
		{"case": "100 polls of a status with If-None-Match, against without", "figures": [{"name": "with: answered 304", "value": 100, "unit": "%"}]}]}`), &report))
	got := pollResults(&report, "1", 1, 1000)
	require.Len(t, got, 2)
	require.Equal(t, "a status and a list of 200 of 1000", got[0].Title)
	text := tables(t, got...)
	for _, line := range []string{
		"| a status, 20 clients as fast as they can | 4,000/s (3,900..4,100) | 9,000/s (8,000..9,500) | 1.0 % |",
		"| p50 of a status at 100/s | 0.90 ms | 0.50 ms | – |",
		"| p99 of a status at 100/s: CPU a poll, all processes | 0.90 ms | 0.60 ms | – |",
		"| p99 of a status at 100/s: CPU a poll, API and Postgres | 0.50 ms | 0.20 ms | – |",
		"| p99 of a status at 100/s: sent late, p99 | 0.30 ms | 0.40 ms | – |",
		"p99 of a status at 100/s: 2.00 of floor server, aim ≤ 3.00: ! not claimed",
		"p99 of a status at 400/s with If-None-Match: 1.50 of floor server, aim ≤ 3.00: met (each within 1.00 to 3.00).",
		"p99 of a status at 400/s with If-None-Match: answered 304 | 100 % | – | – |",
		"p99 of a status at 100/s: CPU a poll, all processes: 0.90 ms, aim ≤ 2 ms: reached, by one value whose noise is not known.",
		"with If-None-Match, against without: answered 304 | 100 % | – | – |",
	} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, "at 100/s: answered 304")

	require.Equal(t, []string{"a status at 400/s with If-None-Match"}, got[0].Curves, "the highest rate is drawn")
	plots := got[0].plots()
	require.Contains(t, plots["latency"], "polyline")
	require.Contains(t, plots["cpu"], "0.90 ms")
}

func TestIngestBecomesARace(t *testing.T) {
	t.Parallel()
	var report benchReport
	require.NoError(t, json.Unmarshal([]byte(`{"measures": [
		{"case": "5 x 1 KB stored against a bare copy", "unit": "files/s", "floor": {"median": 1000, "min": 900, "max": 1100, "n": 2},
			"ours": {"median": 800, "min": 700, "max": 900, "n": 2}, "noise": 1.01},
		{"case": "5 x 1 KB stored against the script", "unit": "files/s", "floor": {"median": 400, "min": 400, "max": 400, "n": 2},
			"ours": {"median": 800, "min": 700, "max": 900, "n": 2}, "noise": 1.2}],
	"findings": [
		{"case": "5 x 1 KB stored", "figures": [{"name": "files", "value": 790, "unit": "files/s", "least": 300},
			{"name": "peak RSS of the worker (VmHWM)", "value": 90, "unit": "MB", "most": 300},
			{"name": "CPU of all processes", "value": 7, "unit": "s"}, {"name": "rows wrong", "value": 1, "none": true},
			{"name": "CPU of all processes, the bare copy", "value": 5, "unit": "s"}]},
		{"case": "memory over all of it", "figures": [{"name": "serve, most", "value": 1, "unit": "MB"}]},
		{"case": "5 x 1 KB, the worker killed in the middle", "figures": [{"name": "from the kill to the end", "value": 3, "unit": "s"}]},
		{"case": "5 x 1 KB, the script killed in the middle and run again", "figures": [{"name": "from the kill to the end", "value": 9, "unit": "s"}]}]}`), &report))
	got := ingestResults(&report, "1", 1, "5x1KB")
	text := tables(t, got)
	for _, line := range []string{
		"| 5 x 1 KB stored against a bare copy | 800 files/s (700..900) | 1,000 files/s (900..1,100) | – | 1.0 % |",
		"| 5 x 1 KB stored against the script | 800 files/s (700..900) | – | 400 files/s | 20.0 % ! |",
		"| 5 x 1 KB stored: CPU of all processes | 7 s | 5 s | – | – |",
		"| 5 x 1 KB, killed in the middle: from the kill to the end | 3 s | – | 9 s | – |",
		"against a bare copy: 0.80 of bare copy, aim ≥ 0.70: ! not claimed, what each round says is not known (each within 0.64 to 1.00).",
		"against the script: 2.00 of script, aim ≥ 1.00: ! not claimed",
		"files: 790 files/s, aim ≥ 300 files/s: reached, by one value whose noise is not known.",
		"rows wrong: 1, should be 0: **missed**.",
	} {
		require.Contains(t, text, line)
	}
	require.NotContains(t, text, "memory over all of it")
	require.Contains(t, got.plots()["cpu"], "7 s")
}

func TestCPUIsDrawnByProcess(t *testing.T) {
	t.Parallel()
	r := aRun().Races[0]
	r.Figures[0].CPU, r.Phase, r.Curves = true, "free", []string{"paced_claim", "other"}
	us := r.Contenders[0]
	us.Uses = []string{partPostgres}
	us.Samples[0].CPU = map[string]usage{"free": {partPostgres: 3, "serve": 1, partTemporal: 9}}
	require.InDeltaSlice(t, []float64{0.75, 0.25, 0, 0, 0}, us.cpuParts("free"), 1e-9)
	plots := r.plots()
	require.Contains(t, plots["cpu"], "own processes")
	require.NotContains(t, plots["cpu"], "object store")
	require.Contains(t, plots["cpu"], ">1 ms<", "1,000 a CPU second")
	require.Contains(t, plots, "latency-paced-claim")
	none := curvePlot("", []string{"a"}, map[string][]point{"a": {{0.5, 0}}}, map[string]string{})
	require.Contains(t, none, "</svg>", "a latency of nothing has an end")
	require.NotContains(t, plots, "latency-other", "nobody has it")
}
