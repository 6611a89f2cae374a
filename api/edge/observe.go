package edge

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/taskloom/taskloom/internal/fault"
)

// Observer writes one log line and one set of metrics for each request.
type Observer struct {
	Logger *slog.Logger
	Now    func() time.Time

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// durationBuckets, in seconds, has a bound at every latency that is promised
// (30, 50, 100, 150, 200 ms, 2 and 5 s): whether a promise is kept is then
// counted, not estimated.
var durationBuckets = []float64{.0025, .005, .01, .025, .03, .05, .1, .15, .2, .5, 1, 2, 5, 10, 30}

// NewObserver registers the metrics; reg may be nil.
func NewObserver(logger *slog.Logger, now func() time.Time, reg prometheus.Registerer) *Observer {
	o := &Observer{
		Logger: logger, Now: now,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taskloom_http_requests_total",
			Help: "HTTP requests by route template and status, in requests.",
		}, []string{"method", "route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "taskloom_http_request_duration_seconds",
			Help:    "Time from the first byte of a request to the last byte of its answer, in seconds.",
			Buckets: durationBuckets,
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "taskloom_http_requests_in_flight",
			Help: "HTTP requests that are being answered, in requests.",
		}),
	}
	if reg != nil {
		reg.MustRegister(o.requests, o.duration, o.inFlight)
	}
	return o
}

// serverErrors are the statuses that requests fail with through no fault of their own.
var serverErrors = []int{http.StatusInternalServerError, http.StatusServiceUnavailable}

// Expect begins the counts of what every route may fail with, at zero: of a series
// that comes with a burst of errors Prometheus sees the height, and no rise. routes
// is the outermost router with all of its routes.
func (o *Observer) Expect(routes chi.Routes) {
	count := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		for _, status := range serverErrors {
			o.requests.WithLabelValues(knownMethod(method), routeLabel(pattern), strconv.Itoa(status))
		}
		return nil
	}
	_ = chi.Walk(routes, count) // count has no errors
}

// Middleware observes requests and turns panics into answers. It is a
// middleware of the outermost router, inside Identify, so that it finds the
// route in the router's context afterwards.
func (o *Observer) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := o.Now()
		o.inFlight.Inc()
		defer o.inFlight.Dec()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer o.finish(r, ww, began)
		defer recoverPanic(ww, r)
		next.ServeHTTP(ww, r)
	})
}

// recoverPanic answers 500 when nothing was sent yet. The log line of the
// request carries the panic and its stack.
func recoverPanic(w middleware.WrapResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	ex := From(r.Context())
	if err, ok := cause.(error); ok && (errors.Is(err, http.ErrAbortHandler) || r.Context().Err() != nil) {
		// The connection is gone or is to be cut; there is no one to answer.
		panic(http.ErrAbortHandler)
	}
	ex.fail(fmt.Errorf("panic: %v", cause))
	ex.Note(slog.String("stack", string(debug.Stack())))
	if w.Status() != 0 {
		// Half an answer must not look like a whole one.
		panic(http.ErrAbortHandler)
	}
	WriteError(w, r, fault.New(fault.Internal, internalMessage))
}

func (o *Observer) finish(r *http.Request, w middleware.WrapResponseWriter, began time.Time) {
	ex := From(r.Context())
	took := o.Now().Sub(began) - ex.listened // for which nobody waited
	status := w.Status()
	if status == 0 {
		status = http.StatusOK
		if r.Context().Err() != nil {
			status = statusClientGone
		}
	}
	pattern := routePattern(r)
	method := knownMethod(r.Method)
	o.requests.WithLabelValues(method, pattern, strconv.Itoa(status)).Inc()
	observe(o.duration.WithLabelValues(method, pattern), took, ex.ID)
	span := trace.SpanFromContext(r.Context())
	span.SetName(method + " " + pattern)
	span.SetAttributes(attribute.String("http.route", pattern), attribute.String("request.id", ex.ID))
	o.log(r, status, w.BytesWritten(), pattern, took)
}

// longestExemplar is how long a request id may be to go with a measurement:
// OpenMetrics allows 128 characters, the name of the label included.
const longestExemplar = 100

// observe measures, and leaves the request's id as the exemplar of its bucket:
// from a slow bucket one finds the log line of a request that was slow.
func observe(o prometheus.Observer, took time.Duration, requestID string) {
	with, ok := o.(prometheus.ExemplarObserver)
	if !ok || len(requestID) > longestExemplar {
		o.Observe(took.Seconds())
		return
	}
	with.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"request_id": requestID})
}

// routePattern is the label of the route that matched.
func routePattern(r *http.Request) string {
	return routeLabel(chi.RouteContext(r.Context()).RoutePattern())
}

// routeLabel is the template of a route, so that paths that callers make up do not
// become label values.
func routeLabel(pattern string) string {
	if pattern == "" || strings.HasSuffix(pattern, "/*") {
		return "unmatched"
	}
	return pattern
}

// log writes the request's only line. Paths hold ids and no secrets; queries
// are left out.
func (o *Observer) log(r *http.Request, status, bytes int, pattern string, took time.Duration) {
	ex := From(r.Context())
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", ex.ID), slog.String("method", r.Method), slog.String("path", withoutKeys(r.URL.Path)),
		slog.String("route", pattern), slog.Int("status", status), slog.Int("bytes", bytes),
		slog.Duration("took", took),
	}
	attrs = append(attrs, ex.attrs...)
	if ex.err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", ex.err.Error()))
	}
	o.Logger.LogAttrs(r.Context(), level, "request", attrs...)
}

var keyLike = regexp.MustCompile(`pk_live_[0-9A-Za-z]*`)

// withoutKeys hides what somebody put into the path by mistake.
func withoutKeys(path string) string { return keyLike.ReplaceAllString(path, "pk_live_…") }

// knownMethod keeps callers from making up label values.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}
