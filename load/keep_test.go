package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatIsKeptIsDrawnAgain keeps results of more looks than the copy has.
func TestWhatIsKeptIsDrawnAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	load := func(args ...string) error { return start(t.Context(), args, io.Discard, io.Discard) }
	r := made()
	r.results, r.stdout = in("day.json"), io.Discard
	whole := madeResults(t, r.series.Bounded(pointsMost))
	whole.Trends = r.series.Trends()
	require.NoError(t, r.write(*whole))

	require.NoError(t, load("-plot", in("day.json"), "-keep", in("published/day.json"), "-o", in("day.svg")))
	require.NoError(t, load("-plot", in("published/day.json"), "-o", in("again.svg")))
	first, err := os.ReadFile(in("day.svg"))
	require.NoError(t, err)
	again, err := os.ReadFile(in("again.svg"))
	require.NoError(t, err)
	same := bytes.Equal(first, again) // nobody wants to read both in an error
	require.True(t, same, "what is drawn when a run is kept is what the copy shows")

	kept, err := readResults(in("published/day.json"))
	require.NoError(t, err)
	require.Len(t, kept.Series, len(whole.Series))
	for name, s := range kept.Series {
		full := whole.Series[name]
		require.Equal(t, full.Unit, s.Unit, name)
		require.LessOrEqual(t, len(s.Values), keptMost, name)
		require.Len(t, s.Seconds, len(s.Values), name)
		require.InDelta(t, slices.Min(full.Values), slices.Min(s.Values), 0.006, name)
		require.InDelta(t, slices.Max(full.Values), slices.Max(s.Values), 0.006, name)
		require.InDelta(t, full.Seconds[len(full.Seconds)-1], s.Seconds[len(s.Seconds)-1], 0.06, name)
	}
	is, err := os.Stat(in("published/day.json"))
	require.NoError(t, err)
	require.Less(t, is.Size(), int64(3000*len(kept.Series)), "with 60 to 70 series, less than 200 KB")
	kept.Series, whole.Series = nil, nil
	require.Equal(t, whole, kept, "all else is there")

	require.ErrorContains(t, load("-keep", in("none.json")), "goes with -plot")
}

// TestThePicturesAreOfThePublishedRuns looks at what the repository keeps.
func TestThePicturesAreOfThePublishedRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("results/published/*.json")
	require.NoError(t, err)
	for _, file := range files {
		r, err := readResults(file)
		require.NoError(t, err)
		_, err = r.drawing()
		require.NoError(t, err, file)
		name := strings.TrimSuffix(filepath.Base(file), ".json") + ".svg"
		picture, err := os.ReadFile(filepath.Join("..", "docs", "images", "load", name))
		require.NoError(t, err)
		title, _, _ := strings.Cut(string(picture), "</title>")
		require.Contains(t, title, escape(r.title()), "%s is of another run than %s", name, file)
		is, err := os.Stat(file)
		require.NoError(t, err)
		require.Less(t, is.Size(), int64(300_000), "%s is large: keep it with -keep", file)
	}
}
