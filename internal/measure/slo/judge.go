package slo

import (
	"slices"
	"time"
)

// Verdict is how a run stands towards an objective.
type Verdict string

// The verdicts. Unknown is what a run does not play: no verdict either way. What
// it plays and has no measurement of failed altogether, and so is missed, too.
const (
	Met         Verdict = "met"
	Missed      Verdict = "MISSED"
	NotMeasured Verdict = "MISSED, not measured"
	Unknown     Verdict = "–"
)

// Judged is an objective with what was measured.
type Judged struct {
	Name      string  `json:"name"`
	SLI       string  `json:"sli"`
	Objective string  `json:"objective"`
	Gate      string  `json:"gate"`
	N         int64   `json:"n"`
	P50       float64 `json:"p50_ms,omitempty"`
	P99       float64 `json:"p99_ms,omitempty"`
	Value     float64 `json:"value"` // ms where the objective is a time
	Verdict   Verdict `json:"verdict"`
}

// Sample is how long the calls of an operation took.
type Sample interface {
	// N is how many there were.
	N() int64
	// Quantile is the time that so many percent of them stayed within.
	Quantile(percent float64) time.Duration
}

// Measured is what a run found out.
type Measured struct {
	// Times gives what was measured of an operation.
	Times func(op string) Sample
	// Numbers are by the names of SLIs; what is missing was not measured.
	Numbers map[string]float64
	// Must are the SLIs that the run has to have measured.
	Must []string
}

// Judge holds a run against all objectives.
func Judge(m Measured, factor float64) []Judged {
	out := make([]Judged, 0, len(Table))
	for _, o := range Table {
		out = append(out, o.judge(m, factor))
	}
	return out
}

func (o Objective) judge(m Measured, factor float64) Judged {
	gate := o.Gate(factor)
	j := Judged{Name: o.Name, SLI: o.SLI, Objective: o.String(), Gate: gate.String(), Verdict: Unknown}
	if slices.Contains(m.Must, o.SLI) {
		j.Verdict = NotMeasured
	}
	var ok bool
	if o.Number {
		value, measured := m.Numbers[o.SLI]
		if !measured {
			return j
		}
		j.N, j.Value = 1, value
		ok = value >= gate.Least && (gate.Least > 0 || value <= gate.Most)
	} else {
		s := m.Times(o.SLI)
		if s.N() == 0 {
			return j
		}
		at := s.Quantile(o.Percent)
		j.N, j.Value, j.P50, j.P99 = s.N(), Millis(at), Millis(s.Quantile(50)), Millis(s.Quantile(99))
		ok = at <= gate.Limit
	}
	j.Verdict = Missed
	if ok {
		j.Verdict = Met
	}
	return j
}

// AnyMissed tells whether a run failed.
func AnyMissed(all []Judged) bool {
	for _, j := range all {
		if j.Verdict == Missed || j.Verdict == NotMeasured {
			return true
		}
	}
	return false
}

// Millis is a time in milliseconds.
func Millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
