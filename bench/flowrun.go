package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// flowRun is the product's side: tasks are created, and clients claim and hand
// in until all are finished.
type flowRun struct {
	world *world
	crew  crew

	submitted, approved atomic.Int64
	asking              sync.Mutex
}

// sample returns tasks finished per second, from the request that creates
// them to the last one that the rows call finished.
func (r *flowRun) sample(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, flowTimeout)
	defer cancel()
	if err := r.world.clear(ctx); err != nil {
		return 0, err
	}
	r.submitted.Store(0)
	r.approved.Store(0)
	body := mathcheck.CreateBody(flowTasks, mathcheck.Small)
	began := time.Now()
	if err := r.world.create(ctx, body); err != nil {
		return 0, err
	}
	g, gctx := errgroup.WithContext(ctx)
	for c := range flowClients {
		g.Go(func() error { return r.live(gctx, c) })
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	for {
		n, err := r.world.count(ctx, `SELECT count(*) FROM tasks WHERE pipeline_id = $1 AND status = 'finished'`, r.world.pipelineID)
		if err != nil {
			return 0, err
		}
		if n == flowTasks {
			break
		}
		if err := wait(ctx, 5*time.Millisecond); err != nil {
			return 0, err
		}
	}
	rate := flowTasks / time.Since(began).Seconds()
	return rate, r.world.settled(ctx)
}

// live is one client: half of them contribute as long as there is something to
// do, the others review; in the end all review.
func (r *flowRun) live(ctx context.Context, number int) error {
	for {
		contributing := number%2 == 0 && r.submitted.Load() < flowTasks
		if !contributing && r.approved.Load() >= flowTasks {
			return nil
		}
		claim, err := r.next(ctx, number, contributing)
		if err != nil {
			return err
		}
		switch {
		case claim == nil:
			continue
		case contributing:
			err = r.crew.submit(ctx, number, claim.ID)
			r.submitted.Add(1)
		default:
			err = r.crew.approve(ctx, number, claim.ID)
			r.approved.Add(1)
		}
		if err != nil {
			return err
		}
	}
}

// next claims, and waits when there is nothing: of all clients that find the
// queue empty one looks again at a time, for what is measured is the work and
// not the asking.
func (r *flowRun) next(ctx context.Context, number int, subtask bool) (*held, error) {
	claim, err := r.crew.claim(ctx, number, subtask)
	if claim != nil || err != nil {
		return claim, err
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	for r.approved.Load() < flowTasks && (!subtask || r.submitted.Load() < flowTasks) {
		if err := wait(ctx, askAgain); err != nil {
			return nil, err
		}
		claim, err := r.crew.claim(ctx, number, subtask)
		if claim != nil || err != nil {
			return claim, err
		}
	}
	return nil, nil //nolint:nilnil // all is done
}

// settled waits until the runs have nothing left to do, so that no sample pays
// for the one before, and checks what the product promises of its data.
func (w *world) settled(ctx context.Context) error {
	for {
		st, err := w.store.OutboxStats(ctx)
		if err != nil {
			return err
		}
		if st.Rows == 0 && st.Lagging == 0 {
			break
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	broken, err := w.store.CheckInvariants(ctx, true)
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("%d promises are broken, first: %s: %s", len(broken), broken[0].Invariant, broken[0].Where)
	}
	return err
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
