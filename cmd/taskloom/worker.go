package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/worker"
)

func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Work on the task runs and tell Temporal what Postgres has accepted",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.work(cmd.Context()) },
	}
}

func (a *app) work(ctx context.Context) error {
	p, err := a.newProcess(ctx, "worker")
	if err != nil {
		return err
	}
	defer p.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTP(p.metrics, p.listener) })
	group.Go(func() error { p.greet(ctx); return nil })
	group.Go(func() error {
		// Run ends with ctx, in order; the metrics stay until it has.
		err := worker.Run(ctx, worker.Deps{
			Store: p.store, Client: p.temporal, Namespace: p.config.TemporalNamespace, Logger: p.log,
			Registerer: p.registry, PoolSize: int(p.config.DatabaseMaxConns),
		})
		p.ready.drain()
		return errors.Join(err, p.metrics.Close())
	})
	p.log.Info("Working.", "metrics", p.listener.Addr().String())
	return group.Wait()
}
