package main

import (
	"fmt"
	"slices"
	"strings"
)

// verdicts say what became of the aims. Ratios against systems that batch are
// not made.
func (r *raceResult) verdicts() (lines []string) {
	us := r.find(ours)
	if us == nil {
		return nil
	}
	for _, f := range r.Figures {
		s := us.spread(f.Name)
		if s.N == 0 {
			continue
		}
		if f.None && s.Max != 0 {
			lines = append(lines, fmt.Sprintf("%s: %s, should be 0: **missed**.", f.Says, inUnit(s.Max, f.Unit)))
		}
		if f.Bound > 0 {
			heard, parts := r.agreed(r.hear(f, us), r.parts(us, nil, f.Name), f.Bound, f.More)
			lines = append(lines, fmt.Sprintf("%s: %s, aim %s %s: %s%s.", f.Says, inUnit(s.Median, f.Unit), atMost(!f.More), inUnit(f.Bound, f.Unit),
				r.verdict(met(s.Median, f.Bound, f.More), heard), told(parts, f.Unit)))
		}
		them := r.find(f.Against)
		if f.Aim == 0 || them == nil || them.Batch || them.spread(f.Name).N == 0 {
			continue
		}
		x := ratio(s.Median, them.spread(f.Name).Median)
		heard := r.hear(f, us, them)
		if heard == unheard { // a ratio needs it
			heard = tooLoud
		}
		heard, parts := r.agreed(heard, r.parts(us, them, f.Name), f.Aim, f.More)
		lines = append(lines, fmt.Sprintf("%s: %.2f of %s, aim %s %.2f: %s%s.", f.Says, x, f.Against, atMost(!f.More), f.Aim,
			r.verdict(met(x, f.Aim, f.More), heard), told(parts, "")))
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
)

// parts are a figure of ours, or its ratio to theirs, in each round; where there was
// one, there and back. Nothing where samples are no turns, or not as many.
func (r *raceResult) parts(us, them *contenderResult, name string) (out []float64) {
	ours := us.values(name)
	n := r.Rounds
	if n == 1 {
		n = 2
	}
	if len(ours) != 2*r.Rounds { // A B B A
		return nil
	}
	var theirs []float64
	if them != nil {
		if theirs = them.values(name); len(theirs) != len(ours) {
			return nil
		}
	}
	size := len(ours) / n
	for i := 0; i < len(ours); i += size {
		v := median(ours[i : i+size])
		if them != nil {
			v = ratio(v, median(theirs[i:i+size]))
		}
		out = append(out, v)
	}
	return out
}

// agreed is what was heard, unless the parts fall on both sides of the aim: a median
// on one of them, of a contender that varies, is chance. It returns the parts that
// are to be told.
func (r *raceResult) agreed(heard hearing, parts []float64, aim float64, more bool) (hearing, []float64) {
	if heard != quietEnough {
		return heard, parts
	}
	for _, v := range parts {
		if met(v, aim, more) != met(parts[0], aim, more) {
			return divided, parts
		}
	}
	return heard, parts
}

// told lists parts.
func told(parts []float64, unit string) string {
	if len(parts) == 0 {
		return ""
	}
	words := make([]string, len(parts))
	for i, v := range parts {
		if words[i] = inUnit(v, unit); unit == "" {
			words[i] = fmt.Sprintf("%.2f", v)
		}
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
// one turn and nobody runs against itself.
func (r *raceResult) verdict(reached bool, heard hearing) string {
	switch {
	case r.Once && reached:
		return "reached, which one turn each does not prove"
	case r.Once:
		return "not reached, which one turn each does not prove"
	case heard == disturbed:
		return "! not claimed, the machine did much for others meanwhile"
	case heard == divided:
		return "! not claimed, the rounds differ"
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
