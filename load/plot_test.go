package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/load/internal/series"
)

// made are results with as many tables as there are, more points than a drawing has,
// and a worker that was killed and began anew.
func made() *run {
	r := &run{options: options{script: "peak", serves: 2, workers: 2}}
	for i := range 1000 {
		at := time.Duration(i) * 2 * time.Second
		add := func(name, unit string, v float64) { r.series.Add(name, unit, at, v) }
		for n := range 2 {
			add(fmt.Sprintf("memory serve-%d", n+1), "MB", 70+20*math.Sin(float64(i)/50)+float64(n))
		}
		if i < 360 || i > 380 {
			add("memory worker-2", "MB", float64(50+i%360))
		}
		add("memory postgres", "MB", 900+float64(i)/10)
		for k, table := range watched {
			add("dead tuples "+table, "rows", float64(k*1000+i%100))
			add("dead share "+table, "%", float64(k)/10)
		}
		add("outbox depth", "rows", float64(i%50))
		add("outbox oldest", "s", 0)
		add("WAL", "MB", 5_000_000+3*float64(i))
		add("CPU load", "s", float64(i))
	}
	return r
}

func madeResults(t *testing.T, s map[string]series.Series) *results {
	t.Helper()
	return &results{
		Script: "peak", Began: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC), Machine: machine{Revision: "a<b"}, Series: s,
		Options: map[string]string{"serves": "2", "workers": "2"},
		Phases:  []phase{{warmup, 0}, {"peak", 30 * time.Second}, {workerLost, 12 * time.Minute}, {"after", time.Hour}},
	}
}

func TestASeriesIsDrawn(t *testing.T) {
	t.Parallel()
	r := made()
	out := madeResults(t, r.series.All())
	text, err := out.drawing()
	require.NoError(t, err)
	require.Equal(t, len(panels), wellFormed(t, text)["panel"], "each has something here")
	require.Equal(t, 3+1+6+6+1+1+1, strings.Count(text, "<polyline"))
	has := func(said string) bool { return strings.Contains(text, said) } // nobody wants to read all of it in an error
	require.True(t, has("peak, 2 serve and 2 worker, at a&lt;b, begun 2026-11-27 08:00 UTC"))
	for _, said := range []string{">worker-2<", ">api_keys<", ">worker-lost<", ">10 min<", ">3,000<", ">10,000<"} {
		require.True(t, has(said), said)
	}
	for said, why := range map[string]string{
		"5,000,000": "WAL counts from the beginning", "CPU": "it is not drawn", ">task_nodes<": "a table with few dead rows",
		">after<": "a phase that was never reached", "NaN": "no number",
	} {
		require.False(t, has(said), why)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if _, points, ok := strings.Cut(line, `points="`); ok {
			require.LessOrEqual(t, len(strings.Fields(points)), pointsMost)
		}
	}
}

// wellFormed reads a drawing and counts its titles of panels.
func wellFormed(t *testing.T, text string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return seen
		}
		require.NoError(t, err)
		if said, ok := token.(xml.CharData); ok {
			for _, p := range panels {
				if string(said) == p.title {
					seen["panel"]++
				}
			}
		}
	}
}

func TestWhatIsMissingIsNotDrawn(t *testing.T) {
	t.Parallel()
	text, err := madeResults(t, map[string]series.Series{
		"outbox depth": {Seconds: []float64{0, 5}, Values: []float64{0, 0}}, "WAL": {Unit: "MB"},
	}).drawing()
	require.NoError(t, err)
	require.Equal(t, 1, wellFormed(t, text)["panel"])
	require.NotContains(t, text, "NaN")
	for name, s := range map[string]map[string]series.Series{
		"nothing":    nil,
		"a look":     {"outbox depth": {Seconds: []float64{0}, Values: []float64{3}}},
		"other ones": {"CPU load": {Seconds: []float64{0, 5}, Values: []float64{0, 1}}},
	} {
		_, err := madeResults(t, s).drawing()
		require.ErrorContains(t, err, "there are no series", name)
	}
}

func TestDrawingNeedsNoStack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "peak.json"), filepath.Join(dir, "images", "peak.svg")
	r := made()
	r.results, r.stdout = from, io.Discard
	out := madeResults(t, r.series.Bounded(pointsMost))
	require.NoError(t, r.write(*out))
	require.NoError(t, start(t.Context(), []string{"-plot", from, "-o", to}, io.Discard, io.Discard))
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, len(panels), wellFormed(t, string(text))["panel"])
	require.ErrorContains(t, start(t.Context(), []string{"-plot", from}, io.Discard, io.Discard), "go together")
	require.ErrorContains(t, start(t.Context(), []string{"-plot", filepath.Join(dir, "none.json"), "-o", to}, io.Discard, io.Discard), "read results")
}

func TestNumbersOnAnAxis(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0": told(0), "0.3": told(0.1 * 3), "1,500": told(1500), "-20,000": told(-20_000), "12,345,600": told(12_345_600),
		"30 s": toldTime(30), "1.5 min": toldTime(90), "10 min": toldTime(600), "2 h": toldTime(7200),
	} {
		require.Equal(t, want, got)
	}
}
