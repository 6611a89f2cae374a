package main

import (
	"fmt"
	"slices"
	"strings"
)

// verdicts say what became of the aims, of each contender that is ours. Ratios against
// systems that batch are not made.
func (r *raceResult) verdicts() (lines []string) {
	for _, us := range r.Contenders {
		if us.Contract != contractOurs {
			continue
		}
		for _, line := range r.verdictsOf(us) {
			if us.Name != ours {
				line = us.Name + ": " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func (r *raceResult) verdictsOf(us *contenderResult) (lines []string) {
	for _, f := range r.Figures {
		s := us.spread(f.Name)
		if s.N == 0 {
			continue
		}
		if f.None && s.Max != 0 {
			lines = append(lines, fmt.Sprintf("%s: %s, should be 0: **missed**.", f.Says, inUnit(s.Max, f.Unit)))
		}
		if f.Bound > 0 {
			heard, parts := r.agreed(r.hear(f, us), f, us, nil, f.Bound)
			digits := parts.digits(s.Median, f.Bound)
			lines = append(lines, fmt.Sprintf("%s: %s, aim %s %s: %s%s.", f.Says, shown(s.Median, f.Unit, digits), atMost(!f.More), inUnit(f.Bound, f.Unit),
				r.verdict(met(s.Median, f.Bound, f.More), heard), parts.told(f.Unit, digits)))
		}
		them := r.find(f.Against)
		if f.Aim == 0 || them == nil || them.Batch || them.spread(f.Name).N == 0 {
			continue
		}
		us, them := together(us, them)
		if us.spread(f.Name).N == 0 || them.spread(f.Name).N == 0 {
			lines = append(lines, fmt.Sprintf("%s: beside %s, aim %s %.2f: ! not claimed, both were in no run together.", f.Says, f.Against, atMost(!f.More), f.Aim))
			continue
		}
		x := ratio(us.spread(f.Name).Median, them.spread(f.Name).Median)
		heard := r.hear(f, us, them)
		if heard == unheard { // a ratio needs it
			heard = tooLoud
		}
		heard, parts := r.agreed(heard, f, us, them, f.Aim)
		digits := parts.digits(x, f.Aim)
		lines = append(lines, fmt.Sprintf("%s: %s of %s, aim %s %.2f: %s%s.", f.Says, shown(x, "", digits), f.Against, atMost(!f.More), f.Aim,
			r.verdict(met(x, f.Aim, f.More), heard), parts.told("", digits)))
	}
	return lines
}

// hearing is what noise lets be said of a figure.
type hearing int

const (
	quietEnough hearing = iota
	tooLoud             // or nobody ran against itself
	unheard             // the race was quiet enough where it was heard; this figure has one value
	disturbed           // a figure of CPU, and the machine worked for others meanwhile
	divided             // the rounds say different things
	unproved            // what the rounds say is not known, and their least and most leave it open
)

// parts are a figure of ours, or its ratio to theirs, in each round; where there was
// one, there and back. Of what bench told without its turns they are the least and the
// most that a round can have had.
type parts struct {
	values []float64
	bounds bool
}

// parts of a figure; none where samples are no turns, or not as many.
func (r *raceResult) parts(f figure, us, them *contenderResult) parts {
	if r.Told && f.Turns == 0 {
		return bounds(f, us, them)
	}
	var p parts
	var back []float64 // there and back by themselves, of a single round
	for i, run := range r.Runs {
		rounds := run.Rounds
		if r.Told { // archives that take long have fewer than the race
			rounds = f.Turns / 2
		}
		ours := us.in(i).values(f.Name)
		if len(ours) == 0 && len(r.Runs) > 1 {
			continue
		}
		if len(ours) == 0 || len(ours) != 2*rounds { // A B B A
			return parts{}
		}
		theirs := slices.Repeat([]float64{1}, len(ours))
		if them != nil {
			if theirs = them.in(i).values(f.Name); len(theirs) != len(ours) {
				return parts{}
			}
		}
		for turn := 0; turn < len(ours); turn += 2 {
			p.values = append(p.values, ratio(median(ours[turn:turn+2]), median(theirs[turn:turn+2])))
			back = append(back, ratio(ours[turn], theirs[turn]), ratio(ours[turn+1], theirs[turn+1]))
		}
	}
	if len(p.values) == 1 {
		p.values = back
	}
	return p
}

// bounds lets the extremes of both sides meet, of what has more than one value.
func bounds(f figure, us, them *contenderResult) parts {
	s := us.spread(f.Name)
	if s.N < 2 {
		return parts{}
	}
	least, most := s.Min, s.Max
	if them != nil {
		t := them.spread(f.Name)
		least, most = ratio(s.Min, t.Max), ratio(s.Max, t.Min)
	}
	return parts{values: []float64{least, most}, bounds: true}
}

// agreed is what was heard, unless the parts fall on both sides of the aim: a median
// on one of them, of a contender that varies, is chance. Where there are none, nothing
// says that they agree. It returns the parts that are to be told.
func (r *raceResult) agreed(heard hearing, f figure, us, them *contenderResult, aim float64) (hearing, parts) {
	p := r.parts(f, us, them)
	if heard != quietEnough {
		return heard, p
	}
	if len(p.values) == 0 {
		return unproved, p
	}
	for _, v := range p.values {
		switch {
		case met(v, aim, f.More) == met(p.values[0], aim, f.More):
		case p.bounds:
			return unproved, p
		default:
			return divided, p
		}
	}
	return heard, p
}

// digits are how many after the point show on which side of an aim a median and its
// parts are, where they have no unit: two, or three where two would round one of them
// onto it.
func (p parts) digits(median, aim float64) int {
	const few = 2
	for _, v := range append([]float64{median}, p.values...) {
		if v != aim && shown(v, "", few) == shown(aim, "", few) {
			return few + 1
		}
	}
	return few
}

// shown is a value with that many digits after the point, or as inUnit has it where it
// has a unit.
func shown(v float64, unit string, digits int) string {
	if unit == "" {
		return fmt.Sprintf("%.*f", digits, v)
	}
	return inUnit(v, unit)
}

// told lists parts.
func (p parts) told(unit string, digits int) string {
	if len(p.values) == 0 {
		return ""
	}
	words := make([]string, len(p.values))
	for i, v := range p.values {
		words[i] = shown(v, unit, digits)
	}
	if p.bounds {
		return " (each within " + strings.Join(words, " to ") + ")"
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// hear is what may be said of whether the figures of some contenders keep a bound. What
// is told once a race, such as CPU a poll or a peak of memory, has nothing to be
// compared with.
func (r *raceResult) hear(f figure, of ...*contenderResult) hearing {
	n, measured := r.Noise[f.Name]
	switch {
	case f.ofCPU() && slices.ContainsFunc(of, func(c *contenderResult) bool { return len(c.disturbances(r.Phase)) > 0 }):
		return disturbed
	case len(r.Noise) == 0 || measured && loud(n):
		return tooLoud
	case !measured:
		return unheard
	}
	return quietEnough
}

func met(value, aim float64, more bool) bool {
	if more {
		return value >= aim
	}
	return value <= aim
}

func atMost(yes bool) string {
	if yes {
		return "≤"
	}
	return "≥"
}

// verdict claims nothing where the machine was too loud, nor where everybody has
// one turn and nobody runs against itself. Where the rounds fall on both sides of the
// aim it claims neither, and tells the side of the median.
func (r *raceResult) verdict(reached bool, heard hearing) string {
	switch {
	case r.Once && reached:
		return "reached, which one turn each does not prove"
	case r.Once:
		return "not reached, which one turn each does not prove"
	case heard == disturbed:
		return "! not claimed, the machine did much for others meanwhile"
	case heard == divided && reached:
		return "! not claimed, the rounds differ and the median is within the aim"
	case heard == divided:
		return "! not claimed, the rounds differ and the median misses the aim"
	case heard == unproved:
		return "! not claimed, what each round says is not known"
	case heard == tooLoud:
		return "! not claimed, the noise is above 5 % or was not measured"
	case heard == unheard && reached:
		return "reached, by one value whose noise is not known"
	case heard == unheard:
		return "**not reached**, by one value whose noise is not known"
	case reached:
		return "met"
	}
	return "**missed**"
}
