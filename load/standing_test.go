package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/load/internal/arrival"
	"github.com/taskloom/taskloom/load/internal/record"
)

// product answers in place of the product: a status, a body, and after which
// header Retry-After to come again.
type product func(r *http.Request) (status int, body, again string)

func (p product) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body, again := p(r)
	h := http.Header{"Etag": {body}}
	if again != "" {
		h.Set("Retry-After", again)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// standing is a run of a minute that has begun, with nothing but these answers.
func standing(t *testing.T, answers product) *run {
	t.Helper()
	r := &run{
		options: options{gate: 1, scale: 1, dur: time.Minute}, stdout: io.Discard, progress: io.Discard, began: time.Now(),
		think: arrival.NewThink(1), world: &world{keys: make([]string, keyCount)},
		clients: &clients{bases: []string{"http://load.test"}, http: &http.Client{Transport: answers}},
	}
	r.numbers.set(map[string]float64{})
	r.home.set(make(chan struct{}))
	r.loop = &arrival.Loop{Began: r.began}
	r.facts.held, r.facts.skipped, r.facts.tallies = map[nodeKey]string{}, map[string]int64{}, map[string]tally{}
	var err error
	r.rec, err = record.New(r.began, nil)
	require.NoError(t, err)
	return r
}

// withDatabase is such a run with a database of its own, in which there are people, a
// pipeline and no tasks.
func withDatabase(t *testing.T) *run {
	t.Helper()
	r := standing(t, nil)
	r.pool = dbtest.Store(t).Pool()
	var err error
	r.world, err = newWorld(t.Context(), r.pool, options{scale: 0.01, runs: "on_first_claim"})
	require.NoError(t, err)
	return r
}
