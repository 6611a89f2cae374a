// Package conformance checks a deployment of External API v1 against its
// contract, from outside: it knows an address, an API key and the ids of some
// workflows, and nothing else. One check stands for one sentence of the
// contract; docs/conformance.md lists the sentences that have none.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Options say how to run.
type Options struct {
	// Client sends the requests; it needs no timeout of its own.
	Client *http.Client
	// Only are ids of checks, or beginnings of them; none means all.
	Only []string
	// WithoutHeavy leaves out the checks that send bodies of 32 MB, 5,000 items
	// or requests until a limit shows.
	WithoutHeavy bool
	// Log is told what takes long, such as waits for a rate limit; nil for nobody.
	Log func(format string, args ...any)
	// Poll is the pause between two polls of an upload; half a second when it is 0.
	Poll time.Duration
}

// Run runs the checks one after the other. The error says that the suite could
// not be run at all; what the checks found is in the report.
func Run(ctx context.Context, t Target, o Options) (Report, error) {
	t, err := t.normal()
	if err != nil {
		return Report{}, err
	}
	if o.Client == nil {
		return Report{}, errors.New("conformance needs an HTTP client")
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.Poll == 0 {
		o.Poll = 500 * time.Millisecond
	}
	r := &runner{target: t, options: o}
	if _, err := r.send(ctx, t.BaseURL, request{method: http.MethodGet, path: "/health", header: http.Header{}}); err != nil {
		return Report{}, fmt.Errorf("no answer from %s: %w", t.BaseURL, err)
	}
	began := time.Now() // in UTC it would be no part of a span any more
	report := Report{Target: t.BaseURL, Began: began.UTC()}
	for _, check := range Checks() {
		if !o.wants(check) {
			continue
		}
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		report.Results = append(report.Results, r.run(ctx, check))
	}
	report.Took = time.Since(began)
	if len(report.Results) == 0 {
		return report, errors.New("no check is chosen: --only takes ids, or beginnings of them, such as 4.1 or x-etag")
	}
	return report, nil
}

func (o Options) wants(c Check) bool {
	if len(o.Only) == 0 {
		return !c.heavy || !o.WithoutHeavy
	}
	for _, prefix := range o.Only {
		if strings.HasPrefix(c.ID, prefix) {
			return true
		}
	}
	return false
}
