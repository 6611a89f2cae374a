package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/pipeline"
)

const (
	// bodyTimeout lets a caller on a slow line send the largest body.
	bodyTimeout = 5 * time.Minute
	// drainTimeout is how long requests have to finish once the end is near.
	drainTimeout = 25 * time.Second
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the External API, the console API and the web app at ADDR",
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
	l, err := listen(ctx, "ADDR", p.config.Addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: api.New(api.Deps{
			Store: p.store, Logger: p.log, SecretKey: p.config.Key(), PublicURL: p.config.PublicURL,
			Ready: p.ready.check, Metrics: p.registry, Publish: pipeline.Options{LLM: false},
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
		return p.drain(server)
	})
	p.log.Info("Serving.", "addr", l.Addr().String(), "metrics", p.listener.Addr().String(), "url", p.config.PublicURL)
	return group.Wait()
}

// drain ends in order: load balancers are told first, then requests finish,
// then the metrics go, so that the last scrape sees them.
func (p *process) drain(server *http.Server) error {
	p.log.Info("Shutting down.")
	p.ready.drain()
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	pause(ctx, p.config.DrainDelay)
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		p.log.Warn("Requests that did not finish are cut off.", "after", drainTimeout.String())
		err = server.Close()
	}
	return errors.Join(err, p.metrics.Shutdown(ctx))
}

// pause waits, or until ctx is over.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
