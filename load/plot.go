package main

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taskloom/taskloom/load/internal/series"
)

// panel is one of the curves' fields in a drawing: all series whose names begin with
// one of these.
type panel struct {
	title  string
	begins []string
	most   int  // of the series, those with the highest values; all when 0
	gained bool // what has come since the beginning
}

var panels = []panel{
	{title: "memory of serve and worker, MB", begins: []string{"memory serve", "memory worker"}},
	{title: "memory of Postgres and Temporal, MB", begins: []string{"memory postgres", "memory temporal"}},
	{title: "dead rows, of the tables with most", begins: []string{"dead tuples "}, most: 6},
	{title: "dead rows, % of a table, of those with most", begins: []string{"dead share "}, most: 6},
	{title: "rows of the outbox", begins: []string{"outbox depth"}},
	{title: "oldest row of the outbox, s", begins: []string{"outbox oldest"}},
	{title: "WAL since the beginning, MB", begins: []string{"WAL"}, gained: true},
}

// curve is a series in a panel.
type curve struct {
	name string
	series.Series
}

// draw draws the series of a run's results as SVG. Where a copy of them is kept, it
// draws that one, so that the same picture can be drawn again.
func draw(from, keep, to string) error {
	r, err := readResults(from)
	if err != nil {
		return err
	}
	if keep != "" {
		r = r.kept()
	}
	drawing, err := r.drawing()
	if err != nil {
		return fmt.Errorf("draw %s: %w", from, err)
	}
	if keep != "" {
		if err := r.keep(keep); err != nil {
			return err
		}
	}
	return place(to, []byte(drawing))
}

func readResults(name string) (*results, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	var r results
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("read results %s: %w", name, err)
	}
	return &r, nil
}

// drawing has a field for each panel, one below the other, with one time.
func (r *results) drawing() (string, error) {
	type field struct {
		panel
		curves []curve
	}
	var fields []field
	until := 0.0
	for _, p := range panels {
		curves := p.choose(r.Series)
		for _, c := range curves {
			until = max(until, c.Seconds[len(c.Seconds)-1])
		}
		if len(curves) > 0 {
			fields = append(fields, field{p, curves})
		}
	}
	if len(fields) == 0 || until <= 0 {
		return "", errors.New("there are no series of memory, dead rows or the outbox")
	}
	d := newDrawing(len(fields), r.title(), until)
	d.phases(r.Phases)
	for _, f := range fields {
		d.field(f.title, f.curves)
	}
	return d.end(), nil
}

// title says which run it is.
func (r *results) title() string {
	t := fmt.Sprintf("%s, %s serve and %s worker", r.Script, r.Options["serves"], r.Options["workers"])
	if r.Machine.Revision != "" {
		t += ", at " + r.Machine.Revision
	}
	return t + r.Began.UTC().Format(", begun 2006-01-02 15:04 UTC")
}

// choose are the panel's curves, by name; of tables those with the highest values.
func (p panel) choose(all map[string]series.Series) []curve {
	var out []curve
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		begin := slices.IndexFunc(p.begins, func(b string) bool { return strings.HasPrefix(name, b) })
		if begin < 0 || len(s.Values) == 0 || len(s.Values) != len(s.Seconds) {
			continue
		}
		s = s.Bounded(pointsMost) // of a run that kept all
		if p.gained {
			first := s.Values[0]
			s.Values = slices.Clone(s.Values)
			for i := range s.Values {
				s.Values[i] -= first
			}
		}
		for _, kind := range []string{"memory ", "dead tuples ", "dead share "} {
			name = strings.TrimPrefix(name, kind)
		}
		out = append(out, curve{name, s})
	}
	if p.most > 0 && len(out) > p.most {
		highest := func(c curve) float64 { return slices.Max(c.Values) }
		slices.SortStableFunc(out, func(a, b curve) int { return cmp.Compare(highest(b), highest(a)) })
		out = out[:p.most]
	}
	return out
}

// told is a number with as many digits as somebody reads.
func told(v float64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // it has just been written
	whole, rest, fraction := strings.Cut(strconv.FormatFloat(short, 'f', -1, 64), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction {
		whole += "." + rest
	}
	return sign + whole
}

// toldTime is a time since the beginning.
func toldTime(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= time.Hour:
		return told(d.Hours()) + " h"
	case d >= time.Minute:
		return told(d.Minutes()) + " min"
	}
	return told(d.Seconds()) + " s"
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
