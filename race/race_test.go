package main

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPalindrome(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{0, 1, 1, 0}, palindrome(2))
	require.Equal(t, []int{0, 1, 2, 2, 1, 0}, palindrome(3))
	require.Empty(t, palindrome(0))
}

func TestMedian(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 0, median(nil), 0)
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2.5, median([]float64{4, 1, 3, 2}), 0)
	require.Equal(t, spread{Median: 2, Min: 1, Max: 9, N: 3}, spreadOf([]float64{9, 1, 2}))
	require.Zero(t, spreadOf(nil))
}

func TestNoise(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1.1, noiseOf([]float64{100, 100}, []float64{90, 130}), 1e-9)
	for noise, want := range map[float64]bool{1: false, 1.05: false, 0.95: false, 1.06: true, 0.94: true, 0: true} {
		require.Equal(t, want, loud(noise), noise)
	}
	require.Zero(t, ratio(1, 0), "JSON has no word for infinity")
}

func TestLatencies(t *testing.T) {
	t.Parallel()
	l := newLatencies()
	for i := 1; i <= 1000; i++ {
		l.add(time.Duration(i) * time.Millisecond)
	}
	l.add(24 * time.Hour) // longer than can be told apart
	q := l.quantiles()
	require.EqualValues(t, 1001, q.N)
	require.InEpsilon(t, 500, q.P50, 0.01)
	require.InEpsilon(t, 990, q.P99, 0.01)
	var sum int64
	for _, b := range q.Buckets {
		sum += b[1]
	}
	require.Equal(t, q.N, sum)
}

func TestOnlyWhatIsUsedIsCharged(t *testing.T) {
	t.Parallel()
	u := usage{partPostgres: 1, partTemporal: 2, partS3: 4, usageClient: 8, "serve": 16, usageOthers: 32}
	require.InDelta(t, 25, u.charged([]string{partPostgres}), 0)
	require.InDelta(t, 27, u.charged([]string{partPostgres, partTemporal}), 0)
}

func TestAProcessThatIsStartedAgainCountsTwice(t *testing.T) {
	t.Parallel()
	m := newMeter()
	look := func(busy, client float64, used map[identity]float64) {
		for of, seconds := range used {
			m.note(of, "worker", seconds)
		}
		m.total(busy, client)
	}
	first, second := identity{7, "100"}, identity{7, "900"} // the pid is given again
	look(1000, 50, map[identity]float64{first: 30})
	look(1010, 51, map[identity]float64{first: 34})
	look(1020, 52, map[identity]float64{second: 1})
	look(1030, 53, map[identity]float64{second: 3})
	require.Equal(t, usage{"worker": 7, usageClient: 3, usageOthers: 20}, m.usage())
	require.NotEmpty(t, startOf(os.Getpid()))
	require.Empty(t, startOf(-1))
}

func TestTheWorseNoiseCounts(t *testing.T) {
	t.Parallel()
	quiet, noisy := map[string]float64{"rate": 1.01, "p99": 0.8}, map[string]float64{"rate": 0.9, "p99": 1.1}
	require.Equal(t, map[string]float64{"rate": 0.9, "p99": 0.8}, worseNoise(quiet, noisy))
	require.Equal(t, map[string]float64{"rate": 0, "p99": 0}, worseNoise(nil, quiet), "what was not measured allows no claim")
	require.Equal(t, map[string]float64{"rate": 0, "p99": 0}, worseNoise(quiet, nil))
	require.Empty(t, worseNoise(nil, nil))
}

func TestTwoDigits(t *testing.T) {
	t.Parallel()
	require.Equal(t, [][2]int64{{7, 1}, {1100, 5}, {1200, 4}}, twoDigits([][2]int64{{7, 1}, {1001, 2}, {1100, 3}, {1101, 4}}))
}

func TestDoubles(t *testing.T) {
	t.Parallel()
	require.Zero(t, doublesIn([][]string{{"1", "2"}, {"3"}}))
	require.Equal(t, 2, doublesIn([][]string{{"1", "2", "2"}, {"1"}}))
}

