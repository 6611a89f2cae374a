package main

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/api/console"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/pipeline"
)

const (
	// bodyTimeout ends what has no deadline of its own: the JSON of an API must arrive
	// sooner (edge.Reader).
	bodyTimeout = 5 * time.Minute
	// drainTimeout is how long requests have to finish after DRAIN_DELAY,
	// metricsTimeout how long the last scrape has after that.
	drainTimeout   = 25 * time.Second
	metricsTimeout = 5 * time.Second
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the External API and the console API at ADDR",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
}

func (a *app) serve(ctx context.Context) error {
	p, err := a.newProcess(ctx, "serve", "SECRET_KEY")
	if err != nil {
		return err
	}
	defer p.close()
	limits, err := limit.New(limit.Options{
		Rates: p.config.RateLimits.Rates(), RedisURL: p.config.RedisURL.Reveal(), Log: p.log,
	})
	if err != nil {
		return err
	}
	defer limits.Close()
	webApp, err := p.webApp(ctx)
	if err != nil {
		return err
	}
	l, err := listen(ctx, "ADDR", p.config.Addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: api.New(api.Deps{
			Store: p.store, Logger: p.log, SecretKey: p.config.Key(), PublicURL: p.config.PublicURL,
			TrustedProxies: p.config.Proxies(), Limits: limits, InFlight: p.config.AtOnce(runtime.GOMAXPROCS(0)), Ready: p.ready.check, Ending: p.ready.draining.Load, Metrics: p.registry, Publish: pipeline.Options{LLM: false},
			Uploads: p.uploads(), Links: p.links(), App: webApp,
			About: console.About{
				Version: buildVersion().Version, TemporalUIURL: p.config.TemporalUIURL, TemporalNamespace: p.config.TemporalNamespace,
			},
		}),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      bodyTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTP(p.metrics, p.listener) })
	group.Go(func() error { return serveHTTP(server, l) })
	group.Go(func() error { p.greet(ctx); return nil })
	group.Go(func() error {
		<-ctx.Done()
		return p.drain(server, drainTimeout)
	})
	p.log.Info("Serving.", "addr", l.Addr().String(), "metrics", p.listener.Addr().String(), "url", p.config.PublicURL)
	return group.Wait()
}

// drain ends in order: load balancers are told first and get their time, then
// requests finish within the timeout, then the metrics go, so that the last
// scrape sees them.
func (p *process) drain(server *http.Server, timeout time.Duration) error {
	p.log.Info("Shutting down.")
	p.ready.drain()
	<-time.After(p.config.DrainDelay)
	err := p.shutdown(server, timeout)
	p.log.Info("Requests have ended.")
	return errors.Join(err, p.shutdown(p.metrics, metricsTimeout))
}

// shutdown lets a server's requests finish, and cuts off those that do not.
// That some did not is no failure of the process.
func (p *process) shutdown(server *http.Server, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	p.log.Warn("Requests that did not finish are cut off.", "after", timeout.String())
	return server.Close()
}
