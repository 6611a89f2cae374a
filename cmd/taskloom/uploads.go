package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/api/console"
	v1 "github.com/taskloom/taskloom/api/v1"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

// reachableBudget is how long the question may take whether an upload can be
// processed. A caller who gets a no has it within two seconds.
const reachableBudget = 1500 * time.Millisecond

// uploads is what the API needs for ZIP ingestion.
func (p *process) uploads() v1.Uploads {
	u := v1.Uploads{Reachable: p.ingestReachable, MaxArchiveBytes: p.config.Uploads.MaxArchiveBytes}
	if p.objects != nil {
		u.Objects = p.objects
	}
	return u
}

// links gives out links to files; nil without an object store.
func (p *process) links() console.Objects {
	if p.objects == nil {
		return nil // and no nil inside of an interface
	}
	return p.objects
}

// ingestReachable asks whether a worker takes uploads and Temporal is there.
// Neither alone would do: a worker's last word may be older than an outage of
// Temporal, and Temporal remembers workers that are gone.
func (p *process) ingestReachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachableBudget)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error {
		n, err := p.store.WorkersAlive(ctx, workflows.IngestQueue, workersSeen)
		if err == nil && n == 0 {
			return errors.New("no worker has been heard that takes uploads and reaches Temporal; start one: taskloom worker")
		}
		return err
	})
	g.Go(func() error { return worker.Reach(ctx, p.temporal, p.config.TemporalNamespace) })
	return g.Wait()
}
