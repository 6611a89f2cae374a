package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lockedFor is the patience with a table that is locked: long for any other
// question to so small a database, on a busy machine, too.
const lockedFor = 3 * time.Second

// A check that runs out of its time is skipped by its name: what the others found
// is told, and the command does not end as if all were well.
func TestWhatRunsOutOfTimeIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	release := w.lock("count_changes") // kept-counts reads it, and no other check
	var out bytes.Buffer
	d := &doctor{store: w.Store}
	sick, err := d.deep(t.Context(), &app{out: &out, err: &out}, deepOptions{patience: lockedFor}, nil)
	require.NoError(t, err)
	require.True(t, sick, "nobody knows whether all is well")
	require.NotContains(t, out.String(), "FAIL")
	told := section(t, out.String(), "kept-counts")
	require.Contains(t, told, "skip  kept-counts: ")
	require.Contains(t, told, "→ "+adviceLate)
	require.Contains(t, section(t, out.String(), "node-summary"), "ok  ")
	release()

	words := sicknesses["node-summary"][0].make(w)
	w.lock("count_changes")
	got := w.deep("--patience", lockedFor.String())
	require.Equal(t, 1, got.code)
	require.Contains(t, section(t, got.out, "node-summary"), words)
	require.Contains(t, section(t, got.out, "kept-counts"), "skip  kept-counts: ")
}

// lock keeps everybody from reading a table, until release or the test's end.
func (w *ward) lock(table string) (release func()) {
	w.t.Helper()
	ctx := w.t.Context()
	tx, err := w.Store.Pool().Begin(ctx)
	require.NoError(w.t, err)
	release = func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }
	w.t.Cleanup(release)
	// Or Postgres would end a lock that is held for long.
	_, err = tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
	require.NoError(w.t, err)
	_, err = tx.Exec(ctx, `LOCK TABLE `+table)
	require.NoError(w.t, err)
	return release
}

// A check with findings that ran out of its time all the same has both ways out.
func TestWhatWasFoundInTimeIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f            deepFinding
		heal, advice string
	}{
		"in time":       {deepFinding{Verdict: fine, Heal: "x ID"}, "", ""},
		"late":          {deepFinding{Verdict: skipped, Heal: "x ID", unseen: adviceLate}, "", adviceLate},
		"broken":        {deepFinding{Verdict: failure, Heal: "x ID", tasks: []int64{7, 8}}, "x 7,8", ""},
		"broken, late":  {deepFinding{Verdict: failure, Heal: "x ID", tasks: []int64{7}, unseen: adviceLate}, "x 7", adviceLate},
		"advised":       {deepFinding{Verdict: failure, Advice: "ask, or x ID", tasks: []int64{7, 8}}, "", "ask, or x 7,8"},
		"advised, late": {deepFinding{Verdict: failure, Advice: "ask", unseen: adviceLate}, "", "ask; " + adviceLate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.f.complete()
			require.Equal(t, c.heal, c.f.Heal)
			require.Equal(t, c.advice, c.f.Advice)
		})
	}
}
