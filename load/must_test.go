package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// TestEveryObjectiveIsOfSomeScript looks that each script names what it must
// measure, that all of it has an objective, and that no objective is of none.
func TestEveryObjectiveIsOfSomeScript(t *testing.T) {
	t.Parallel()
	named := map[string]bool{"refusal": true} // a large machine may refuse nothing
	for _, s := range scripts {
		require.NotEmpty(t, musts[s.name], s.name)
		o, err := parseOptions([]string{"-script", s.name, "-workers", "2"}, io.Discard)
		require.NoError(t, err)
		for _, sli := range o.must() {
			require.True(t, slices.ContainsFunc(slo.Table, func(o slo.Objective) bool { return o.SLI == sli }), "%s: %s", s.name, sli)
			named[sli] = true
		}
	}
	for _, o := range slo.Table {
		require.True(t, named[o.SLI], "no script has to measure %s", o.SLI)
	}
}

func TestMust(t *testing.T) {
	t.Parallel()
	for args, c := range map[string]struct{ has, lacks []string }{
		"-script peak": {
			has:   []string{"create-32mb", slo.IngestRate, slo.WalkRate, "verdict", submitLarge, verdictLarge, slo.NotModified, slo.Unchanged},
			lacks: []string{slo.DeadWorker, "claim-empty", slo.Recovery},
		},
		"-script peak -workers 2":             {has: []string{slo.DeadWorker}},
		"-script peak -dur 5m":                {has: []string{"create-5000", "create-32mb", "first-row"}},
		"-script day -workers 2":              {has: besides, lacks: []string{slo.DeadWorker}},
		"-script burst":                       {has: []string{"claim-empty", "verdict", submitLarge, slo.Foreign}, lacks: []string{slo.NotModified, slo.Unchanged, "create-5000", verdictLarge}},
		"-script burst -dur 10s -scale 0.1":   {has: []string{"claim", slo.LostWrites}, lacks: []string{"verdict", slo.Foreign, slo.LostDrafts}},
		"-script stress -dur 150s":            {has: []string{slo.Admitted, slo.Recovery, "step"}, lacks: []string{"refusal"}},
		"-script outage":                      {has: []string{slo.Recovery, submitLarge, verdictLarge}, lacks: []string{"create-5000", slo.Admitted}},
		"-script growth -sizes 1000,5000":     {has: []string{slo.CreateGrowth, slo.Foreign}, lacks: []string{"claim"}},
		"-script growth -sizes 1000":          {has: []string{slo.LostWrites}, lacks: []string{slo.CreateGrowth}},
		"-script cost":                        {has: []string{slo.LostWrites}, lacks: []string{slo.Refused, slo.CreateGrowth}},
		"-script quarter -dur 2m -scale 0.25": {has: []string{"create-5000", verdictLarge}, lacks: []string{"create-32mb", slo.IngestRate}},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			o, err := parseOptions(strings.Fields(args), t.Output())
			require.NoError(t, err)
			require.Subset(t, o.must(), c.has)
			for _, sli := range c.lacks {
				require.NotContains(t, o.must(), sli)
			}
		})
	}
}
