package chaos

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// gate is what the objectives are multiplied with on a small machine, as in
// docs/load.md.
const gate = 2

// objectives are the p99 that is promised of calls that the load makes. That of
// creations is of 5,000 tasks at a time.
var objectives = map[string]time.Duration{
	opClaim: objective("claim"), opSubmit: objective("submit"), opReview: objective("verdict"),
	opDraft: objective("draft"), opPoll: objective("list"), opCreate: objective("create-5000"),
}

// objective is the p99 of docs/load.md of an operation.
func objective(op string) time.Duration {
	o, ok := slo.Get(op, 99)
	if !ok {
		panic("no p99 of " + op + " is promised")
	}
	return o.Limit
}

// measured are latencies of acknowledged calls, by kind.
type measured map[string][]time.Duration

// latencies are those of calls that began in a stretch of the run.
func (r *Run) latencies(from, to time.Time) measured {
	out := measured{}
	for _, op := range r.History.Since(from) {
		if op.Outcome == OK && op.Call >= from.UnixNano() && op.Call < to.UnixNano() && objectives[op.Kind] > 0 {
			out.add(op.Kind, time.Duration(op.Return-op.Call))
		}
	}
	return out
}

func (m measured) add(kind string, took time.Duration) { m[kind] = append(m[kind], took) }

// quantile of no calls is 0.
func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(len(sorted)-1, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// String tells the p99 of each kind.
func (m measured) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %s (%d)", kind, quantile(m[kind], 0.99).Round(time.Millisecond), len(m[kind])))
	}
	return strings.Join(parts, ", ")
}

// inside compares what people felt with the objectives, and with what they felt
// before: where the machine was too slow already, twice that is bad.
func (r *Run) inside(during string, got, before measured) {
	r.Logf("p99 during %s: %s", during, got)
	for _, kind := range slices.Sorted(maps.Keys(got)) {
		most := max(gate*objectives[kind], 2*quantile(before[kind], 0.99))
		if p99 := quantile(got[kind], 0.99); p99 > most {
			r.Violate("I10: p99 of %s was %s during %s, and %s before (%s)", kind, p99.Round(time.Millisecond), during,
				quantile(before[kind], 0.99).Round(time.Millisecond), loadOfMachine())
		}
	}
}
