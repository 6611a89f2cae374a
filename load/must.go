package main

import (
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// enoughPlay is how much everybody must have done, as -dur times -scale, for a
// run to measure all that its script is about: as long as a shift's start. What
// plays less, as a quick look at this program does, may have nothing to tell of
// what is rare.
const enoughPlay = 30 * time.Second

// What each run has to have measured. Where one of these is missing, its subject
// failed altogether, and the objective is missed.
var (
	// always is what the shortest run measures, too.
	always = []string{
		"claim", slo.Availability, slo.WorkAvail, slo.Refused, slo.TooLate, slo.LeftOut, slo.LostWrites, slo.DoubleClaims, slo.Duplicates, slo.Memory,
		slo.Lateness,
	}
	// played is what follows from people and programs at work.
	played = []string{"claim-review", "submit", submitLarge, "verdict", "draft", "step", "status", "list", slo.LostDrafts, slo.Foreign}
	// besides is what goes on beside them in long scripts.
	besides = []string{verdictLarge, "create-5000", "create-32mb", "first-row", slo.IngestRate, slo.WalkRate, slo.NotModified, slo.Unchanged}
	// musts are those of each script. A refusal has an objective in an overload,
	// which a large machine may not reach: nothing is missing then.
	musts = map[string][]string{
		"day": besides, "peak": besides, "soak": besides,
		// Alone: elsewhere no queue is empty. It has too few verdicts for one of ten.
		"burst":   {"claim-empty"},
		"quarter": {verdictLarge, "create-5000", slo.NotModified, slo.Unchanged},
		"stress":  {verdictLarge, slo.Admitted, slo.Recovery, slo.NotModified, slo.Unchanged},
		"outage":  {verdictLarge, slo.Recovery, slo.NotModified, slo.Unchanged},
		"cost":    {slo.LostWrites, slo.DoubleClaims, slo.Duplicates},
		"growth":  {slo.Availability, slo.WorkAvail, slo.LostWrites, slo.DoubleClaims, slo.Duplicates, slo.Refused, slo.Foreign},
	}
)

// must are the SLIs that a run with these options has to have measured.
func (o options) must() []string {
	out := musts[o.script]
	switch o.script {
	case "cost":
		return out
	case "growth":
		if len(o.sizes) > 1 {
			out = append(slices.Clone(out), slo.CreateGrowth)
		}
		return out
	}
	if float64(o.dur)*o.scale < float64(enoughPlay) {
		return always
	}
	out = slices.Concat(always, played, out)
	if o.script == "peak" && o.workers > 1 { // the only one that kills one
		out = append(out, slo.DeadWorker)
	}
	return out
}
