package edge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
)

// statuses is the table of spec section 7: which HTTP status each error code
// has.
var statuses = map[fault.Kind]int{
	fault.MissingAPIKey:   http.StatusUnauthorized,
	fault.InvalidAPIKey:   http.StatusUnauthorized,
	fault.InvalidRequest:  http.StatusBadRequest,
	fault.Unauthorized:    http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.NotFound:        http.StatusNotFound,
	fault.PayloadTooLarge: http.StatusRequestEntityTooLarge,
	fault.Validation:      http.StatusUnprocessableEntity,
	fault.RateLimited:     http.StatusTooManyRequests,
	fault.Internal:        http.StatusInternalServerError,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Conflict:        http.StatusConflict,
}

// statusClientGone is what logs and metrics show for a request whose caller
// hung up; nobody receives it.
const statusClientGone = 499

// internalMessage is all that a caller learns of an internal error.
const internalMessage = "something went wrong on our side; if it happens again, report the X-Request-Id of this answer"

// MaxProblems is how many problems an answer lists; longestName is the longest
// name that a node or a field can have, so that good ones stay whole;
// longestPath is how much of a place or a message an answer repeats. Callers' bodies decide about both.
const (
	MaxProblems = 100
	longestName = 63
	longestPath = 200
)

// ErrorBody is the body of every error answer (spec section 7).
type ErrorBody struct {
	Error      fault.Kind `json:"error"`
	Message    string     `json:"message"`
	RetryAfter int        `json:"retry_after,omitempty"`
	// Problems are listed by the console API only.
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is one fault inside a document or a form.
type Problem struct {
	Node    string `json:"node,omitempty" doc:"Key of the node, if it is about one."`
	Field   string `json:"field,omitempty" doc:"Name of the form field, if it is about one."`
	Path    string `json:"path,omitempty" doc:"Place in the document, or JSON pointer into the field's value."`
	Message string `json:"message" doc:"What is wrong there and what is expected."`
}

// RefusalError is an error answer on its way out of the process.
type RefusalError struct {
	ErrorBody
	status int
	// wait is how long a retry should wait, for the Retry-After header.
	wait time.Duration
	// cause is the internal error behind a 5xx, for the log.
	cause error
}

// Error returns the message that the caller sees.
func (r *RefusalError) Error() string { return r.Message }

// GetStatus returns the HTTP status of the answer.
func (r *RefusalError) GetStatus() int { return r.status }

// MarshalJSON writes the body alone.
func (r *RefusalError) MarshalJSON() ([]byte, error) { return plainJSON(r.ErrorBody) }

// plainJSON writes JSON for programs, not for HTML: "<" stays what it is.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// huma makes its errors through this package-level function, and there is no
// other hook: hence an init.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return refuse(context.Background(), status, message, errs)
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		r := refuse(ctx.Context(), status, message, errs)
		r.settle(From(ctx.Context()), ctx.SetHeader)
		return r
	}
	huma.DefaultArrayNullable = false
	// A key in another case is an unknown one: huma would not check "Role" beside
	// role, but decoding takes the last of both.
	huma.ValidateStrictCasing = true
}

// Refuse turns any error into its answer.
func Refuse(ctx context.Context, err error) *RefusalError {
	return refuse(ctx, http.StatusInternalServerError, "", []error{err})
}

// refuse is the funnel. A fault keeps its kind and message; what huma found in
// the parameters or the body becomes the kind of the place; all else is
// internal.
func refuse(ctx context.Context, status int, message string, errs []error) *RefusalError {
	for _, err := range errs {
		if done, ok := errors.AsType[*RefusalError](err); ok {
			return done
		}
		if u, ok := errors.AsType[*unsureError](err); ok {
			return &RefusalError{
				status: http.StatusInternalServerError, cause: u.cause,
				ErrorBody: ErrorBody{Error: fault.Internal, Message: u.message},
			}
		}
		if f, ok := errors.AsType[*fault.Error](err); ok {
			return fromFault(f, err)
		}
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return &RefusalError{status: statusClientGone, ErrorBody: ErrorBody{Error: fault.Unavailable, Message: "the request was cancelled"}}
		}
	}
	if status >= http.StatusInternalServerError {
		return &RefusalError{
			status: status, cause: errors.Join(errs...),
			ErrorBody: ErrorBody{Error: fault.Internal, Message: internalMessage},
		}
	}
	return fromHuma(status, message, errs)
}

// unsureError is of what may have been done all the same.
type unsureError struct {
	message string
	cause   error
}

// Error returns the message and the cause, for the log.
func (u *unsureError) Error() string { return u.message + ": " + u.cause.Error() }

// Unwrap returns the cause.
func (u *unsureError) Unwrap() error { return u.cause }

// Unsure is the error of an operation of which nobody knows whether it was done,
// and that would be done twice by a retry. It is internal, as 503 asks for a
// retry; the message, which the caller sees, says what to do instead.
func Unsure(cause error, message string) error { return &unsureError{message: message, cause: cause} }

