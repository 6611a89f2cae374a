package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/measure/slo"
	"github.com/taskloom/taskloom/load/internal/record"
)

// server answers requests with these statuses in turn, the last one for ever.
type server struct {
	statuses []int
	asked    []time.Time
}

func (s *server) RoundTrip(*http.Request) (*http.Response, error) {
	status := s.statuses[min(len(s.asked), len(s.statuses)-1)]
	s.asked = append(s.asked, time.Now())
	if status == 0 {
		return nil, errors.New("nobody is there")
	}
	h := http.Header{}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		h.Set("Retry-After", "2")
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(&bytes.Buffer{})}, nil
}

// TestAskComesAgain has the clock of a bubble, so waits are exact.
func TestAskComesAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int
		patience time.Duration
		phase    string
		behind   time.Duration // an earlier call of the same caller, after it was due
		asked    int
		counts   map[record.Class]int64
		took     time.Duration // of what is not turned away
		admitted int64
		outside  int64 // of these
	}{
		"done at once": {
			statuses: []int{200}, patience: patient, phase: "peak", asked: 1, counts: map[record.Class]int64{record.OK: 1},
		},
		"done after two refusals": {
			statuses: []int{503, 503, 200}, patience: patient, phase: "peak", asked: 3,
			counts: map[record.Class]int64{record.OK: 1, record.Refused: 2}, took: 4 * time.Second,
		},
		"in an overload": {
			statuses: []int{503, 200}, patience: patient, phase: overload, asked: 2,
			counts: map[record.Class]int64{record.OK: 1, record.Refused: 1}, took: 2 * time.Second, admitted: 1,
		},
		"behind an earlier call in an overload": {
			statuses: []int{503, 200}, patience: patient, phase: overload, behind: 3 * time.Second, asked: 2,
			counts: map[record.Class]int64{record.OK: 1, record.Refused: 1}, took: 5 * time.Second, admitted: 1,
		},
		"failed in an overload": {
			statuses: []int{500}, patience: insistent, phase: overload, asked: 1, counts: map[record.Class]int64{record.Failed: 1},
			admitted: 1, outside: 1,
		},
		"no answer in an overload": {
			statuses: []int{0}, patience: insistent, phase: overload, asked: 1, counts: map[record.Class]int64{record.Failed: 1},
			admitted: 1, outside: 1,
		},
		"patience ends in an overload": {
			statuses: []int{503}, patience: patient, phase: overload, asked: 6,
			counts: map[record.Class]int64{record.Refused: 6, record.Failed: 1}, took: 10 * time.Second, admitted: 1, outside: 1,
		},
		"too late in an overload": {
			statuses: []int{409}, patience: patient, phase: overload, asked: 1, counts: map[record.Class]int64{record.Stale: 1},
		},
		"no patience": {
			statuses: []int{503, 200}, phase: "peak", asked: 1, counts: map[record.Class]int64{record.Refused: 1},
		},
		"a limit": {
			statuses: []int{429, 200}, patience: patient, phase: "peak", asked: 2,
			counts: map[record.Class]int64{record.OK: 1, record.Limited: 1}, took: 2 * time.Second,
		},
		"patience ends": {
			statuses: []int{503}, patience: patient, phase: "peak", asked: 6,
			counts: map[record.Class]int64{record.Refused: 6, record.Failed: 1}, took: 10 * time.Second,
		},
		"failed": {
			statuses: []int{500, 200}, patience: insistent, phase: "peak", asked: 1, counts: map[record.Class]int64{record.Failed: 1},
		},
		"no answer": {
			statuses: []int{0, 200}, patience: insistent, phase: "peak", asked: 1, counts: map[record.Class]int64{record.Failed: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{statuses: c.statuses}
				r := &run{options: options{gate: 1}, clients: &clients{bases: []string{"http://load.test"}, http: &http.Client{Transport: s}}}
				r.progress, r.began = io.Discard, time.Now()
				r.numbers.set(map[string]float64{})
				var err error
				r.rec, err = record.New(r.began, nil)
				require.NoError(t, err)
				r.enter(c.phase, 0)
				q := request{op: "submit", patience: c.patience, due: time.Now()}
				if c.behind > 0 {
					<-time.After(c.behind)
					q.ready = time.Now()
				}
				a := r.ask(t.Context(), q)
				require.Equal(t, c.counts[record.OK] == 1, a.ok())
				require.Len(t, s.asked, c.asked)
				got, rest := map[record.Class]int64{}, int64(0)
				for _, l := range r.rec.Lines() {
					got[l.Class] += l.N
					if l.Class != record.Refused && l.Class != record.Limited {
						require.InDelta(t, slo.Millis(c.took), l.Max, 20)
						continue
					}
					require.Less(t, l.Max, 10.0, "a refusal is told by its own speed")
					rest += l.N
				}
				require.Equal(t, c.counts, got)
				require.Equal(t, c.admitted-c.outside, r.facts.inside)
				require.Equal(t, c.admitted, r.facts.admitted)
				r.sumRefused()
				if counts(c.phase) {
					require.InDelta(t, 100*float64(rest)/float64(got[record.OK]+got[record.Failed]+rest), r.numbers.get()[slo.Refused], 1e-9)
				} else {
					require.NotContains(t, r.numbers.get(), slo.Refused)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"": 0, "1": time.Second, "30": 30 * time.Second, "0": time.Second, "Wed, 21 Oct 2026 07:28:00 GMT": time.Second,
	} {
		h := http.Header{}
		if value != "" {
			h.Set("Retry-After", value)
		}
		require.Equal(t, want, retryAfter(h), value)
	}
}
