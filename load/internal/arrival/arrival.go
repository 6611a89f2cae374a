// Package arrival says when requests are due. A schedule is a sequence of
// times since the beginning, in order, and depends on nothing but its
// parameters and its seed: what is due does not move because something else
// was slow.
package arrival

import (
	"iter"
	"math/rand/v2"
	"time"
)

// Times are the times at which something is due, from the beginning on.
type Times = iter.Seq[time.Duration]

// Rate is how many are due per second at a time since the beginning.
type Rate func(since time.Duration) float64

// Even is a constant rate from one time until another, the later one excluded.
// The first is due somewhere within the first gap, so that several schedules do
// not all begin at once; phase, from 0 to below 1, says where.
func Even(perSecond, phase float64, from, to time.Duration) Times {
	return func(yield func(time.Duration) bool) {
		if perSecond <= 0 {
			return
		}
		gap := float64(time.Second) / perSecond
		for i := 0; ; i++ {
			at := from + time.Duration((phase+float64(i))*gap)
			if at >= to || !yield(at) {
				return
			}
		}
	}
}

// Poisson has independent arrivals, as those of many people are, at a rate that
// changes over time and never exceeds most.
func Poisson(seed uint64, rate Rate, most float64, from, to time.Duration) Times {
	return func(yield func(time.Duration) bool) {
		if most <= 0 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0x6c6f6164)) //nolint:gosec // a schedule is no secret
		for at := from; ; {
			at += time.Duration(r.ExpFloat64() / most * float64(time.Second))
			if at >= to {
				return
			}
			// What comes at the highest rate is thinned out to the present one.
			if r.Float64()*most < rate(at) && !yield(at) {
				return
			}
		}
	}
}

// Burst is n within a time, evenly.
func Burst(n int, from, within time.Duration) Times {
	return func(yield func(time.Duration) bool) {
		for i := range n {
			if !yield(from + within*time.Duration(i)/time.Duration(n)) {
				return
			}
		}
	}
}

// At is those times.
func At(times ...time.Duration) Times {
	return func(yield func(time.Duration) bool) {
		for _, t := range times {
			if !yield(t) {
				return
			}
		}
	}
}
