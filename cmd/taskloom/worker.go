package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/config"
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
		err := worker.Run(ctx, p.workerDeps())
		p.ready.drain()
		return errors.Join(err, p.metrics.Close())
	})
	p.log.Info("Working.", "metrics", p.listener.Addr().String())
	return group.Wait()
}

func (p *process) workerDeps() worker.Deps {
	d := worker.Deps{
		Store: p.store, Client: p.temporal, Namespace: p.config.TemporalNamespace, Logger: p.log,
		Registerer: p.registry, PoolSize: int(p.config.DatabaseMaxConns), CachedRuns: p.config.CachedRuns,
		Limits: uploadLimits(p.config.Uploads), Serving: &p.serving,
	}
	if p.objects != nil {
		d.Objects = activities.Bucket{Store: p.objects}
	}
	return d
}

func uploadLimits(u config.Uploads) archive.Limits {
	l := archive.DefaultLimits()
	l.Entries, l.TotalBytes, l.FileBytes, l.Ratio = u.MaxEntries, u.MaxTotalBytes, u.MaxFileBytes, u.MaxRatio
	return l
}