func TestIDsInCopy(t *testing.T) {
	t.Parallel()
	b := make([]byte, copyHeader)
	column := func(v []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	for range 2 {
		b = binary.BigEndian.AppendUint16(b, 3)
		column(make([]byte, 8))
		b = binary.BigEndian.AppendUint32(b, 0xffffffff) // NULL
		column([]byte("text"))
	}
	whole := binary.BigEndian.AppendUint16(append([]byte{}, b...), 0xffff)
	ids, err := idsInCopy(whole)
	require.NoError(t, err)
	const row = 2 + 4 + 8 + 4 + 4 + 4
	require.Equal(t, []int{copyHeader + 6, copyHeader + row + 6}, ids)
	_, err = idsInCopy(b)
	require.Error(t, err)
}

func TestPayloadHasItsSize(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 650, len(itemJSON(7, 650)), itemFrame)
	require.NotEqual(t, itemJSON(1, 650), itemJSON(2, 650))
	var body struct {
		Tasks []struct{ Fields map[string]string }
	}
	require.NoError(t, json.Unmarshal(createBody(3, 650), &body))
	require.Len(t, body.Tasks, 3)
	var tasks []struct{ Data map[string]string }
	require.NoError(t, json.Unmarshal(labelStudioImport(3, 650), &tasks))
	require.Equal(t, body.Tasks[2].Fields, tasks[2].Data, "both get the same")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{"-only", "claims,create", "-clients", "4", "-contenders", "task,boss"}, &strings.Builder{})
	require.NoError(t, err)
	require.Equal(t, []int{4}, o.clients)
	require.True(t, o.takesPart("pg-boss insert([…])"))
	require.True(t, o.takesPart(ours))
	require.False(t, o.takesPart("River"))
	require.True(t, o.takesPart(taskloomWithRuns.name))
	o.contenders = []string{"=taskloom", "boss"}
	require.True(t, o.takesPart(ours))
	require.False(t, o.takesPart(taskloomWithRuns.name), "a name that begins with the one that was given")
	require.True(t, o.takesPart("pg-boss"))
	for _, bad := range [][]string{
		{"-only", "horses"},
		{"-clients", "0"},
		{"-rounds", "0"},
		{"-payload", "4"},
		{"-window", "1ms"},
		{"-present", "-1"},
		{"more"},
		{"-clients", ","},
		{"-held-for", "0s"},
		{"-chaos-held", "1ms"},
		{"-short-items", "-1"},
	} {
		_, err := parseOptions(bad, &strings.Builder{})
		require.Error(t, err, bad)
	}
}

