package worker

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the worker's own; the SDK's come with NewClient. How the product
// stands as a whole is told by every process, so that it is told without a
// worker, too: that is not here.
type metrics struct {
	breaker    prometheus.Gauge
	trips      prometheus.Counter
	temporal   prometheus.Gauge
	deliveries *prometheus.CounterVec
	delay      *prometheus.HistogramVec
	steps      prometheus.Histogram
	rung       prometheus.Counter
}

// Labels of delay: what somebody waits for, and claims and starts, which give way
// to it.
const (
	delayOfEvents = "event"
	delayOfClaims = "claim"
	delayOfStarts = "start"
)

// delays are the buckets of what people wait for, in seconds.
var delays = []float64{.01, .025, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300, 900}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "taskloom", Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "taskloom", Name: name, Help: help}
	}
	m := &metrics{
		breaker:    gauge("dispatch_breaker_state", "State of the dispatcher's breaker: 0 closed, 1 trying, 2 open and nothing is delivered."),
		trips:      prometheus.NewCounter(counter("dispatch_breaker_trips_total", "How often the dispatcher's breaker opened after it was closed, in times.")),
		temporal:   gauge("worker_temporal_up", "1 when this worker serves and Temporal answers, 0 when not."),
		deliveries: prometheus.NewCounterVec(counter("deliveries_total", "Outbox rows and rings of uploads by what became of them, in rows."), []string{"result"}),
		delay: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "taskloom", Name: "delivery_delay_seconds",
			Help:    "Time from the commit of an event to Temporal's answer that it has it, in seconds, by the clock of Postgres until a worker takes it.",
			Buckets: delays,
		}, []string{"kind"}),
		steps: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "taskloom", Name: "step_delay_seconds",
			Help:    "Time from when something was handed in until the step that follows from it is written, in seconds, by the clock of Postgres.",
			Buckets: delays,
		}),
		rung: prometheus.NewCounter(counter("tasks_rung_total", "Tasks that lagged so long that the reconciler had to ring their runs, in tasks.")),
	}
	for _, o := range []outcome{delivered, settled, restarted, heldBack, unavailable, refused} {
		m.deliveries.WithLabelValues(string(o)) // from zero on, for rates
	}
	for _, kind := range []string{delayOfEvents, delayOfClaims, delayOfStarts} {
		m.delay.WithLabelValues(kind)
	}
	return m, errors.Join(reg.Register(m.breaker), reg.Register(m.trips), reg.Register(m.temporal), reg.Register(m.deliveries),
		reg.Register(m.delay), reg.Register(m.steps), reg.Register(m.rung))
}

// waited counts how long people waited for a step.
func (m *metrics) waited(d time.Duration) { m.steps.Observe(d.Seconds()) }
