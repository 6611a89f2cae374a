package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// report is everything that a run found.
type report struct {
	Machine    machine    `json:"machine"`
	Rounds     int        `json:"rounds"`
	LargeTasks int        `json:"large_tasks"`
	Measures   []*measure `json:"measures"`
}

func (r *report) finish() { r.Machine.LoadAfter = firstLine("/proc/loadavg") }

// table prints the measures for people, as Markdown that reads as text too.
func (r *report) table(w io.Writer) {
	m := r.Machine
	fmt.Fprintf(w, "\n%s, %d cores, %.1f GB; Postgres %s, %s; %s; load %s before, %s after; %d rounds\n\n",
		m.CPU, m.Cores, m.MemoryGB, m.Postgres, m.Go, m.Date, m.LoadBefore, m.LoadAfter, r.Rounds)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| part\t| case\t| floor\t| ours\t| ratio\t| aim\t| noise\t| load\t|")
	fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, x := range r.Measures {
		fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %s\t| %s\t| %s\t| %.2f\t| %.1f..%.1f\t|\n",
			x.Part, x.Case, x.Floor.in(x.Unit), x.Ours.in(x.Unit), x.relation(x.Ratio), x.aim(), x.Noise, x.Load[0], x.Load[1])
	}
	_ = t.Flush() // what cannot be shown is in the file
	r.latencies(w)
}

// relation shows a ratio: of times as a multiple of the floor, of rates as a
// share of it.
func (m *measure) relation(ratio float64) string {
	if m.Unit == unitRate {
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
	if m.Unit == unitRate {
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
			fmt.Fprintln(t, "\n| latency in ms\t| floor p50\t| p95\t| p99\t| ours p50\t| p95\t| p99\t|")
			fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
		}
		f, o := x.FloorLatencies, x.OursLatencies
		if f == nil {
			f = latenciesOf(nil)
		}
		fmt.Fprintf(t, "| %s, %s\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t| %.2f\t|\n", x.Part, x.Case, f.P50, f.P95, f.P99, o.P50, o.P95, o.P99)
	}
	_ = t.Flush() // what cannot be shown is in the file
}

// write keeps the report as JSON.
func (r *report) write(name string) error {
	doc, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode results: %w", err)
	}
	if err := os.WriteFile(name, append(doc, '\n'), 0o644); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return nil
}
