package worker

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the worker's own; the SDK's come with NewClient.
type metrics struct {
	rows       prometheus.Gauge
	oldest     prometheus.Gauge
	lagging    prometheus.Gauge
	breaker    prometheus.Gauge
	temporal   prometheus.Gauge
	deliveries *prometheus.CounterVec
	rung       prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "taskloom", Name: name, Help: help})
	}
	m := &metrics{
		rows:     gauge("outbox_rows", "Events that Temporal has not been told yet."),
		oldest:   gauge("outbox_oldest_seconds", "Age of the oldest of them."),
		lagging:  gauge("tasks_lagging", "Tasks with events whose consequences are not written yet."),
		breaker:  gauge("dispatch_breaker_state", "0 closed, 1 trying, 2 open: nothing is delivered."),
		temporal: gauge("worker_temporal_up", "1 when this worker serves and Temporal answers."),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "taskloom", Name: "deliveries_total", Help: "Outbox rows by what became of them.",
		}, []string{"result"}),
		rung: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "taskloom", Name: "tasks_rung_total", Help: "Tasks that the reconciler had to ring.",
		}),
	}
	return m, errors.Join(reg.Register(m.rows), reg.Register(m.oldest), reg.Register(m.lagging), reg.Register(m.breaker),
		reg.Register(m.temporal), reg.Register(m.deliveries), reg.Register(m.rung))
}
