package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	temporallog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	temporalModule = "go.temporal.io/sdk"
	temporalSignal = "step"
)

// temporalFlow is a workflow without a product: three signals, and a local
// activity that writes for each of them and for the start. Whoever signals it
// does so directly.
type temporalFlow struct {
	db     *database
	pool   *pgxpool.Pool
	client client.Client
	worker sdkworker.Worker
	queue  string
	last   atomic.Int64
}

func temporalFlowContender(name string) *flowContender {
	return &flowContender{
		in: info{Name: name, Version: "SDK " + moduleVersion(temporalModule), Contract: "temporal", Uses: []string{partPostgres, partTemporal}},
		open: func(ctx context.Context, r *room) (flowSystem, *database, error) {
			f := &temporalFlow{queue: fmt.Sprintf("race-%d", time.Now().UnixNano())}
			f.last.Store(time.Now().UnixMicro())
			var err error
			if f.db, f.pool, err = newFlowDatabase(ctx, r); err != nil {
				return f, f.db, err
			}
			err = f.start()
			return f, f.db, err
		},
	}
}

// dialTemporal connects to the Temporal of the environment.
func dialTemporal() (client.Client, error) {
	settings, err := envconfig.LoadDefaultClientOptions() // TEMPORAL_ADDRESS and its like
	if err != nil {
		return nil, err
	}
	settings.Logger = temporallog.NewStructuredLogger(quiet)
	settings.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{} // as the product's
	c, err := client.Dial(settings)
	if err != nil {
		return nil, fmt.Errorf("connect to Temporal at %s: %w", os.Getenv("TEMPORAL_ADDRESS"), err)
	}
	return c, nil
}

func (f *temporalFlow) start() error {
	var err error
	if f.client, err = dialTemporal(); err != nil {
		return err
	}
	// The same settings as the product's worker (worker/worker.go).
	polls := func(least int) sdkworker.PollerBehavior {
		return sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{
			InitialNumberOfPollers: least, MinimumNumberOfPollers: least,
		})
	}
	f.worker = sdkworker.New(f.client, f.queue, sdkworker.Options{
		MaxConcurrentWorkflowTaskExecutionSize: 100, MaxConcurrentLocalActivityExecutionSize: (poolSize - 4) / 2,
		WorkflowTaskPollerBehavior: polls(5), ActivityTaskPollerBehavior: polls(1),
	})
	f.worker.RegisterWorkflowWithOptions(f.run, workflow.RegisterOptions{Name: "bare"})
	f.worker.RegisterActivity(f.Step)
	return f.worker.Start()
}

// Step is the local activity: step 0 is the start.
func (f *temporalFlow) Step(ctx context.Context, id int64, step int) error {
	sql, args := flowStep, []any{id, step}
	if step == 0 {
		sql, args = flowBegin, args[:1]
	}
	_, err := f.pool.Exec(ctx, sql, args...)
	return err
}

func (f *temporalFlow) run(ctx workflow.Context, id int64) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: 10 * time.Second})
	signals := workflow.GetSignalChannel(ctx, temporalSignal)
	for step := 0; step <= stepFinished; step++ {
		if step > 0 {
			var got int
			signals.Receive(ctx, &got)
		}
		if err := workflow.ExecuteLocalActivity(ctx, f.Step, id, step).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *temporalFlow) begin(ctx context.Context, client int) (life, error) {
	l := life{id: f.last.Add(1)}
	l.token = fmt.Sprintf("bare/%d", l.id)
	if _, err := f.client.ExecuteWorkflow(ctx, startOptions(l.token, f.queue), "bare", l.id); err != nil {
		return l, err
	}
	return f.message(ctx, client, l, stepClaimed)
}

func startOptions(id, queue string) client.StartWorkflowOptions {
	// As the product's.
	return client.StartWorkflowOptions{ID: id, TaskQueue: queue, WorkflowTaskTimeout: 5 * time.Second, EnableEagerStart: true}
}

func (f *temporalFlow) message(ctx context.Context, _ int, l life, step int) (life, error) {
	return l, f.client.SignalWorkflow(ctx, l.token, "", temporalSignal, step)
}

func (f *temporalFlow) reached(step int) string { return stepsReached(step) }

func (f *temporalFlow) children() []*child { return nil }

func (f *temporalFlow) directory() string { return "" }

func (f *temporalFlow) end(r *room) {
	if f.worker != nil {
		f.worker.Stop()
	}
	if f.client != nil {
		f.client.Close()
	}
	if f.pool != nil {
		f.pool.Close()
	}
	r.drop(f.db)
}
