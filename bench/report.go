package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// report is everything that a run found.
type report struct {
	Machine    machine    `json:"machine"`
	Rounds     int        `json:"rounds"`
	LargeTasks int        `json:"large_tasks"`
	Measures   []*measure `json:"measures"`
	Findings   []*finding `json:"findings,omitempty"`
	// Notes say what was left out, and why; Failures what broke.
	Notes    []string `json:"notes,omitempty"`
	Failures []string `json:"failures,omitempty"`
}

func (r *report) finish() { r.Machine.LoadAfter = firstLine("/proc/loadavg") }

// table prints the measures for people, as Markdown that reads as text too.
func (r *report) table(w io.Writer) {
	m := r.Machine
	fmt.Fprintf(w, "\n%s, %d cores, %.1f GB; Postgres %s, %s; %s; load %s before, %s after; %d rounds\n\n",
		m.CPU, m.Cores, m.MemoryGB, m.Postgres, m.Go, m.Date, m.LoadBefore, m.LoadAfter, r.Rounds)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	if len(r.Measures) > 0 {
		fmt.Fprintln(t, "| part\t| case\t| floor\t| ours\t| ratio\t| aim\t| noise\t| load\t|")
		fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	}
	loud := false
	for _, x := range r.Measures {
		noise := fmt.Sprintf("%.2f", x.Noise)
		if x.loud() {
			loud, noise = true, noise+" !"
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %.1f..%.1f\t|\n",
			x.Part, x.Case, x.Floor.in(x.Unit), x.Ours.in(x.Unit), x.relation(x.Ratio), x.aim(), noise, x.Load[0], x.Load[1])
	}
	_ = t.Flush() // what cannot be shown is in the file
	if loud {
		fmt.Fprintln(w, "\n! The floor against itself differs by more than 5 %: repeat it on a quiet machine before claiming anything.")
	}
	r.latencies(w)
	r.findings(w)
	for _, n := range r.Notes {
		fmt.Fprintln(w, "\nNote:", n)
	}
	for _, f := range r.Failures {
		fmt.Fprintln(w, "\nFAILED:", f)
	}
}

// loud reports whether the machine was too noisy for a claim.
func (m *measure) loud() bool { return math.Abs(m.Noise-1) > 0.05 }

// relation shows a ratio: of times as a multiple of the floor, of rates as a
// share of it.
func (m *measure) relation(ratio float64) string {
	if isRate(m.Unit) {
		return fmt.Sprintf("%.0f %%", 100/ratio)
	}
	return fmt.Sprintf("%.2fx", ratio)
}

func (m *measure) aim() string {
	if m.Aim == 0 {
		return "–"
	}
	met := "missed"
	if m.Ratio <= m.Aim {
		met = "met"
	}
	if isRate(m.Unit) {
		return fmt.Sprintf("≥ %s %s", m.relation(m.Aim), met)
	}
	return fmt.Sprintf("≤ %.1fx %s", m.Aim, met)
}

func (r *report) latencies(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	headed := false
	for _, x := range r.Measures {
		if x.OursLatencies == nil {
			continue
		}
		if !headed {
			headed = true
			fmt.Fprintln(t, "\n| latency in ms\t| floor p50\t| p95\t| p99\t| p99.9\t| ours p50\t| p95\t| p99\t| p99.9\t|")
			fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
		}
		f, o := x.FloorLatencies, x.OursLatencies
		if f == nil {
			f = latenciesOf(nil)
		}
		fmt.Fprintf(t, "| %s, %s\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t|\n", x.Part, x.Case,
			f.P50, f.P95, f.P99, f.P999, o.P50, o.P95, o.P99, o.P999)
	}
	_ = t.Flush() // what cannot be shown is in the file
}

// write keeps the report as JSON.
func (r *report) write(name string) error {
	doc, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if err := os.WriteFile(name, append(doc, '\n'), 0o644); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return nil
}
