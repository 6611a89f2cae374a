package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// probeBudget is how long each part has to answer.
	probeBudget = 2 * time.Second
	// probeKept is how long an answer is good for, so that a crowd of probers
	// asks the parts once.
	probeKept = 2 * time.Second
)

// readiness asks the parts that a process needs whether they are there.
type readiness struct {
	parts    map[string]func(context.Context) error
	now      func() time.Time
	draining atomic.Bool

	mu    sync.Mutex
	asked time.Time
	found map[string]error
}

func newReadiness(parts map[string]func(context.Context) error) *readiness {
	return &readiness{parts: parts, now: time.Now}
}

// drain makes the process unready for good: it is about to end.
func (r *readiness) drain() { r.draining.Store(true) }

// check returns what each part said, at most probeKept ago.
func (r *readiness) check(ctx context.Context) map[string]error {
	if r.draining.Load() {
		return map[string]error{"process": errors.New("it is shutting down")}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil || r.now().Sub(r.asked) >= probeKept {
		// A prober that hangs up must not spoil the answer for the next.
		r.found = r.ask(context.WithoutCancel(ctx))
		r.asked = r.now()
	}
	return r.found
}

func (r *readiness) ask(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, probeBudget)
	defer cancel()
	type answer struct {
		part string
		err  error
	}
	answers := make(chan answer, len(r.parts))
	for part, ask := range r.parts {
		go func() { answers <- answer{part, ask(ctx)} }()
	}
	found := make(map[string]error, len(r.parts))
	for range r.parts {
		a := <-answers
		found[a.part] = a.err
	}
	return found
}

// ServeHTTP answers /readyz on the metrics listener, for operators: with the
// errors.
func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	status, parts := http.StatusOK, map[string]string{}
	for part, err := range r.check(req.Context()) {
		parts[part] = "ok"
		if err != nil {
			parts[part], status = err.Error(), http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"ready": status == http.StatusOK, "parts": parts})
}
