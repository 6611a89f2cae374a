package main

import (
	"math"
	"slices"
)

// spread is what is told of a series of samples.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
	// Values are the samples in the order in which they were taken, of a
	// comparison: whether every round says the same shows in nothing less.
	Values []float64 `json:"values,omitempty"`
}

func spreadOf(samples []float64) spread {
	if len(samples) == 0 {
		return spread{}
	}
	return spread{Median: percentile(samples, 50), Min: slices.Min(samples), Max: slices.Max(samples), N: len(samples)}
}

// percentile interpolates between the two nearest samples.
func percentile(samples []float64, p float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	return quantile(slices.Sorted(slices.Values(samples)), p)
}

func quantile(sorted []float64, p float64) float64 {
	at := p / 100 * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// latencies are percentiles of single requests.
type latencies struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	N    int     `json:"n"`
}

func latenciesOf(samples []float64) *latencies {
	if len(samples) == 0 { // JSON has no NaN
		return &latencies{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	return &latencies{
		P50: quantile(sorted, 50), P90: quantile(sorted, 90), P95: quantile(sorted, 95), P99: quantile(sorted, 99),
		P999: quantile(sorted, 99.9), Max: sorted[len(sorted)-1], N: len(sorted),
	}
}
