package main

import (
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// shortest and longest latency that is told apart, in microseconds; what is
	// longer counts as the longest.
	shortestMicros = 1
	longestMicros  = int64(10 * time.Minute / time.Microsecond)
	// digits that a percentile keeps.
	latencyDigits = 3
)

// latencies counts how long calls took; several goroutines may add to it.
type latencies struct {
	mu   sync.Mutex
	hist *hdr.Histogram
}

func newLatencies() *latencies {
	return &latencies{hist: hdr.New(shortestMicros, longestMicros, latencyDigits)}
}

func (l *latencies) add(d time.Duration) { l.addMicros(d.Microseconds()) }

func (l *latencies) addMicros(us int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.hist.RecordValue(min(max(us, shortestMicros), longestMicros)) // within its bounds
}

// quantiles are what is told of latencies, in milliseconds, and their histogram:
// [highest value of the bucket in microseconds, calls in it].
type quantiles struct {
	N       int64      `json:"n"`
	P50     float64    `json:"p50_ms"`
	P90     float64    `json:"p90_ms"`
	P99     float64    `json:"p99_ms"`
	P999    float64    `json:"p99.9_ms"`
	Max     float64    `json:"max_ms"`
	Buckets [][2]int64 `json:"buckets,omitempty"`
}

func (l *latencies) quantiles() quantiles {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := func(q float64) float64 { return float64(l.hist.ValueAtQuantile(q)) / 1000 }
	out := quantiles{
		N: l.hist.TotalCount(), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(l.hist.Max()) / 1000,
	}
	for _, b := range l.hist.Distribution() {
		if b.Count > 0 {
			out.Buckets = append(out.Buckets, [2]int64{b.To, b.Count})
		}
	}
	return out
}
