package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// Units of what is measured. Of a rate more is better, of all else less.
const (
	unitMillis  = "ms"
	unitRate    = "/s"
	unitFiles   = "files/s"
	unitMBRate  = "MB/s"
	unitMB      = "MB"
	unitSeconds = "s"
	unitCPU     = "ms of CPU"
	unitPercent = "%"
	unitNone    = ""
)

func isRate(unit string) bool { return strings.HasSuffix(unit, "/s") }

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
	// many rounds as noiseRounds says, two unless set; or between its turns
	// within the race where noiseRounds is noNoiseRounds.
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
	m.Load[0] = loadAverage()
	if m.noiseRounds != noNoiseRounds {
		other := floor
		both, err := b.palindrome(ctx, m.Case+", the floor against itself", cmp.Or(m.noiseRounds, 2), floor, other)
		if err != nil {
			return err
		}
		m.Noise = m.cost(spreadOf(both[1]), spreadOf(both[0]))
	}
	both, err := b.palindrome(ctx, m.Case, b.rounds, floor, ours)
	if err != nil {
		return err
	}
	b.compare(m, both[0], both[1])
	return nil
}

// noNoiseRounds saves the time for races whose samples are long.
const noNoiseRounds = -1

// compare fills a measure from samples that were taken in palindromes.
func (b *bench) compare(m *measure, floors, ours []float64) {
	m.Part = b.part
	m.Floor, m.Ours = spreadOf(floors), spreadOf(ours)
	m.Floor.Values, m.Ours.Values = floors, ours
	m.Ratio = m.cost(m.Ours, m.Floor)
	if m.Noise == 0 {
		var turns [2][]float64
		for i, v := range floors {
			turns[i%2] = append(turns[i%2], v)
		}
		m.Noise = m.cost(spreadOf(turns[1]), spreadOf(turns[0]))
	}
	m.Ratio, m.Noise = finite(m.Ratio), finite(m.Noise)
	m.Load[1] = loadAverage()
	b.report.Measures = append(b.report.Measures, m)
	b.say("  %s: floor %s, ours %s, ratio %.2f (noise %.2f)", m.Case, m.Floor.in(m.Unit), m.Ours.in(m.Unit), m.Ratio, m.Noise)
}

func (m *measure) cost(ours, floor spread) float64 {
	if isRate(m.Unit) {
		return floor.Median / ours.Median
	}
	return ours.Median / floor.Median
}

// palindrome takes samples of all sides there and back in every round and
// returns them by side.
func (b *bench) palindrome(ctx context.Context, what string, rounds int, sides ...sampler) ([][]float64, error) {
	out := make([][]float64, len(sides))
	for round := range rounds {
		for turn := range 2 * len(sides) {
			i := min(turn, 2*len(sides)-1-turn)
			v, err := sides[i](ctx)
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", what, round+1, err)
			}
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

func (s spread) in(unit string) string {
	digits := 0
	if s.Median < 100 {
		digits = 1
	}
	if s.Median < 10 {
		digits = 2
	}
	if unit != unitMillis && unit != unitRate {
		unit = " " + unit
	}
	return fmt.Sprintf("%.*f%s (%.*f..%.*f)", digits, s.Median, unit, digits, s.Min, digits, s.Max)
}

// finite is 0 for what cannot be told, such as a share of nothing: JSON has no
// word for that.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func millisSince(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }
