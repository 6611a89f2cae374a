package main

import (
	"math"
	"slices"
)

// loudness is how far a contender may differ from itself before nothing should
// be claimed: 5 %.
const loudness = 0.05

// spread is what is told of the samples of one figure.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

func spreadOf(samples []float64) spread {
	if len(samples) == 0 {
		return spread{}
	}
	return spread{Median: median(samples), Min: slices.Min(samples), Max: slices.Max(samples), N: len(samples)}
}

// median is the middle, or the mean of the two in the middle; 0 of nothing.
func median(samples []float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	n := len(s)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// ratio is a/b, and 0 where that says nothing: JSON has no word for it.
func ratio(a, b float64) float64 {
	r := a / b
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return 0
	}
	return r
}

// noiseOf is the ratio of a contender's samples to those that it gave as its
// own opponent: 1 is silence.
func noiseOf(one, other []float64) float64 { return ratio(median(other), median(one)) }

// loud reports whether a noise forbids claims. Noise that was not measured is 0,
// which is loud as well.
func loud(noise float64) bool { return math.Abs(noise-1) > loudness+1e-9 } // 0.95 is still within
