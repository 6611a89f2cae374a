package main

import (
	"context"
	"time"
)

// info says who a contender is.
type info struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Contract names the row of docs/benchmarks.md that says what the system
	// does for the same call.
	Contract string `json:"contract"`
	// Batch says that the system takes or finishes several items at a time and
	// cannot be told not to. It is shown, and never compared with one that does
	// one at a time.
	Batch bool `json:"batch,omitempty"`
	// Uses are the parts of the stack that it needs: it pays for their CPU time.
	Uses []string `json:"uses"`
}

// contender is one side of a race.
type contender interface {
	info() info
	// setup makes what all samples begin from.
	setup(ctx context.Context, r *room) error
	// sample runs once, on a fresh database.
	sample(ctx context.Context, r *room) (*sample, error)
	// close ends what setup began. It is called also when setup failed.
	close(r *room)
}

// sample is what one run of one contender gave.
type sample struct {
	Values    map[string]float64   `json:"values"`
	Latencies map[string]quantiles `json:"latencies,omitempty"`
	// CPU is seconds by process over all of what was measured, Phases the same
	// by phase.
	CPU  map[string]usage `json:"cpu_seconds"`
	Load [2]float64       `json:"load"`
	At   time.Time        `json:"at"`
	// Run is which of the race's runs it was taken in.
	Run int `json:"run,omitempty"`
}

func newSample() *sample {
	return &sample{
		Values: map[string]float64{}, Latencies: map[string]quantiles{}, CPU: map[string]usage{},
		Load: [2]float64{loadAverage(), 0}, At: time.Now().UTC().Truncate(time.Second),
	}
}

// measured runs f and notes the CPU time of a phase: what each process used,
// and as the value NAME_cpu_s what the contender is charged.
func (s *sample) measured(phase string, in info, children []*child, f func() error) (seconds, cpu float64, err error) {
	return s.metered(phase, in, newMeter(), func() []*child { return children }, f)
}

// reapWithin is what a parent is given to take the CPU time of its children over that
// have just ended: until then it may be in neither of their lines in /proc.
const reapWithin = 300 * time.Millisecond

// metered is measured with a meter that may look more often, and with children
// that may be others in the end.
func (s *sample) metered(phase string, in info, m *meter, children func() []*child, f func() error) (seconds, cpu float64, err error) {
	<-time.After(reapWithin)
	if err := m.look(children()); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := f(); err != nil {
		return 0, 0, err
	}
	seconds = time.Since(began).Seconds()
	// Those that end now are seen here while they are there, and then in their parents.
	for range 2 {
		if err := m.look(children()); err != nil {
			return 0, 0, err
		}
		<-time.After(reapWithin)
	}
	used := m.usage()
	s.CPU[phase] = used
	cpu = used.charged(in.Uses)
	s.Values[phase+"_cpu_s"], s.Values[phase+"_s"] = cpu, seconds
	s.Load[1] = loadAverage()
	return seconds, cpu, nil
}

// latency notes how long the calls of a name took and their percentiles as
// values.
func (s *sample) latency(name string, l *latencies) {
	q := l.quantiles()
	if q.N == 0 {
		return
	}
	s.Latencies[name] = q
	s.Values[name+"_p50_ms"], s.Values[name+"_p99_ms"] = q.P50, q.P99
}
