package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// newRegistry makes the metrics of a process, with Go's and the pool's own.
func newRegistry(st *store.Store) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "taskloom_build_info", Help: "1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": buildVersion().Version, "commit": buildVersion().Commit},
	})
	build.Set(1)
	reg.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	pool := st.Pool()
	for name, read := range map[string]func() float64{
		"max":      func() float64 { return float64(pool.Stat().MaxConns()) },
		"acquired": func() float64 { return float64(pool.Stat().AcquiredConns()) },
		"idle":     func() float64 { return float64(pool.Stat().IdleConns()) },
	} {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "taskloom_db_connections", Help: "Connections of this process's pool to Postgres by state, in connections; max is how many there may be.",
			ConstLabels: prometheus.Labels{"state": name},
		}, read))
	}
	for _, c := range []struct {
		name, help string
		read       func() float64
	}{
		{"taskloom_db_waits_total", "How often somebody had to wait for a connection of the pool, in times.", func() float64 { return float64(pool.Stat().EmptyAcquireCount()) }},
		{"taskloom_db_wait_seconds_total", "How long they waited, added up, in seconds: its rate is how many wait at a time.", func() float64 { return pool.Stat().EmptyAcquireWaitTime().Seconds() }},
		{"taskloom_db_gave_up_total", "How often somebody gave up waiting for a connection of the pool, in times.", func() float64 { return float64(pool.Stat().CanceledAcquireCount()) }},
		{"taskloom_leases_expired_total", "Leases that this process took back from people who did not end their work in time, in leases; one that the next claimant took over is not among them.", func() float64 { return float64(st.LeasesExpired()) }},
	} {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: c.name, Help: c.help}, c.read))
	}
	reg.MustRegister(newVitals(st))
	return reg
}

// metricsServer answers Prometheus, and the probes of orchestrators, on a
// listener that callers of the API do not reach.
func metricsServer(reg *prometheus.Registry, ready http.Handler) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.Handle("GET /readyz", ready)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{\"status\":\"ok\"}\n")
	})
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute}
}

// listen opens a port; what is wrong with it is told with its variable.
func listen(ctx context.Context, variable, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.New(fault.Unavailable,
			"another process listens at %s; stop it, or set %s to another host:port", addr, variable)
	case err != nil:
		return nil, fault.New(fault.Unavailable,
			"cannot listen at %s; set %s to a host:port of this machine", addr, variable).Because(err)
	}
	return l, nil
}

// serveHTTP serves until the server is shut down.
func serveHTTP(s *http.Server, l net.Listener) error {
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}
