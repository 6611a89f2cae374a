package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Runs of a race may be put together that not everybody took part in: a race takes
// hours, and may be split by its contenders. Only within a run they take turns.

// in is a contender as it was in one run.
func (c *contenderResult) in(run int) *contenderResult {
	return c.only(func(of int) bool { return of == run })
}

// only is a contender with the samples of some runs.
func (c *contenderResult) only(wanted func(run int) bool) *contenderResult {
	some := *c
	some.Samples = nil
	for _, s := range c.Samples {
		if wanted(s.Run) {
			some.Samples = append(some.Samples, s)
		}
	}
	return &some
}

// tookPart reports whether a contender was in a run.
func (c *contenderResult) tookPart(run int) bool {
	return slices.ContainsFunc(c.Samples, func(s *sample) bool { return s.Run == run })
}

// together are two contenders as they were in the runs that both took part in.
func together(a, b *contenderResult) (*contenderResult, *contenderResult) {
	both := func(run int) bool { return a.tookPart(run) && b.tookPart(run) }
	return a.only(both), b.only(both)
}

// among names those who were in a run; nobody when all were.
func (r *raceResult) among(run int) (names []string) {
	for _, c := range r.Contenders {
		if c.tookPart(run) {
			names = append(names, c.Name)
		}
	}
	if len(names) == len(r.Contenders) {
		return nil
	}
	return names
}

// split reports whether there is a run that not everybody took part in, beside others.
func (r *raceResult) split() bool {
	for run := range r.Runs {
		if len(r.Runs) > 1 && len(r.among(run)) > 0 {
			return true
		}
	}
	return false
}

// rounds tells how many there were for a contender, the fewest and the most.
func (r *raceResult) rounds() string {
	if !r.split() {
		return rounds(r.Rounds)
	}
	var each []int
	for _, c := range r.Contenders {
		n := 0
		for i, run := range r.Runs {
			if c.tookPart(i) {
				n += run.Rounds
			}
		}
		each = append(each, n)
	}
	if least, most := slices.Min(each), slices.Max(each); least < most {
		return fmt.Sprintf("%d to %s", least, rounds(most))
	}
	return rounds(each[0])
}

// apart says what of runs that were split by contenders is not to be compared.
func (r *raceResult) apart(w io.Writer) {
	if !r.split() {
		return
	}
	var runs []string
	for i := range r.Runs {
		names := r.among(i)
		if len(names) == 0 {
			names = []string{"all"}
		}
		runs = append(runs, strings.Join(names, ", "))
	}
	fmt.Fprintf(w, "\n! Of %d runs (%s). Only within a run they took turns there and back: who was in no run with another is not to be compared with "+
		"them, and a ratio is of the runs that both were in.\n", len(runs), strings.Join(runs, "; "))
}