// aRun has us at half of pg-boss, and a batch system that nothing is said of.
func aRun() *results {
	contender := func(name string, batch bool, values ...float64) *contenderResult {
		c := &contenderResult{info: info{Name: name, Version: "1", Batch: batch}}
		for _, v := range values {
			l := newLatencies()
			l.add(time.Duration(v) * time.Microsecond)
			c.Samples = append(c.Samples, &sample{
				Values: map[string]float64{"rate": v, "doubles": 0}, Latencies: map[string]quantiles{"paced_claim": l.quantiles()},
			})
		}
		return c
	}
	r := &results{}
	r.begin(aMachine("aaaaaaa", "1GB"))
	r.add(&raceResult{
		Race: "claims", Title: "claim & submit", Rounds: 1,
		Figures: []figure{
			{Name: "rate", Says: "done per CPU second", Unit: "/CPU-s", More: true, Aim: 0.5, Against: "pg-boss"},
			{Name: "doubles", Says: "double claims", None: true},
		},
		Noise:      map[string]float64{"rate": 1.01},
		Contenders: []*contenderResult{contender(ours, false, 900, 1100), contender("pg-boss", false, 1800, 1800), contender("River", true, 9000, 9000)},
	})
	r.Races[0].Contenders[0].Contract = contractOurs
	return r
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := aRun()
	var b strings.Builder
	writeTables(&b, r)
	require.Contains(t, b.String(), "| done per CPU second | 1,000/CPU-s (900..1,100) | 1,800/CPU-s | 9,000/CPU-s | 1.0 % |")
	require.Contains(t, b.String(), "done per CPU second: 0.56 of pg-boss, aim ≥ 0.50: met (0.50, 0.61).")
	require.Contains(t, b.String(), "River 1 (batches)")

	r.Races[0].Figures[0].Aim = 0.55
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "aim ≥ 0.55: ! not claimed, the rounds differ and the median is within the aim (0.50, 0.61).")
	r.Races[0].Figures[0].Aim = 0.5
	r.Races[0].Figures[0].Bound = 1000
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "aim ≥ 1,000/CPU-s: ! not claimed, the rounds differ and the median is within the aim (900/CPU-s, 1,100/CPU-s).")
	r.Races[0].Figures[0].Bound = 0

	r.Races[0].Noise["rate"] = 1.2
	b.Reset()
	writeTables(&b, r)
	require.Contains(t, b.String(), "| 20.0 % ! |")
	require.Contains(t, b.String(), "! not claimed")
	require.NotContains(t, b.String(), "met.")

	r.Races[0].Figures[0].Bound = 500
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "aim ≥ 500/CPU-s: ! not claimed")
	r.Races[0].Once = true
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "aim ≥ 500/CPU-s: reached, which one turn each does not prove")
	r.Races[0].Once, r.Races[0].Noise = false, map[string]float64{"other": 1}
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "aim ≥ 500/CPU-s: reached, by one value whose noise is not known")
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "of pg-boss, aim ≥ 0.50: ! not claimed", "a ratio needs it")
	r.Races[0].Figures[0].Bound = 5000
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "**not reached**, by one value whose noise is not known")
	r.Races[0].Figures[0].Bound = 0

	r.Races[0].Noise = nil
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "! not claimed", "noise that was not measured allows no claim")

	r.Races[0].Noise = map[string]float64{"rate": 1}
	r.Races[0].Figures[0].Against = "River"
	require.Empty(t, r.Races[0].verdicts(), "never batch against single")

	r.Races[0].Contenders[0].Samples[0].Values["doubles"] = 1
	require.Contains(t, strings.Join(r.Races[0].verdicts(), "\n"), "double claims: 1, should be 0: **missed**.")
}

func TestWhatMustNeverHappenFailsTheRun(t *testing.T) {
	t.Parallel()
	r := aRun()
	require.Empty(t, r.wrong())
	r.Races[0].Contenders[1].Samples[0].Values["doubles"] = 1
	require.Empty(t, r.wrong(), "what others do is told")
	r.Races[0].Contenders[0].Samples[1].Values["doubles"] = 1
	require.Len(t, r.wrong(), 1)
	require.ErrorContains(t, r.wrong()[0], "double claims is 1 and must be 0")
	r.Failures = []string{"claims, pg-boss: it is out"}
	require.Len(t, r.wrong(), 2)
}

func TestWhatTheMachineDidForOthersIsTold(t *testing.T) {
	t.Parallel()
	r := aRun().Races[0]
	r.Phase = "free"
	for _, c := range r.Contenders {
		c.Uses = []string{partPostgres}
	}
	r.Contenders[0].Samples[0].CPU = map[string]usage{"free": {partPostgres: 9, usageClient: 1, usageOthers: 0.9}}
	r.Contenders[1].Samples[0].CPU = map[string]usage{"free": {partPostgres: 2, usageOthers: 6}}
	var b strings.Builder
	r.table(&b, nil)
	require.Contains(t, b.String(), "! In 1 of 2 samples of pg-boss the machine did up to 300 % as much for others")
	require.NotContains(t, b.String(), "samples of "+ours)
	require.Contains(t, b.String(), "of pg-boss, aim ≥ 0.50: ! not claimed, the machine did much for others meanwhile (0.50, 0.61).")
	r.Figures[0].Unit, r.Figures[0].Bound = "/s", 500
	require.Contains(t, strings.Join(r.verdicts(), "\n"), "of pg-boss, aim ≥ 0.50: met (0.50, 0.61).", "that is no figure of CPU")
	r.Figures[0].CPU = true
	require.Contains(t, strings.Join(r.verdicts(), "\n"), "aim ≥ 500/s: met (900/s, 1,100/s).", "ours was left alone")
}

func TestMediansOfTheBenchAreNotPutTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := filepath.Join(dir, "run.json")
	r := aRun()
	r.Races[0].Told = true
	require.NoError(t, r.keep(run))
	_, err := readAll([]string{run})
	require.NoError(t, err)
	_, err = readAll([]string{run, run})
	require.ErrorContains(t, err, "name one of them")
}

func TestReportFillsThePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, page := filepath.Join(dir, "run.json"), filepath.Join(dir, "page.md")
	require.NoError(t, aRun().keep(run))
	before := "# Page\n<!-- contracts: begin (race report) -->\nold\n<!-- contracts: end -->\ntext\n<!-- results: begin -->\n<!-- results: end -->\nlast\n"
	require.NoError(t, os.WriteFile(page, []byte(before), 0o600))
	args := []string{"-results", run, "-page", page, "-plots", filepath.Join(dir, "images")}
	require.NoError(t, reportMain(args, &strings.Builder{}, &strings.Builder{}))
	once, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(once), "| the call |")
	require.NotContains(t, string(once), "\nold\n")
	require.Contains(t, string(once), "](images/claims-1-bars.svg)")
	require.True(t, strings.HasSuffix(string(once), "<!-- results: end -->\nlast\n"))
	svg, err := os.ReadFile(filepath.Join(dir, "images", "claims-1-bars.svg"))
	require.NoError(t, err)
	require.Contains(t, string(svg), "claim &amp; submit")
	require.FileExists(t, filepath.Join(dir, "images", "claims-1-latency.svg"))

	require.NoError(t, reportMain(args, &strings.Builder{}, &strings.Builder{}))
	kept := filepath.Join(dir, "kept.json")
	require.NoError(t, reportMain([]string{"-results", run + "," + run, "-keep", kept}, &strings.Builder{}, &strings.Builder{}))
	both, err := readResults(kept)
	require.NoError(t, err)
	require.Len(t, both.Races, 1, "what has one title becomes one race")
	require.Len(t, both.Races[0].Contenders[0].Samples, 4)
	require.InDelta(t, 1.01, both.Races[0].Noise["rate"], 0)
	require.Equal(t, 2, both.Races[0].Rounds)
	require.Len(t, both.Races[0].Runs, 2, "when each was")

	twice, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, string(once), string(twice), "a second time changes nothing")

	_, err = between([]byte("no markers"), "results", "x")
	require.Error(t, err)
}

func TestContractsAreThereForAll(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, c := range contracts {
		keys[c.key] = true
		for _, row := range contractRows {
			require.NotEmpty(t, row.of(c), "%s, %s", c.key, row.title)
		}
	}
	for _, race := range raceContracts {
		for _, key := range race.keys {
			require.True(t, keys[key], key)
		}
	}
}

func TestThePageHasTheContracts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/benchmarks.md")
	require.NoError(t, err)
	require.Contains(t, string(page), strings.TrimSpace(contractTables()), "`race report -contracts -page ../docs/benchmarks.md` writes them")
}

func TestInUnit(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1,234,567 ms": inUnit(1234567, "ms"), "12.3 ms": inUnit(12.34, "ms"), "0.12": inUnit(0.123, ""), "999/s": inUnit(999, "/s"),
		"-1,000": inUnit(-1000, ""),
	} {
		require.Equal(t, want, got)
	}
}

// What is kept with the sources tells what was run, not where.
func TestAKeptRunNamesNoPlaceOfAMachine(t *testing.T) {
	t.Parallel()
	r := &results{Options: []string{"-only", "flow", "-results", "/srv/runs/a.json", "-taskloom", "../bin/taskloom", "-cache=/srv/cache"}}
	doc, err := r.coarse()
	require.NoError(t, err)
	require.Contains(t, string(doc), `"-results","a.json","-taskloom","../bin/taskloom","-cache=cache"`)
	require.NotContains(t, string(doc), "/srv")
	require.Equal(t, "/srv/runs/a.json", r.Options[3], "the run itself stays as it is")
}
