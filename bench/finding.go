package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// finding is what a part tells that is no race: figures, some with an aim of
// their own, and how they went over time.
type finding struct {
	Part    string   `json:"part"`
	Case    string   `json:"case"`
	Figures []figure `json:"figures"`
	// Series are samples at equal distances in time.
	Series map[string]series `json:"series,omitempty"`
	Load   [2]float64        `json:"load"`
}

// figure is one number. Most and Least are aims; 0 is none, but for exact ones.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	Most  float64 `json:"most,omitempty"`
	Least float64 `json:"least,omitempty"`
	// None says that the figure should be 0.
	None bool `json:"none,omitempty"`
}

// series is a curve.
type series struct {
	EverySeconds float64   `json:"every_seconds"`
	Values       []float64 `json:"values"`
}

// find begins a finding, which is in the report from now on.
func (b *bench) find(what string) *finding {
	f := &finding{Part: b.part, Case: what, Load: [2]float64{loadAverage(), loadAverage()}}
	b.report.Findings = append(b.report.Findings, f)
	return f
}

func (f *finding) add(figures ...figure) {
	for _, x := range figures {
		x.Value = finite(x.Value)
		f.Figures = append(f.Figures, x)
	}
	f.Load[1] = loadAverage()
}

// note says once what the report must not hide.
func (b *bench) note(format string, args ...any) {
	n := b.part + ": " + fmt.Sprintf(format, args...)
	b.report.Notes = append(b.report.Notes, n)
	b.say("  note: %s", n)
}

func (r *report) findings(w io.Writer) {
	if len(r.Findings) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "\n| part\t| case\t| figure\t| value\t| aim\t|")
	fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|")
	for _, f := range r.Findings {
		part, what := f.Part, f.Case
		for _, x := range f.Figures {
			fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %s\t| %s\t|\n", part, what, x.Name, x.value(x.Value), x.aim())
			part, what = "", "" // of the figures below as well
		}
	}
	_ = t.Flush() // what cannot be shown is in the file
}

func (x figure) value(v float64) string {
	digits := 0
	if v != math.Trunc(v) && math.Abs(v) < 100 {
		digits = 1
		if math.Abs(v) < 10 {
			digits = 2
		}
	}
	s := fmt.Sprintf("%.*f", digits, v)
	if x.Unit != unitNone {
		s += " " + x.Unit
	}
	return s
}

func (x figure) aim() string {
	met := func(ok bool) string {
		if ok {
			return "met"
		}
		return "missed"
	}
	switch {
	case x.None:
		return "0, " + met(x.Value == 0)
	case x.Most > 0:
		return "≤ " + x.value(x.Most) + ", " + met(x.Value <= x.Most)
	case x.Least > 0:
		return "≥ " + x.value(x.Least) + ", " + met(x.Value >= x.Least)
	}
	return "–"
}
