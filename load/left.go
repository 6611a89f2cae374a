package main

import (
	"maps"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// tally is how much of one kind was due below an overload, and how much of that
// was left out, since nobody was there to do it.
type tally struct{ due, left int64 }

// somebody notes that something was due that needs a person who is free, or one
// who is at work, and whether there was one; why tells of those who were not.
func (r *run) somebody(kind string, due time.Time, there bool, why string) bool {
	judged := counts(r.phaseAt(due))
	f := &r.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	if !there {
		f.skipped[why]++
	}
	if judged {
		t := f.tallies[kind]
		t.due++
		if !there {
			t.left++
		}
		f.tallies[kind] = t
	}
	return there
}

// sumLeftOut tells how much was left out of the kind of which most was: among
// all that goes on, reviews alone would hardly be seen.
func (r *run) sumLeftOut() {
	r.facts.mu.Lock()
	tallies := maps.Clone(r.facts.tallies)
	r.facts.mu.Unlock()
	var worst float64
	for _, kind := range slices.Sorted(maps.Keys(tallies)) {
		t := tallies[kind]
		share := 100 * float64(t.left) / float64(t.due)
		r.number("left out of "+kind+", %", share)
		worst = max(worst, share)
	}
	if len(tallies) > 0 {
		r.number(slo.LeftOut, worst)
	}
}
