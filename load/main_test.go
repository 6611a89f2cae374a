package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/load/internal/record"
)

// asCommand makes the test's binary the command, with these arguments.
const asCommand = "TASKLOOM_LOAD_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(asCommand); args != "" {
		if err := start(context.Background(), strings.Fields(args), os.Stdout, os.Stderr); err != nil {
			_, _ = os.Stderr.WriteString("load: " + err.Error() + "\n") // nobody else is told
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestBurst plays a small burst on a stack of its own: on a shared Temporal its
// worker would take other tests' work. What is tested is the command, so no
// machine is too slow for it; what a client was told must hold on any.
func TestBurst(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "burst.json")
	cmd := exec.CommandContext(t.Context(), stacktest.Binary(t, "taskloom-dev"), "exec", "--", self)
	cmd.Env = append(os.Environ(), asCommand+"=-script burst -tasks 2000 -dur 10s -scale 0.1 -gate 10000 -sample 1s -serves 2 -workers 2 -taskloom "+
		stacktest.Binary(t, "taskloom")+" -results "+file)
	out, ended := cmd.CombinedOutput()
	require.Contains(t, string(out), "claim the next task, p99")

	raw, err := os.ReadFile(file)
	require.NoError(t, err, "%s", out)
	var got results
	require.NoError(t, json.Unmarshal(raw, &got))
	// Other tests take the processors from this program, from those who claim and from
	// the product, which turns some away then: that alone may be missed.
	machine := false
	for _, v := range got.Verdicts {
		if slices.Contains([]string{slo.Lateness, slo.LeftOut, slo.Refused, slo.TooLate, slo.Availability, slo.WorkAvail}, v.SLI) {
			machine = machine || v.Verdict == slo.Missed
			continue
		}
		require.Contains(t, []slo.Verdict{slo.Met, slo.Unknown}, v.Verdict, "%s: %s", v.Name, out)
	}
	if !machine {
		require.NoError(t, ended, "%s", out)
	}
	claims := map[string]int64{}
	var failed, all int64
	for _, l := range got.Latencies {
		if counts(l.Phase) && promised(l.Op) {
			all += l.N
			if l.Class == record.Failed {
				failed += l.N
			}
		}
		if l.Class == record.OK {
			claims[l.Phase+" "+l.Op] += l.N
		}
	}
	require.LessOrEqual(t, 1000*failed, all, "errors and no answers: %s", out)
	// On a machine without a free core some get their answers late, or none.
	require.Positive(t, claims["shift-start claim"], "%s", out)
	require.LessOrEqual(t, claims["shift-start claim"], int64(50), "%s", out)
	require.LessOrEqual(t, claims["queue-empty claim"], int64(10), "the small queue holds no more: %s", out)
	require.Positive(t, claims["queue-empty claim-empty"], "%s", out)
	for _, name := range []string{slo.LostWrites, slo.DoubleClaims, slo.Duplicates} {
		require.Contains(t, got.Numbers, name)
		require.Zero(t, got.Numbers[name], name)
	}
	for _, name := range []string{"memory serve-1", "memory serve-2", "memory worker-2", "dead tuples task_nodes", "outbox depth", "applied lag"} {
		require.NotEmpty(t, got.Series[name].Values, name)
	}
	hlog, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".hlog")
	require.NoError(t, err)
	h, err := hdrhistogram.NewHistogramLogReader(bytes.NewReader(hlog)).NextIntervalHistogram()
	require.NoError(t, err)
	require.NotNil(t, h)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{"-script", "growth", "-sizes", "1000,5000"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []int{1000, 5000}, o.sizes)
	require.Equal(t, "on_first_claim", o.runs)
	for _, bad := range [][]string{
		{"-script", "nothing"}, {"-tasks", "10"}, {"-scale", "0"}, {"-sizes", "5000,1000"}, {"-archive", "10"}, {"-runs", "never"}, {"more"},
	} {
		_, err := parseOptions(bad, io.Discard)
		require.Error(t, err, "%v", bad)
	}
}

func TestSettledAfter(t *testing.T) {
	t.Parallel()
	from := time.Now()
	for name, c := range map[string]struct {
		good func(second int) bool
		gone func(second int) bool // nothing is known of it
		want time.Duration
	}{
		"always":            {good: func(int) bool { return true }},
		"what was before":   {good: func(s int) bool { return s >= 0 }},
		"from then on":      {good: func(s int) bool { return s >= 12 }, want: 15 * time.Second},
		"a short calm":      {good: func(s int) bool { return s < 10 || s >= 36 }, want: 40 * time.Second},
		"a late relapse":    {good: func(s int) bool { return s >= 12 && s < 36 || s > 37 }, want: 15 * time.Second},
		"too late":          {good: func(s int) bool { return s >= 43 }, want: never},
		"bad at the end":    {good: func(s int) bool { return s < 12 }, want: never},
		"a gap":             {good: func(int) bool { return true }, gone: func(s int) bool { return s >= 10 && s < 15 }, want: 15 * time.Second},
		"nothing was known": {good: func(int) bool { return true }, gone: func(int) bool { return true }, want: never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []observation
			for s := -5; s < 60; s++ {
				for range 10 {
					if c.gone == nil || !c.gone(s) {
						seen = append(seen, observation{from.Add(time.Duration(s) * time.Second), c.good(s)})
					}
				}
			}
			require.Equal(t, c.want, settledAfter(seen, from))
		})
	}
}

// TestADeadWorkerIsToldToTheSecond has looks as besideWorkers has them.
func TestADeadWorkerIsToldToTheSecond(t *testing.T) {
	t.Parallel()
	from := time.Now()
	for lagged, want := range map[time.Duration]time.Duration{
		0: 0, 400 * time.Millisecond: time.Second, 2200 * time.Millisecond: 3 * time.Second, 14800 * time.Millisecond: 15 * time.Second,
	} {
		var seen []observation
		for at := time.Duration(0); at < lagged+settled+2*lostStretch; at += lostLook {
			seen = append(seen, observation{from.Add(at), at >= lagged})
		}
		require.Equal(t, want, calmAfter(seen, from, lostStretch), lagged)
	}
}

// TestWhatIsJudged has one request in each phase.
func TestWhatIsJudged(t *testing.T) {
	t.Parallel()
	rec, err := record.New(time.Now(), nil)
	require.NoError(t, err)
	late, err := record.New(time.Now(), nil)
	require.NoError(t, err)
	for i, phase := range []string{warmup, "peak", "outage", "recovery", workerLost, overload + "-3x"} {
		late.Record(record.Key{Phase: phase, Op: slo.Lateness, Class: record.OK}, time.Duration(i)*time.Millisecond, 0, "")
		for _, op := range []string{"step", "claim"} {
			rec.Record(record.Key{Phase: phase, Op: op, Class: record.OK}, time.Millisecond, 200, "")
		}
		rec.Record(record.Key{Phase: phase, Op: "claim", Class: record.Refused}, time.Millisecond, 503, "")
		rec.Record(record.Key{Phase: phase, Op: "status-naive", Class: record.Limited}, time.Millisecond, 429, "")
	}
	r := &run{rec: rec, late: late}
	r.numbers.set(map[string]float64{})
	require.EqualValues(t, 3, r.judged("claim").N(), "the peak, the outage, and beside a lost worker")
	require.EqualValues(t, 1, r.judged("step").N(), "steps have other objectives in the last two")
	require.EqualValues(t, 1, r.judged("refusal").N(), "that of the overload, without what a key's limit did")
	require.EqualValues(t, 3, r.judged(slo.Lateness).N(), "the peak, the outage, and beside a lost worker")
	require.InDelta(t, 4, slo.Millis(r.judged(slo.Lateness).Quantile(100)), 0.01, "that of the overload is left out")
	r.sumRefused()
	require.InDelta(t, 50, r.numbers.get()[slo.Refused], 1e-9)
}

