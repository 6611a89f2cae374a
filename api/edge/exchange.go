// Package edge is what the External API and the console API share: request
// ids, logs, metrics and recovery, the one funnel through which every error
// leaves, body reading, security headers, and conventions for OpenAPI
// documents. It knows no resource and no store.
package edge

import (
	"context"
	"log/slog"
	"time"
)

// Exchange is what the edge remembers of one request until its log line is
// written. It is used by one goroutine at a time.
type Exchange struct {
	// ID is the request id.
	ID string

	// problems allows answers that list the single problems of a document;
	// the External API's error body has no place for them.
	problems bool
	// owner is whose share of the budget for bodies the request uses.
	owner string
	// read says that the body was read, as far as it will be, and listened how long ReadOn
	// did so for a client that was refused.
	read     bool
	listened time.Duration
	// gate is whose place the request needs, line where it waits for one, and
	// inside whether it has one, and since when. caller is who it says that it is from,
	// apart whether it stands with those who flood.
	gate   *Gate
	line   *line
	apart  bool
	inside bool
	since  time.Duration
	caller caller
	err    error
	attrs  []slog.Attr
}

type exchangeKey struct{}

// From returns the exchange of a request's context. Outside of a request it
// is an empty one that nobody reads.
func From(ctx context.Context) *Exchange {
	if ex, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		return ex
	}
	return &Exchange{}
}

func withExchange(ctx context.Context, ex *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, ex)
}

// Note adds attributes to the request's log line. Ids only, and where somebody is who
// is refused for that: what people wrote, keys and cookies have no place in logs.
func (ex *Exchange) Note(attrs ...slog.Attr) { ex.attrs = append(ex.attrs, attrs...) }

// Belongs says whose share of the budget for bodies the request uses, such as
// "org 7". Without it all share one.
func (ex *Exchange) Belongs(owner string) { ex.owner = owner }

// fail remembers the internal cause of a 5xx for the log line; the first one
// counts.
func (ex *Exchange) fail(err error) {
	if ex.err == nil {
		ex.err = err
	}
}
