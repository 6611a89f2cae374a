package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/store"
)

// A task's run hears four signals (claim, submit, claim, review) and makes five
// local database steps: one when it starts and one for each signal.
const (
	bareSignals = 4
	bareSignal  = "step"
)

// bareFlow is a workflow without a product: it hears as many signals as a
// task's run and runs as many local activities, each one trivial statement on
// the same Postgres. It has no journal, no queue and no outbox, and whoever
// signals it does so directly.
type bareFlow struct {
	world  *world
	client client.Client
	queue  string
	store  *store.Store
	worker sdkworker.Worker
	last   atomic.Int64
}

func (f *bareFlow) start(ctx context.Context) (err error) {
	if err := f.world.exec(ctx, `CREATE TABLE bare_flow (id bigint PRIMARY KEY, step int NOT NULL)`); err != nil {
		return err
	}
	if f.store, err = store.Open(ctx, f.world.url, store.Options{MaxConns: poolSize}); err != nil {
		return err
	}
	f.last.Store(time.Now().UnixMilli())
	// The same settings as the product's worker.
	poll := sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{})
	f.worker = sdkworker.New(f.client, f.queue, sdkworker.Options{
		MaxConcurrentWorkflowTaskExecutionSize: 100, MaxConcurrentLocalActivityExecutionSize: poolSize - 4,
		WorkflowTaskPollerBehavior: poll, ActivityTaskPollerBehavior: poll,
	})
	f.worker.RegisterWorkflowWithOptions(f.run, workflow.RegisterOptions{Name: "bare"})
	f.worker.RegisterActivity(f)
	return f.worker.Start()
}

func (f *bareFlow) stop() {
	f.worker.Stop()
	f.store.Close()
}

// Begin is the local activity of the start.
func (f *bareFlow) Begin(ctx context.Context, id int64) error {
	_, err := f.store.Pool().Exec(ctx, `INSERT INTO bare_flow (id, step) VALUES ($1, 0) ON CONFLICT DO NOTHING`, id)
	return err
}

// Step is the local activity of a signal.
func (f *bareFlow) Step(ctx context.Context, id int64, step int) error {
	_, err := f.store.Pool().Exec(ctx, `UPDATE bare_flow SET step = $2 WHERE id = $1`, id, step)
	return err
}

func (f *bareFlow) run(ctx workflow.Context, id int64) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: 3 * time.Second})
	if err := workflow.ExecuteLocalActivity(ctx, f.Begin, id).Get(ctx, nil); err != nil {
		return err
	}
	signals := workflow.GetSignalChannel(ctx, bareSignal)
	for step := 1; step <= bareSignals; step++ {
		var got int
		signals.Receive(ctx, &got)
		if err := workflow.ExecuteLocalActivity(ctx, f.Step, id, step).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// sample returns workflows finished per second with as many clients as the
// product has. Each starts one, sends the first two signals, sends the last two
// when the rows show that the second has been heard, as a review can be claimed
// only then, and waits for the end.
func (f *bareFlow) sample(ctx context.Context) (float64, error) {
	return f.rate(ctx, func(ctx context.Context, id int64, step int) error {
		if step != 2 {
			return nil
		}
		return f.world.see(ctx, `SELECT count(*) FROM bare_flow WHERE id = $1 AND step >= 2`, id)
	})
}

// rush is sample with all signals back to back. Temporal then hands the worker
// one task after the other without a queue between them: nothing that people
// do looks like that.
func (f *bareFlow) rush(ctx context.Context) (float64, error) {
	return f.rate(ctx, func(context.Context, int64, int) error { return nil })
}

// rate calls between after each signal.
func (f *bareFlow) rate(ctx context.Context, between func(ctx context.Context, id int64, step int) error) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, flowTimeout)
	defer cancel()
	var begun atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	began := time.Now()
	for range flowClients {
		g.Go(func() error {
			for begun.Add(1) <= flowTasks {
				run, id, err := f.begin(gctx)
				if err != nil {
					return err
				}
				for step := 1; step <= bareSignals; step++ {
					if err := f.signal(gctx, run); err != nil {
						return err
					}
					if err := between(gctx, id, step); err != nil {
						return err
					}
				}
				if err := run.Get(gctx, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	return flowTasks / time.Since(began).Seconds(), nil
}

func bareID(id int64) string { return fmt.Sprintf("bare/%d", id) }

func (f *bareFlow) begin(ctx context.Context) (client.WorkflowRun, int64, error) {
	id := f.last.Add(1)
	run, err := f.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: bareID(id), TaskQueue: f.queue,
	}, "bare", id)
	return run, id, err
}

func (f *bareFlow) signal(ctx context.Context, run client.WorkflowRun) error {
	return f.client.SignalWorkflow(ctx, run.GetID(), run.GetRunID(), bareSignal, 1)
}
