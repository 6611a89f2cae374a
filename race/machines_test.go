package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aMachine has a product and one setting of Postgres.
func aMachine(product, wal string) *machine {
	return &machine{
		CPU: "A processor", Cores: 2, MemoryGB: 23.5, Kernel: "6", Postgres: "15.18", Go: "go1.26.8", Product: "taskloom " + product + ", commit unknown",
		Settings: map[string]string{"fsync": "on", "min_wal_size": wal, "port": product}, LSCPU: []string{"Model:   17"},
	}
}

// keptRun writes a run down as a run does: one race, on one machine.
func keptRun(t *testing.T, name, title string, m *machine) string {
	t.Helper()
	r := &results{}
	r.begin(m)
	x := aRun().Races[0]
	x.Title = title
	r.add(x)
	name = filepath.Join(t.TempDir(), name)
	require.NoError(t, r.keep(name))
	return name
}

// The product and the settings of a race are those that it ran with, whatever is put
// beside it.
func TestEachRaceKeepsWhatItRanOn(t *testing.T) {
	t.Parallel()
	old, young := keptRun(t, "a.json", "one", aMachine("aaaaaaa", "80MB")), keptRun(t, "b.json", "two", aMachine("bbbbbbb", "1GB"))
	kept := filepath.Join(t.TempDir(), "kept.json")
	require.NoError(t, reportMain([]string{"-results", old + "," + young, "-keep", kept}, &strings.Builder{}, &strings.Builder{}))
	r, err := readAll([]string{kept}) // as it is published
	require.NoError(t, err)
	require.Equal(t, "80MB", r.Races[0].Runs[0].Machine.Settings["min_wal_size"])
	require.Equal(t, "1GB", r.Races[1].Runs[0].Machine.Settings["min_wal_size"])
	require.Equal(t, []string{"Model:   17"}, r.Races[1].Runs[0].Machine.LSCPU)
	require.NotEmpty(t, r.Races[0].Runs[0].Date)
	require.NotEmpty(t, r.Races[0].Runs[0].LoadAfter)

	var b strings.Builder
	writeTables(&b, r)
	require.True(t, strings.HasPrefix(b.String(), "A processor, 2 cores, 23.5 GB, kernel 6, Postgres 15.18, go1.26.8"), b.String())
	require.Contains(t, b.String(), "; taskloom aaaaaaa, min_wal_size 80MB.\n")
	require.Contains(t, b.String(), "; taskloom bbbbbbb, min_wal_size 1GB.\n")
	require.NotContains(t, b.String(), "fsync", "they have it in common")

	long := aMachine("ddddddd", strings.Repeat("é", 100))
	r, err = readAll([]string{old, keptRun(t, "d.json", "one", long)})
	require.NoError(t, err)
	b.Reset()
	writeTables(&b, r)
	require.Contains(t, b.String(), "; taskloom ddddddd, min_wal_size "+strings.Repeat("é", 47)+"….\n", "the page has the beginning")

	server := aMachine("bbbbbbb", "1GB")
	server.Autogroup = "0"
	r, err = readAll([]string{young, keptRun(t, "e.json", "three", server)})
	require.NoError(t, err)
	b.Reset()
	writeTables(&b, r)
	require.Contains(t, b.String(), "; sched_autogroup_enabled unknown.\n")
	require.Contains(t, b.String(), "; sched_autogroup_enabled 0.\n")

	again := keptRun(t, "c.json", "one", aMachine("ccccccc", "1GB"))
	r, err = readAll([]string{old, again})
	require.NoError(t, err)
	b.Reset()
	writeTables(&b, r)
	require.Regexp(t, `; taskloom aaaaaaa, min_wal_size 80MB\. Begun .*; taskloom ccccccc, min_wal_size 1GB\.\n`, b.String(), "both runs of one race")
}

// Runs that were put together once had the machine of the first, which is not theirs.
func TestAMachineThatIsNotARacesIsNotShown(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "old.json")
	require.NoError(t, os.WriteFile(name, []byte(`{"machine": {"date": "2026-11-22T20:43:25Z", "product": "taskloom aaaaaaa", "load_before": "1 2 3 4/5 6"}, "races": [
		{"race": "create", "title": "of that run", "runs": [{"date": "2026-11-22T20:43:25Z"}]},
		{"race": "flow", "title": "of another", "runs": [{"date": "2026-11-22"}]}]}`), 0o600))
	r, err := readAll([]string{name})
	require.NoError(t, err)
	require.Equal(t, "taskloom aaaaaaa", r.Races[0].Runs[0].Machine.Product)
	require.Nil(t, r.Races[1].Runs[0].Machine)
	var b strings.Builder
	writeTables(&b, r)
	require.Contains(t, b.String(), "Where a race does not say that this was not kept: ")
	require.Contains(t, b.String(), "Begun 2026-11-22; what it ran on was not kept.")

	require.NoError(t, os.WriteFile(name, []byte(`{"machine": {"date": "2026-11-22T20:43:25Z", "product": "taskloom aaaaaaa", "load_before": "1 2 3 4/5 6"}, "races": [
		{"race": "create", "title": "a run as it was kept"}]}`), 0o600))
	r, err = readAll([]string{name})
	require.NoError(t, err)
	require.Equal(t, "taskloom aaaaaaa", r.Races[0].Runs[0].Machine.Product)
	require.Equal(t, "1 2 3 4/5 6", r.Races[0].Runs[0].LoadBefore)

	require.NoError(t, os.WriteFile(name, []byte(`{"races": [{"race": "flow", "title": "of another", "runs": [{"date": "2026-11-22"}]}]}`), 0o600))
	r, err = readAll([]string{name})
	require.NoError(t, err)
	b.Reset()
	writeTables(&b, r)
	require.True(t, strings.HasPrefix(b.String(), "What they ran on, the machine, its versions and its settings, was kept with none of these races."), b.String())
}
