package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// tripAfter failures in a row open the breaker.
	tripAfter = 5
	// openFor is how long nothing is delivered before one row is tried.
	openFor = 2 * time.Second
)

// newBreaker keeps the dispatcher away from a Temporal that is down or full, and says in
// the log which of them it was when it opens.
func newBreaker(log *slog.Logger, m *metrics) *gobreaker.CircuitBreaker[outcome] {
	m.breaker.Set(float64(gobreaker.StateClosed)) // one of before may have ended open

	var met atomic.Pointer[error] // the outage that was met last
	return gobreaker.NewCircuitBreaker[outcome](gobreaker.Settings{
		Name:        "temporal",
		MaxRequests: 1,
		Timeout:     openFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
		IsSuccessful: func(err error) bool {
			if !outage(err) {
				return true
			}
			met.Store(&err)
			return false
		},
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			m.breaker.Set(float64(to))
			if from == gobreaker.StateClosed {
				m.trips.Inc()
			}
			say := log
			if err := met.Load(); to == gobreaker.StateOpen && err != nil {
				say = log.With("error", serviceerror.ToStatus(*err).Err()) // its text alone has no code
			}
			say.Warn("The dispatcher's breaker moved.", "from", from.String(), "to", to.String())
		},
	})
}

// outage reports whether the error says that Temporal cannot take anything
// now, rather than that it does not want this.
func outage(err error) bool {
	var (
		down *serviceerror.Unavailable
		full *serviceerror.ResourceExhausted
		slow *serviceerror.DeadlineExceeded
	)
	return errors.As(err, &down) || errors.As(err, &full) || errors.As(err, &slow) ||
		errors.Is(err, context.DeadlineExceeded) || shut(err)
}

// shut reports whether Temporal answers every call of ours with this error,
// whatever it asks for: it does not know us, or has no namespace for us. An
// operator mends that, and no row is to blame. That it has no such run is another
// error, of one row.
func shut(err error) bool {
	var (
		none    *serviceerror.NamespaceNotFound
		passive *serviceerror.NamespaceNotActive // another cluster has it
		closed  *serviceerror.NamespaceInvalidState
		away    *serviceerror.NamespaceUnavailable
		denied  *serviceerror.PermissionDenied
		old     *serviceerror.ClientVersionNotSupported
		older   *serviceerror.ServerVersionNotSupported
	)
	return errors.As(err, &none) || errors.As(err, &passive) || errors.As(err, &closed) || errors.As(err, &away) ||
		errors.As(err, &denied) || errors.As(err, &old) || errors.As(err, &older) ||
		status.Code(err) == codes.Unauthenticated // has no type of its own
}
