package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/taskloom/taskloom/internal/measure/procfs"
	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
	"github.com/taskloom/taskloom/load/internal/series"
)

// pointsMost are the points of a series that a file keeps: a day has 17,280.
const pointsMost = 400

// results is the file that a run leaves.
type results struct {
	Script     string                   `json:"script"`
	Began      time.Time                `json:"began"`
	Seconds    float64                  `json:"seconds"`
	Machine    machine                  `json:"machine"`
	Options    map[string]string        `json:"options"`
	Phases     []phase                  `json:"phases,omitempty"`
	Verdicts   []slo.Judged             `json:"verdicts,omitempty"`
	Unmeasured []string                 `json:"unmeasured,omitempty"`
	Latencies  []record.Line            `json:"latencies,omitempty"`
	Failures   map[string]string        `json:"first_failures,omitempty"`
	Skipped    map[string]int64         `json:"skipped,omitempty"`
	Numbers    map[string]float64       `json:"numbers,omitempty"`
	Trends     []series.Trend           `json:"trends,omitempty"`
	Series     map[string]series.Series `json:"series,omitempty"`
	Notes      []string                 `json:"notes,omitempty"`
	Found      any                      `json:"found,omitempty"`
}

// machine is what the figures were taken on.
type machine struct {
	Cores     int    `json:"cores"`
	Kernel    string `json:"kernel"`
	Go        string `json:"go"`
	Postgres  string `json:"postgres"`
	Revision  string `json:"revision,omitempty"`
	Load      string `json:"load_average"`
	Autogroup string `json:"sched_autogroup,omitempty"`
}

// noteSharing tells what it does to the figures that Linux shares the processors by
// session: each backend of Postgres gets as much as Temporal, S3, the product and this
// program together, which all belong to one and wait for it.
func (r *run) noteSharing(autogroup string) {
	if autogroup == "1" {
		r.note("Linux shares the processors by session here, as for a desktop: where they are full, the product waits for Postgres. " +
			"`sysctl kernel.sched_autogroup_enabled=0` makes it a server (docs/load.md). It has no effect in containers")
	}
}

func (r *run) describe(ctx context.Context) machine {
	read := func(name string) string {
		raw, _ := os.ReadFile(name) // empty where there is none
		return strings.TrimSpace(string(raw))
	}
	m := machine{
		Cores: runtime.NumCPU(), Kernel: read("/proc/sys/kernel/osrelease"), Go: runtime.Version(), Load: read("/proc/loadavg"),
		Autogroup: procfs.Autogroup(),
	}
	_ = r.pool.QueryRow(ctx, `SHOW server_version`).Scan(&m.Postgres)                     // left out then
	raw, _ := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output() // likewise
	m.Revision = strings.TrimSpace(string(raw))
	return m
}

func (r *run) base() results {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return results{
		Script: r.script, Began: r.began.UTC(), Seconds: time.Since(r.began).Seconds(), Machine: r.describe(ctx),
		Options: map[string]string{
			"dur": r.dur.String(), "tasks": strconv.Itoa(r.tasks), "scale": fmt.Sprint(r.scale), "gate": fmt.Sprint(r.gate),
			"compress": fmt.Sprint(r.compress), "serves": strconv.Itoa(r.serves), "workers": strconv.Itoa(r.workers),
			"seed": strconv.FormatUint(r.seed, 10), "runs": r.runs, "archive": fmt.Sprintf("%dx%d", r.archive.files, r.archive.size),
		},
		Numbers: r.numbers.get(), Notes: r.notes.get(),
	}
}

// finish checks, judges, prints and writes. It fails when an objective is missed.
func (r *run) finish() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	failed := r.end(ctx)
	r.sum()
	out := r.base()
	out.Phases, out.Latencies, out.Failures = r.phases.get(), r.rec.Lines(), r.rec.Failures()
	out.Skipped, out.Unmeasured = r.facts.skipped, slo.Unmeasured
	out.Trends, out.Series = r.series.Trends(), r.series.Bounded(pointsMost)
	out.Verdicts = slo.Judge(slo.Measured{Times: func(op string) slo.Sample { return r.judged(op) }, Numbers: out.Numbers, Must: r.must()}, r.gate)
	r.print(out)
	return errors.Join(failed, r.write(out), missed(out.Verdicts))
}

// end takes the last look, and tells what makes all figures worthless.
func (r *run) end(ctx context.Context) error {
	failed := errors.Join(r.lastLook(ctx), r.check(ctx), r.noneCreated(), errors.Join(r.failures.get()...))
	if dead := r.cluster.dead(); len(dead) > 0 {
		failed = errors.Join(failed, fmt.Errorf("%s ended during the run", strings.Join(dead, ", ")))
	}
	if n := r.loop.LeftOut(); n > 0 {
		failed = errors.Join(failed, fmt.Errorf("%d requests were never sent: too many were open; the run counts for nothing", n))
	}
	return failed
}

// lastLook ends the series and the last interval of the log of histograms, also
// where a script has ended the series before.
func (r *run) lastLook(ctx context.Context) error {
	r.stopWatching(ctx)
	return r.rec.Rotate(time.Now())
}