// withStatus answers a fault with another status than its kind's.
func withStatus(status int, f *fault.Error) *RefusalError {
	r := fromFault(f, f)
	r.status = status
	return r
}

func fromFault(f *fault.Error, err error) *RefusalError {
	r := &RefusalError{
		status: statuses[f.Kind], wait: f.RetryAfter,
		ErrorBody: ErrorBody{Error: f.Kind, Message: f.Message},
	}
	for _, p := range f.Problems[:min(len(f.Problems), MaxProblems)] {
		r.Problems = append(r.Problems, Problem{
			Node: shorten(p.Node, longestName), Field: shorten(p.Field, longestName), Path: shorten(p.Path, longestPath), Message: p.Message,
		})
	}
	switch f.Kind {
	case fault.RateLimited:
		r.RetryAfter = seconds(f.RetryAfter)
	case fault.Internal:
		r.Message, r.cause = internalMessage, err
	case fault.Unavailable:
		r.cause = err
	case fault.MissingAPIKey, fault.InvalidAPIKey, fault.InvalidRequest, fault.Unauthorized, fault.Forbidden,
		fault.NotFound, fault.PayloadTooLarge, fault.Validation, fault.Conflict:
	default:
		r.status, r.Message, r.cause = http.StatusInternalServerError, internalMessage, err
	}
	return r
}

// seconds rounds up, so that nobody comes back too early.
func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// fromHuma answers what huma's own checks found: a bad path parameter names
// nothing that exists, a bad query value is a bad request, a bad body breaks
// the schema.
func fromHuma(status int, message string, errs []error) *RefusalError {
	r := &RefusalError{status: status, ErrorBody: ErrorBody{Error: kindOf(status), Message: message}}
	found := 0
	for _, err := range errs {
		var d huma.ErrorDetailer
		if !errors.As(err, &d) {
			continue
		}
		detail := d.ErrorDetail()
		where, rest, _ := strings.Cut(detail.Location, ".")
		switch where {
		case "path":
			return fromFault(fault.New(fault.NotFound, "nothing found: %s in the path: %s", rest, detail.Message), err)
		case "query", "header":
			return fromFault(fault.New(fault.InvalidRequest, "%s: %s", rest, detail.Message), err)
		}
		if found++; found <= MaxProblems {
			r.Problems = append(r.Problems, Problem{Path: Shorten(rest), Message: shorten(detail.Message, longestPath)})
		}
	}
	if found > 0 {
		r.Message = "the body does not fit: " + describe(r.Problems, found)
	}
	return r
}

// describe puts the first problems of all that were found into one line.
func describe(problems []Problem, found int) string {
	const most = 3
	var parts []string
	for _, p := range problems[:min(most, len(problems))] {
		if p.Path == "" {
			parts = append(parts, p.Message)
			continue
		}
		parts = append(parts, p.Path+": "+p.Message)
	}
	if more := found - most; more > 0 {
		parts = append(parts, strconv.Itoa(more)+" more")
	}
	return strings.Join(parts, "; ")
}

// kindOf returns the code for a status that huma chose.
func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusUnsupportedMediaType, http.StatusNotAcceptable:
		return fault.InvalidRequest
	case http.StatusMethodNotAllowed:
		return fault.Conflict
	}
	for _, k := range fault.Kinds() {
		if statuses[k] == status && !slices.Contains([]fault.Kind{fault.MissingAPIKey, fault.InvalidAPIKey}, k) {
			return k
		}
	}
	return fault.InvalidRequest
}

// settle sets the headers that belong to the error, hides what this surface
// does not show, and hands the cause to the log.
func (r *RefusalError) settle(ex *Exchange, set func(name, value string)) {
	if r.cause != nil {
		ex.fail(r.cause)
	}
	if !ex.problems {
		r.Problems = nil
	}
	if r.wait > 0 || r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		set("Retry-After", strconv.Itoa(seconds(r.wait)))
	}
	if r.status == http.StatusUnauthorized && r.ErrorBody.Error != fault.Unauthorized {
		set("WWW-Authenticate", `Bearer realm="taskloom"`)
	}
}

// WriteError answers with an error outside of huma's handlers.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	refusal := Refuse(r.Context(), err)
	refusal.settle(From(r.Context()), w.Header().Set)
	body, err := plainJSON(refusal)
	if err != nil {
		From(r.Context()).fail(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(refusal.status)
	// A caller who hung up misses the answer; there is nobody left to tell.
	_, _ = w.Write(body)
}

// WriteHumaError answers with an error from a huma middleware.
func WriteHumaError(api huma.API, ctx huma.Context, err error) {
	// huma reports a failed write on its own; the answer is lost either way.
	_ = huma.WriteErr(api, ctx, http.StatusInternalServerError, "", err)
}
