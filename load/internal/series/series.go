// Package series keeps figures that are looked at every few seconds.
package series

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Series is one figure over time.
type Series struct {
	Unit    string    `json:"unit"`
	Seconds []float64 `json:"seconds"` // since the run began
	Values  []float64 `json:"values"`
}

// Trend is what is told of a series.
type Trend struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	First float64 `json:"first"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Last  float64 `json:"last"`
	// Slope is by how much it grows an hour, by least squares.
	Slope float64 `json:"slope_per_hour"`
}

// Set is all series of a run. It may be used by several at a time.
type Set struct {
	mu  sync.Mutex
	all map[string]*Series
}

// Add adds a value at a time since the run began.
func (s *Set) Add(name, unit string, at time.Duration, value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*Series{}
	}
	one := s.all[name]
	if one == nil {
		one = &Series{Unit: unit}
		s.all[name] = one
	}
	one.Seconds, one.Values = append(one.Seconds, at.Seconds()), append(one.Values, value)
}

// All is everything, by name.
func (s *Set) All() map[string]Series {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Series{}
	for name, one := range s.all {
		out[name] = Series{Unit: one.Unit, Seconds: slices.Clone(one.Seconds), Values: slices.Clone(one.Values)}
	}
	return out
}

// Bounded is everything, with at most so many points each.
func (s *Set) Bounded(most int) map[string]Series {
	all := s.All()
	for name, one := range all {
		all[name] = one.Bounded(most)
	}
	return all
}

// Bounded has at most so many points, four at least: the first, the last, and of equal
// stretches between them the least and the most, so that what was high or low for a
// moment of a long run is still there.
func (s Series) Bounded(most int) Series {
	last := len(s.Values) - 1
	if last < most {
		return s
	}
	out := Series{Unit: s.Unit}
	keep := func(i int) {
		out.Seconds, out.Values = append(out.Seconds, s.Seconds[i]), append(out.Values, s.Values[i])
	}
	keep(0)
	stretches := (most - 2) / 2
	for n := range stretches {
		from, to := 1+n*(last-1)/stretches, 1+(n+1)*(last-1)/stretches
		least, highest := from, from
		for i := from; i < to; i++ {
			if s.Values[i] < s.Values[least] {
				least = i
			}
			if s.Values[i] > s.Values[highest] {
				highest = i
			}
		}
		keep(min(least, highest))
		if least != highest {
			keep(max(least, highest))
		}
	}
	keep(last)
	return out
}

// Trends tells of all, by name.
func (s *Set) Trends() []Trend {
	all := s.All()
	out := make([]Trend, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name].trend(name))
	}
	return out
}

func (s Series) trend(name string) Trend {
	return Trend{
		Name: name, Unit: s.Unit, First: s.Values[0], Min: slices.Min(s.Values), Max: slices.Max(s.Values),
		Last: s.Values[len(s.Values)-1], Slope: s.slope() * time.Hour.Seconds(),
	}
}

// slope is that of the line that comes nearest to all values.
func (s Series) slope() float64 {
	n := float64(len(s.Values))
	var sumX, sumY, sumXX, sumXY float64
	for i, y := range s.Values {
		x := s.Seconds[i]
		sumX, sumY, sumXX, sumXY = sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	spread := n*sumXX - sumX*sumX
	if spread == 0 {
		return 0
	}
	return (n*sumXY - sumX*sumY) / spread
}