// noneCreated tells of creations of which none succeeded: what a script creates
// is half of what it is about.
func (r *run) noneCreated() (failed error) {
	for _, op := range creationOps {
		of := func(take func(record.Class) bool) int64 {
			return r.rec.Select(func(k record.Key) bool { return k.Op == op && take(k.Class) }).N()
		}
		tried, done := of(func(c record.Class) bool { return c != record.OK }), of(func(c record.Class) bool { return c == record.OK })
		if tried > 0 && done == 0 {
			failed = errors.Join(failed, fmt.Errorf("none of %d tries of %s succeeded; the first error: %q; the table tells all by outcome",
				tried, op, r.rec.Failures()[op]))
		}
	}
	return failed
}

func missed(verdicts []slo.Judged) error {
	if slo.AnyMissed(verdicts) {
		return errMissed
	}
	return nil
}

// judged are the latencies that objectives are about: admitted requests, and
// neither those of the first seconds nor those of an overload. A refusal is
// judged for its own speed.
func (r *run) judged(op string) record.Summary {
	if op == slo.Lateness {
		return r.late.Select(func(k record.Key) bool { return counts(k.Phase) })
	}
	return r.rec.Select(func(k record.Key) bool {
		if op == "refusal" {
			return k.Class == record.Refused && strings.HasPrefix(k.Phase, overload)
		}
		if op == "step" && (k.Phase == "outage" || k.Phase == workerLost) {
			return false // other objectives are about these
		}
		return k.Op == op && k.Class == record.OK && counts(k.Phase)
	})
}

// counts tells whether a phase is one in which objectives hold.
func counts(phase string) bool {
	return phase != warmup && phase != "recovery" && !strings.HasPrefix(phase, overload)
}

// creationOps are the creations that people wait for.
var creationOps = []string{"create-5000", "create-32mb"}

// sum adds up what is told as numbers.
func (r *run) sum() {
	r.sumAvailability()
	r.sumRefused()
	r.sumTooLate()
	r.sumLeftOut()
	r.sumMemory()
	r.sumDisk()
	if archives := r.facts.archives; len(archives) > 0 {
		r.number(slo.IngestRate, ingestRate(archives))
	}
	if rates := r.facts.walkRates; len(rates) > 0 {
		r.number(slo.WalkRate, slices.Min(rates))
	}
	r.sumPolls()
	late := r.late.Select(func(k record.Key) bool { return !counts(k.Phase) })
	r.number("this program late where nothing is judged, p99 ms", slo.Millis(late.Quantile(99)))
	r.number("steps not seen within 30 s", float64(r.facts.overdue.Load()))
}

// finishBare keeps what a script without objectives of its own found. What
// must never happen may not happen there either.
func (r *run) finishBare() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	failed := r.end(ctx)
	r.sumAvailability()
	r.sumRefused()
	out := r.base()
	out.Found = r.bare
	none := func(string) slo.Sample { return r.rec.Select(func(record.Key) bool { return false }) }
	measured := slo.Measured{Times: none, Numbers: out.Numbers, Must: r.must()}
	out.Verdicts = slices.DeleteFunc(slo.Judge(measured, r.gate), func(j slo.Judged) bool { return j.Verdict == slo.Unknown })
	for _, what := range out.Notes {
		fmt.Fprintln(r.stdout, "note:", what)
	}
	printVerdicts(r.stdout, out.Verdicts)
	return errors.Join(failed, r.write(out), missed(out.Verdicts))
}

func (r *run) write(out results) error {
	raw, err := json.MarshalIndent(out, "", " ")
	if err == nil {
		err = os.WriteFile(r.results, append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	fmt.Fprintln(r.stdout, "\nEverything, series included:", r.results)
	return nil
}

func (r *run) print(out results) {
	w := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nphase\toperation\toutcome\tn\tp50 ms\tp95 ms\tp99 ms\tmax ms\t\n")
	for _, l := range out.Latencies {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t\n", l.Phase, l.Op, l.Class, l.N, l.P50, l.P95, l.P99, l.Max)
	}
	_ = w.Flush() // to where the rest goes
	printTrends(r.stdout, out.Trends)
	for _, name := range slices.Sorted(maps.Keys(out.Numbers)) {
		fmt.Fprintf(r.stdout, "%s: %.6g\n", name, out.Numbers[name])
	}
	for _, why := range slices.Sorted(maps.Keys(out.Skipped)) {
		fmt.Fprintf(r.stdout, "left out, %s: %d\n", why, out.Skipped[why])
	}
	for _, op := range slices.Sorted(maps.Keys(out.Failures)) {
		fmt.Fprintf(r.stdout, "first failure of %s: %s\n", op, out.Failures[op])
	}
	for _, what := range append(out.Unmeasured, out.Notes...) {
		fmt.Fprintln(r.stdout, "note:", what)
	}
	printVerdicts(r.stdout, out.Verdicts)
}

func printVerdicts(out io.Writer, verdicts []slo.Judged) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nobjective\tis\tgate here\tn\tp50 ms\tp99 ms\tmeasured\tverdict\n")
	for _, j := range verdicts {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.1f\t%.1f\t%.6g\t%s\n", j.Name, j.Objective, j.Gate, j.N, j.P50, j.P99, j.Value, j.Verdict)
	}
	_ = w.Flush() // to where the rest goes
}

func printTrends(out io.Writer, trends []series.Trend) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nover time\tunit\tfirst\tmin\tmax\tlast\tslope/h\t\n")
	for _, t := range trends {
		if t.Min == t.Max {
			continue // nothing happened there
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", t.Name, t.Unit, t.First, t.Min, t.Max, t.Last, t.Slope)
	}
	_ = w.Flush() // to where the rest goes
	fmt.Fprintln(out)
}