// TestLatenessIsOfItsPhase has this program begin one thing in the warm-up and
// one in a phase that counts.
func TestLatenessIsOfItsPhase(t *testing.T) {
	t.Parallel()
	r := standing(t, nil)
	var err error
	r.hlog, err = os.Create(filepath.Join(t.TempDir(), "hlog"))
	require.NoError(t, err)
	defer r.hlog.Close()
	require.NoError(t, r.reset())
	r.enter("peak", time.Hour)
	for _, due := range []time.Duration{0, 2 * time.Hour} {
		r.loop.Start(r.began.Add(due), func() {})
	}
	r.loop.Wait()
	require.EqualValues(t, 1, r.judged(slo.Lateness).N())
}

func TestReviewsCountInAnOverload(t *testing.T) {
	t.Parallel()
	require.Equal(t, windowLimits["claim"], windowLimits["claim-review"])
	require.Positive(t, windowLimits["claim-review"])
}

// TestWhatComesTooLate has one request of each kind in each phase.
func TestWhatComesTooLate(t *testing.T) {
	t.Parallel()
	rec, err := record.New(time.Now(), nil)
	require.NoError(t, err)
	r := &run{rec: rec}
	r.numbers.set(map[string]float64{})
	r.sumTooLate()
	require.NotContains(t, r.numbers.get(), slo.TooLate, "nothing was asked")
	for _, phase := range []string{warmup, "peak", "recovery", overload + "-3x"} {
		for op, class := range map[string]record.Class{
			"submit": record.OK, "claim": record.Refused, "status": record.OK, "extend": record.Stale,
			"foreign": record.Stale, "explorer": record.Stale, "status-naive": record.Stale, // no matter of theirs
		} {
			rec.Record(record.Key{Phase: phase, Op: op, Class: class}, time.Millisecond, 0, "")
		}
	}
	r.sumTooLate()
	require.InDelta(t, 25, r.numbers.get()[slo.TooLate], 1e-9, "a renewed lease, of four calls at the peak")
}

// TestAvailability has renewed leases fail among many polls, and claims turned away.
func TestAvailability(t *testing.T) {
	t.Parallel()
	rec, err := record.New(time.Now(), nil)
	require.NoError(t, err)
	r := &run{rec: rec}
	r.numbers.set(map[string]float64{})
	add := func(n int, op string, class record.Class) {
		for range n {
			rec.Record(record.Key{Phase: "peak", Op: op, Class: class}, time.Millisecond, 0, "")
		}
	}
	add(9000, "status", record.OK)
	add(500, "extend", record.OK)
	add(500, "extend", record.Failed)
	add(100, "draft", record.Failed) // too few to tell their share
	add(300, control, record.Stale)
	add(270, "verdict", record.OK)
	add(30, "verdict", record.Stale)
	add(190, "claim", record.OK)
	add(10, "claim", record.Refused)
	add(50, "list", record.Limited) // as it should be: no matter of the product's
	rec.Record(record.Key{Phase: overload + "-3x", Op: "claim", Class: record.Refused}, time.Millisecond, 503, "")
	r.sumAvailability()
	got := r.numbers.get()
	require.InDelta(t, 100*9990./10_600, got[slo.Availability], 1e-9, "of all calls")
	require.InDelta(t, 100*9490./9500, got[slo.WorkAvail], 1e-9, "of claim, submit, poll and create")
	require.InDelta(t, 50, got["failed most, % of extend"], 1e-9)
	require.InDelta(t, 10, got["came too late most, % of verdict"], 1e-9)
}

func TestProfileTimes(t *testing.T) {
	t.Parallel()
	three := busiest.times(3)
	require.InDelta(t, 18, three.Tasks, 1e-9)
	// As many people hold as many tasks.
	require.InDelta(t, busiest.Tasks*busiest.Handling.Seconds(), three.Tasks*three.Handling.Seconds(), 1e-6)
	require.InDelta(t, 6, busiest.Tasks, 1e-9, "the original stays")
}
