package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aPart is a run of one round that some took part in, with what each did there and
// back.
func aPart(t *testing.T, name string, did map[string][]float64) string {
	t.Helper()
	r := aRun()
	x := r.Races[0]
	x.Contenders = nil
	for _, of := range []string{ours, "pg-boss", "bare statement"} {
		if did[of] == nil {
			continue
		}
		c := &contenderResult{info: info{Name: of, Version: "1"}}
		if of == ours {
			c.Contract = contractOurs
		}
		for _, v := range did[of] {
			c.Samples = append(c.Samples, &sample{Values: map[string]float64{"rate": v, "doubles": 0}})
		}
		x.Contenders = append(x.Contenders, c)
	}
	name = filepath.Join(t.TempDir(), name)
	require.NoError(t, r.keep(name))
	return name
}

// A race that is split by its contenders says nothing of those who took no turns.
func TestOnlyWhoRanTogetherIsCompared(t *testing.T) {
	t.Parallel()
	with := aPart(t, "a.json", map[string][]float64{ours: {900, 1100}, "pg-boss": {1800, 1800}})
	alone := aPart(t, "b.json", map[string][]float64{ours: {4000, 4000}, "bare statement": {8000, 8000}})
	theirs := aPart(t, "c.json", map[string][]float64{"pg-boss": {1800, 1800}, "bare statement": {8000, 8000}})
	tables := func(names ...string) (*raceResult, string) {
		r, err := readAll(names)
		require.NoError(t, err)
		var b strings.Builder
		writeTables(&b, r)
		return r.Races[0], b.String()
	}

	x, page := tables(with, alone)
	require.Contains(t, page, "0.56 of pg-boss, aim ≥ 0.50: met (0.50, 0.61).", "what ours did in the other run does not count")
	require.Contains(t, page, "medians of 1 to 2 rounds")
	require.Contains(t, page, "! Of 2 runs (Taskloom, pg-boss; Taskloom, bare statement). Only within a run")
	x.Figures[0].Bound = 800
	require.Contains(t, strings.Join(x.verdicts(), "\n"), "aim ≥ 800/CPU-s: met (1,000/CPU-s, 4,000/CPU-s).", "by itself it has all its rounds")

	_, page = tables(alone, theirs)
	require.Contains(t, page, "beside pg-boss, aim ≥ 0.50: ! not claimed, both were in no run together.")

	_, page = tables(with, with)
	require.Contains(t, page, "0.56 of pg-boss, aim ≥ 0.50: met (0.56, 0.56).")
	require.Contains(t, page, "medians of 2 rounds")
	require.NotContains(t, page, "Only within a run")

	broken := aPart(t, "d.json", map[string][]float64{ours: {900}, "pg-boss": {1800, 1800}})
	_, page = tables(with, broken)
	require.Contains(t, page, "aim ≥ 0.50: ! not claimed, what each round says is not known.", "one of the runs was broken off")
}

func TestRunsThatDoNotFitStayApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, doc string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(doc), 0o600))
		return name
	}
	once := write("once.json", `{"races": [{"race": "chaos", "title": "faults", "rounds": 1, "once": true}]}`)
	back := write("back.json", `{"races": [{"race": "chaos", "title": "faults", "rounds": 3}]}`)
	_, err := readAll([]string{once, back})
	require.ErrorContains(t, err, "one turn each in one of the runs")

	old := write("old.json", `{"races": [{"race": "flow", "title": "t", "contenders": [{"name": "Taskloom", "version": "aaaaaaa"}]}]}`)
	young := write("young.json", `{"races": [{"race": "flow", "title": "t", "contenders": [{"name": "Taskloom", "version": "bbbbbbb"}]}]}`)
	r, err := readAll([]string{old, young, young})
	require.NoError(t, err)
	require.Equal(t, "aaaaaaa and bbbbbbb", r.Races[0].Contenders[0].Version)
}
