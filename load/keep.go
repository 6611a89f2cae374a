package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/taskloom/taskloom/load/internal/series"
)

// keptMost are the points that a series has in the copy that the repository keeps: in
// half an hour the least and the most of every 25 seconds. More than 60 series with
// all points would be a megabyte a run.
const keptMost = 150

// kept are the results with fewer points; series.Bounded says which. Times are to a
// tenth of a second and values to a hundredth there, which is finer than any drawing.
// All else stays.
func (r *results) kept() *results {
	out := *r
	out.Series = make(map[string]series.Series, len(r.Series))
	for name, s := range r.Series {
		s = s.Bounded(keptMost)
		out.Series[name] = series.Series{Unit: s.Unit, Seconds: coarse(s.Seconds, 10), Values: coarse(s.Values, 100)}
	}
	return &out
}

// coarse are values to the nearest of so many parts of one.
func coarse(values []float64, parts float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Round(v*parts) / parts
	}
	return out
}

// keep writes results on one line: with a line for each number most of it would be
// space.
func (r *results) keep(to string) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return place(to, append(raw, '\n'))
}

// place writes a file, also where its directory is yet to be made.
func place(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make room for %s: %w", name, err)
	}
	return os.WriteFile(name, content, 0o644)
}
