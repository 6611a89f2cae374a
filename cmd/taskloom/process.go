package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

// flushTimeout is how long the end of a process waits for telemetry.
const flushTimeout = 5 * time.Second

// databasePatience is how long a request or a step waits for a connection to
// the database before it is told to come again.
const databasePatience = 2 * time.Second

// statementTimeout ends what serve asks the database. A worker has statements
// that add up all rows, and its steps have deadlines of their own.
const statementTimeout = 30 * time.Second

// process is what serve and worker have in common: settings, log, database,
// Temporal, metrics and probes. Neither the database nor Temporal need be
// there when it starts.
type process struct {
	config   config.Config
	log      *slog.Logger
	store    *store.Store
	temporal client.Client
	objects  *blob.Store // nil without an object store
	registry *prometheus.Registry
	ready    *readiness
	serving  atomic.Bool // of worker: it takes work
	metrics  *http.Server
	listener net.Listener
	flushes  flushes
}

func (a *app) newProcess(ctx context.Context, name string, needs ...string) (*process, error) {
	c, err := a.config(append(needs, "DATABASE_URL", "TEMPORAL_ADDRESS")...)
	if err != nil {
		return nil, err
	}
	p := &process{config: c, log: newLogger(c, a.err, name)}
	if p.listener, err = listen(ctx, "METRICS_ADDR", c.MetricsAddr); err != nil {
		return nil, err
	}
	options := store.Options{MaxConns: c.DatabaseMaxConns, Patience: databasePatience, Warm: true}
	if name == "serve" {
		options.StatementTimeout = statementTimeout
	}
	p.store, err = store.Open(ctx, c.DatabaseURL.Reveal(), options)
	if err != nil {
		return nil, errors.Join(err, p.listener.Close())
	}
	p.registry = newRegistry(p.store)
	if p.flushes, err = startTelemetry(ctx, c, name, p.registry); err != nil {
		return nil, errors.Join(err, p.listener.Close())
	}
	if p.temporal, err = newTemporal(c, p.log, p.registry); err != nil {
		return nil, errors.Join(err, p.listener.Close())
	}
	if c.S3.Configured() {
		p.objects = newObjects(c.S3)
	}
	p.ready = newReadiness(p.parts(name))
	p.metrics = metricsServer(p.registry, p.ready)
	return p, nil
}

// parts are what the process needs, by name. For serve a worker belongs to it:
// without one, tasks go no further than the first submission.
func (p *process) parts(process string) map[string]func(context.Context) error {
	parts := map[string]func(context.Context) error{
		"database": p.store.Ping,
		"schema":   func(ctx context.Context) error { return migrated(ctx, p.store) },
		"temporal": func(ctx context.Context) error { return worker.Reach(ctx, p.temporal, p.config.TemporalNamespace) },
	}
	if p.objects != nil {
		parts["s3"] = p.objects.Check
	}
	switch process {
	case "serve":
		parts["worker"] = p.workerAlive
	case "worker":
		parts["worker"] = p.takesWork
	}
	return parts
}

// takesWork is for the worker itself: whoever replaces processes by their probes
// would put one that waits for something in the place of one that works.
func (p *process) takesWork(context.Context) error {
	if !p.serving.Load() {
		return errors.New("it takes no work yet; its log says what it waits for")
	}
	return nil
}

func (p *process) workerAlive(ctx context.Context) error {
	n, err := p.store.WorkersAlive(ctx, workflows.TaskQueue, workersSeen)
	if err == nil && n == 0 {
		return errors.New("no worker has been heard that reaches Temporal; start one: taskloom worker")
	}
	return err
}

// greet says in the log what is not there yet; the process waits for it.
func (p *process) greet(ctx context.Context) {
	for part, err := range p.ready.check(ctx) {
		if err != nil && ctx.Err() == nil {
			p.log.Warn("A part does not answer yet; see taskloom doctor.", "part", part, "error", err)
		}
	}
}

// close ends what is left when the work is over, in reverse.
func (p *process) close() {
	// The process's own context is over by now.
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	p.temporal.Close()
	p.store.Close()
	p.log.Info("Connections are closed.")
	if err := p.flushes.run(ctx); err != nil {
		p.log.Warn("Telemetry is lost.", "error", err)
	}
	_ = p.metrics.Close() // where serving did not begin
	_ = p.listener.Close()
	p.log.Info("Stopped.")
}
