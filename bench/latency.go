package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

const (
	// Tasks arrive at a constant rate well below what the machine can do,
	// whether or not those before them are through.
	arrivalEvery   = 200 * time.Millisecond
	arrivals       = 30
	thinking       = 500 * time.Millisecond
	lookEvery      = 2 * time.Millisecond
	visibleTimeout = time.Minute
)

// latencyPart measures how long after a message (a submission, a verdict) its
// consequence (the review is claimable, the task is finished) stands in the
// rows, against a signal and the statement that it causes.
func (b *bench) latencyPart(ctx context.Context, w *world, bare *bareFlow) error {
	var floor, ours recorder
	crew := w.overHTTP(flowClients)
	m := &measure{Case: fmt.Sprintf("message to next step visible, a task every %v", arrivalEvery), Unit: unitMillis, noiseRounds: 1}
	err := b.race(ctx, m,
		arriving(&floor, func(ctx context.Context, _ int, r *recorder) error { return bare.life(ctx, r) }),
		func(ctx context.Context) (float64, error) {
			if err := w.clear(ctx); err != nil {
				return 0, err
			}
			if err := w.create(ctx, mathcheck.CreateBody(arrivals, mathcheck.Small)); err != nil {
				return 0, err
			}
			v, err := arriving(&ours, func(ctx context.Context, n int, r *recorder) error { return w.life(ctx, crew, n, r) })(ctx)
			if err != nil {
				return 0, err
			}
			return v, w.settled(ctx)
		})
	m.FloorLatencies, m.OursLatencies = latenciesOf(floor.took), latenciesOf(ours.took)
	return err
}

// recorder collects times from many clients.
type recorder struct {
	mu   sync.Mutex
	took []float64
}

func (r *recorder) add(v float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, v)
}

// arriving starts one life after the other at a constant rate and returns the
// median of what they record.
func arriving(all *recorder, life func(ctx context.Context, number int, r *recorder) error) sampler {
	return func(ctx context.Context) (float64, error) {
		var r recorder
		g, gctx := errgroup.WithContext(ctx)
		next := time.NewTicker(arrivalEvery)
		defer next.Stop()
		for i := range arrivals {
			g.Go(func() error { return life(gctx, i, &r) })
			select {
			case <-next.C:
			case <-gctx.Done():
			}
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		all.took = append(all.took, r.took...)
		return percentile(r.took, 50), nil
	}
}

// life is one task, contributed and reviewed by a person who thinks.
func (w *world) life(ctx context.Context, crew crew, number int, r *recorder) error {
	for _, subtask := range []bool{true, false} {
		var claim *held
		for claim == nil {
			var err error
			if claim, err = crew.claim(ctx, number, subtask); err != nil {
				return err
			}
			if claim == nil { // another one's review is not there yet
				if err := wait(ctx, lookEvery*10); err != nil {
					return err
				}
			}
		}
		if err := wait(ctx, thinking); err != nil {
			return err
		}
		send, visible := crew.submit, `SELECT count(*) FROM task_nodes WHERE task_id = $1 AND key = 'check' AND status <> 'pending'`
		if !subtask {
			send, visible = crew.approve, `SELECT count(*) FROM tasks WHERE id = $1 AND status = 'finished'`
		}
		began := time.Now()
		if err := send(ctx, number, claim.ID); err != nil {
			return err
		}
		if err := w.see(ctx, visible, claim.TaskID); err != nil {
			return err
		}
		r.add(millisSince(began))
	}
	return nil
}

// life is one bare workflow: of four signals the second and the last count.
func (f *bareFlow) life(ctx context.Context, r *recorder) error {
	run, id, err := f.begin(ctx)
	if err != nil {
		return err
	}
	for step := 2; step <= bareSignals; step += 2 {
		if err := f.signal(ctx, run); err != nil {
			return err
		}
		if err := wait(ctx, thinking); err != nil {
			return err
		}
		began := time.Now()
		if err := f.signal(ctx, run); err != nil {
			return err
		}
		visible := fmt.Sprintf(`SELECT count(*) FROM bare_flow WHERE id = $1 AND step >= %d`, step)
		if err := f.world.see(ctx, visible, id); err != nil {
			return err
		}
		r.add(millisSince(began))
	}
	return run.Get(ctx, nil)
}

// see looks until a row is there.
func (w *world) see(ctx context.Context, sql string, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, visibleTimeout)
	defer cancel()
	for {
		n, err := w.count(ctx, sql, id)
		if err != nil || n > 0 {
			return err
		}
		if err := wait(ctx, lookEvery); err != nil {
			return err
		}
	}
}
