// Package fault holds the error kinds of the product, one per `error` code of
// the External API (spec section 7). Every layer returns these for what a
// caller can act on; anything else is an internal error whose text never
// leaves the process. The mapping to HTTP statuses lives in package api.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a stable, machine-readable error code (spec section 7).
type Kind string

// The codes of spec section 7, in its order.
const (
	MissingAPIKey   Kind = "missing_api_key"
	InvalidAPIKey   Kind = "invalid_api_key"
	InvalidRequest  Kind = "invalid_request"
	Unauthorized    Kind = "unauthorized"
	Forbidden       Kind = "forbidden"
	NotFound        Kind = "not_found"
	PayloadTooLarge Kind = "payload_too_large"
	Validation      Kind = "validation_error"
	RateLimited     Kind = "rate_limit_exceeded"
	Internal        Kind = "internal_server_error"
	Unavailable     Kind = "service_unavailable"
	Conflict        Kind = "api_error"
)

// Kinds lists every code, for tables that must cover all of them.
func Kinds() []Kind {
	return []Kind{
		MissingAPIKey, InvalidAPIKey, InvalidRequest, Unauthorized, Forbidden, NotFound,
		PayloadTooLarge, Validation, RateLimited, Internal, Unavailable, Conflict,
	}
}

// Error is a failure that its caller may see. Message is always safe to show
// and says what to do; cause is for the log only.
type Error struct {
	Kind    Kind
	Message string
	// RetryAfter is how long to wait before another try; zero when waiting
	// does not help.
	RetryAfter time.Duration
	// Problems are the single faults behind the message (for example every
	// problem of a definition), each with its place.
	Problems []Problem

	cause error
}

// Problem is one fault inside a document, with its place.
type Problem struct {
	// Path is where in the document: "organizations[0].users[2].email", or where
	// in the value of Field.
	Path string `json:"path"`
	// Node and Field name the node and the field that it is about, where there
	// is one.
	Node  string `json:"node,omitempty"`
	Field string `json:"field,omitempty"`
	// Message says what is wrong there and what is expected.
	Message string `json:"message"`
}

// New makes an error of a kind. The message is shown to the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Error returns the kind and the message that the caller may see.
func (e *Error) Error() string {
	if e.cause != nil {
		return string(e.Kind) + ": " + e.Message + ": " + e.cause.Error()
	}
	return string(e.Kind) + ": " + e.Message
}

// Unwrap returns the internal cause, nil when there is none.
func (e *Error) Unwrap() error { return e.cause }

// Because returns a copy of e that carries an internal cause for the log.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// After returns a copy of e that tells the caller to wait d before a retry.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// With returns a copy of e that lists the single problems behind it.
func (e *Error) With(problems []Problem) *Error {
	c := *e
	c.Problems = problems
	return &c
}

// KindOf returns the kind of err, Internal for an error that is none of ours
// and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is of the kind.
func Is(err error, kind Kind) bool { return KindOf(err) == kind }
