// Package record keeps latencies in HDR histograms: one for every phase of a
// run, operation and class of outcome, and beside it one for every few seconds,
// which go to a log that the tools around HdrHistogram read.
package record

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// Class is what became of a request.
type Class string

// The classes. Only OK counts towards the latency objectives; Refused, Limited
// and Failed are counted against others.
const (
	// OK did what was asked, or said rightly that there is nothing new.
	OK Class = "ok"
	// Stale came too late: the claim was over, the draft saved elsewhere.
	Stale Class = "stale"
	// Refused was turned away to come again: 503 with Retry-After.
	Refused Class = "refused"
	// Limited was turned away since its key asks too much, whatever else is going
	// on: 429.
	Limited Class = "limited"
	// Failed got an error, or no answer.
	Failed Class = "failed"
)

// Values are in microseconds, up to ten minutes, exact to three digits.
const (
	lowest  = 1
	highest = int64(10 * time.Minute / time.Microsecond)
	digits  = 3
)

// Key is what a histogram is about.
type Key struct {
	Phase, Op string
	Class     Class
}

// Recorder collects. It may be used by several at a time.
type Recorder struct {
	mu       sync.Mutex
	whole    map[Key]*hdrhistogram.Histogram
	interval map[Key]*hdrhistogram.Histogram
	statuses map[Key]map[int]int64
	failures map[string]string // first by operation
	log      *hdrhistogram.HistogramLogWriter
	since    time.Time
}

// New begins at a time. The log may be nil.
func New(began time.Time, log io.Writer) (*Recorder, error) {
	r := &Recorder{
		whole: map[Key]*hdrhistogram.Histogram{}, interval: map[Key]*hdrhistogram.Histogram{},
		statuses: map[Key]map[int]int64{}, failures: map[string]string{}, since: began,
	}
	if log == nil {
		return r, nil
	}
	r.log = hdrhistogram.NewHistogramLogWriter(log)
	for _, write := range []func() error{
		r.log.OutputLogFormatVersion,
		func() error { return r.log.OutputComment("[Latencies in microseconds from when a request was due]\n") },
		func() error { return r.log.OutputStartTime(began.UnixMilli()) },
		r.log.OutputLegend,
	} {
		if err := write(); err != nil {
			return nil, fmt.Errorf("begin the log of histograms: %w", err)
		}
	}
	return r, nil
}

// Record adds one request. Status is that of HTTP, 0 without one; cause says
// what failed.
func (r *Recorder) Record(k Key, took time.Duration, status int, cause string) {
	v := min(max(took.Microseconds(), lowest), highest)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range []map[Key]*hdrhistogram.Histogram{r.whole, r.interval} {
		h := in[k]
		if h == nil {
			h = hdrhistogram.New(lowest, highest, digits)
			in[k] = h
		}
		_ = h.RecordValue(v) // it is within the bounds
	}
	if r.statuses[k] == nil {
		r.statuses[k] = map[int]int64{}
	}
	r.statuses[k][status]++
	if k.Class == Failed && cause != "" && r.failures[k.Op] == "" {
		r.failures[k.Op] = cause
	}
}

// Rotate ends an interval of the log.
func (r *Recorder) Rotate(now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.since
	r.since = now
	if r.log == nil {
		return nil
	}
	for _, k := range sorted(r.interval) {
		h := r.interval[k]
		if h.TotalCount() == 0 {
			continue
		}
		h.SetTag(k.Phase + "." + k.Op + "." + string(k.Class))
		h.SetStartTimeMs(since.UnixMilli())
		h.SetEndTimeMs(now.UnixMilli())
		if err := r.log.OutputIntervalHistogram(h); err != nil {
			return fmt.Errorf("write the log of histograms: %w", err)
		}
		h.Reset()
	}
	return nil
}

// Line is a histogram as it is told: milliseconds.
type Line struct {
	Phase    string           `json:"phase"`
	Op       string           `json:"op"`
	Class    Class            `json:"class"`
	N        int64            `json:"n"`
	Mean     float64          `json:"mean_ms"`
	P50      float64          `json:"p50_ms"`
	P90      float64          `json:"p90_ms"`
	P95      float64          `json:"p95_ms"`
	P99      float64          `json:"p99_ms"`
	P999     float64          `json:"p999_ms"`
	Max      float64          `json:"max_ms"`
	Statuses map[string]int64 `json:"statuses,omitempty"`
}

// Lines tells of all histograms, by phase, operation and class.
func (r *Recorder) Lines() []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Line, 0, len(r.whole))
	for _, k := range sorted(r.whole) {
		l := Summary{r.whole[k]}.line(k)
		l.Statuses = map[string]int64{}
		for status, n := range r.statuses[k] {
			l.Statuses[strconv.Itoa(status)] = n
		}
		out = append(out, l)
	}
	return out
}

// Failures are first causes by operation.
func (r *Recorder) Failures() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.failures)
}

// Select merges the histograms that a rule takes. It is never nil.
func (r *Recorder) Select(take func(Key) bool) Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := hdrhistogram.New(lowest, highest, digits)
	for k, v := range r.whole {
		if take(k) {
			h.Merge(v)
		}
	}
	return Summary{h}
}

// Summary is a histogram that is looked at.
type Summary struct{ h *hdrhistogram.Histogram }

// N is how many it holds.
func (s Summary) N() int64 { return s.h.TotalCount() }

// Quantile is the time that a share of all stay within; 0 when there are none.
func (s Summary) Quantile(percent float64) time.Duration {
	return time.Duration(s.h.ValueAtQuantile(percent)) * time.Microsecond
}

func (s Summary) line(k Key) Line {
	ms := func(percent float64) float64 { return float64(s.h.ValueAtQuantile(percent)) / 1000 }
	return Line{
		Phase: k.Phase, Op: k.Op, Class: k.Class, N: s.N(), Mean: s.h.Mean() / 1000,
		P50: ms(50), P90: ms(90), P95: ms(95), P99: ms(99), P999: ms(99.9), Max: float64(s.h.Max()) / 1000,
	}
}

func sorted(m map[Key]*hdrhistogram.Histogram) []Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Class, b.Class))
	})
}
