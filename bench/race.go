package main

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Units of what is measured. Of milliseconds less is better, of a rate more.
const (
	unitMillis = "ms"
	unitRate   = "/s"
)

// measure is one comparison.
type measure struct {
	Part  string `json:"part"`
	Case  string `json:"case"`
	Unit  string `json:"unit"`
	Floor spread `json:"floor"`
	Ours  spread `json:"ours"`
	// Ratio is how many times the floor's cost ours is: 1 is as good, and more
	// is worse, whatever the unit.
	Ratio float64 `json:"ratio"`
	// Aim is the ratio to stay within, 0 where there is none.
	Aim float64 `json:"aim,omitempty"`
	// Noise is the floor's ratio to itself, measured the same way before in as
	// many rounds as noiseRounds says, two unless set.
	Noise       float64 `json:"noise"`
	noiseRounds int

	FloorLatencies *latencies         `json:"floor_latencies_ms,omitempty"`
	OursLatencies  *latencies         `json:"ours_latencies_ms,omitempty"`
	Extra          map[string]float64 `json:"extra,omitempty"`
	// Load is the machine's load average before and after.
	Load [2]float64 `json:"load"`
}

// sampler runs one sample of one side and returns its value in the unit.
type sampler func(ctx context.Context) (float64, error)

// race fills a measure: first the floor against itself, then rounds of floor,
// ours, ours, floor, so that a machine that gets slower or faster meanwhile
// treats both alike.
func (b *bench) race(ctx context.Context, m *measure, floor, ours sampler) error {
	m.Part = b.part
	m.Load[0] = loadAverage()
	one, other, err := b.alternate(ctx, m.Case+", the floor against itself", cmp.Or(m.noiseRounds, 2), floor, floor)
	if err != nil {
		return err
	}
	m.Noise = m.cost(spreadOf(other), spreadOf(one))
	floors, own, err := b.alternate(ctx, m.Case, b.rounds, floor, ours)
	if err != nil {
		return err
	}
	m.Floor, m.Ours = spreadOf(floors), spreadOf(own)
	m.Ratio = m.cost(m.Ours, m.Floor)
	m.Load[1] = loadAverage()
	b.report.Measures = append(b.report.Measures, m)
	b.say("  %s: floor %s, ours %s, ratio %.2f (noise %.2f)", m.Case, m.Floor.in(m.Unit), m.Ours.in(m.Unit), m.Ratio, m.Noise)
	return nil
}

func (m *measure) cost(ours, floor spread) float64 {
	if m.Unit == unitRate {
		return floor.Median / ours.Median
	}
	return ours.Median / floor.Median
}

func (b *bench) alternate(ctx context.Context, what string, rounds int, one, other sampler) (ones, others []float64, err error) {
	for i := range rounds {
		for turn, s := range []sampler{one, other, other, one} {
			v, err := s(ctx)
			if err != nil {
				return nil, nil, fmt.Errorf("%s, round %d: %w", what, i+1, err)
			}
			if turn == 0 || turn == 3 {
				ones = append(ones, v)
			} else {
				others = append(others, v)
			}
		}
	}
	return ones, others, nil
}

func (s spread) in(unit string) string {
	digits := 0
	if s.Median < 100 {
		digits = 1
	}
	if s.Median < 10 {
		digits = 2
	}
	return fmt.Sprintf("%.*f%s (%.*f..%.*f)", digits, s.Median, unit, digits, s.Min, digits, s.Max)
}

func millisSince(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }
