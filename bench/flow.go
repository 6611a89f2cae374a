package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

const (
	flowClients = 64
	// flowTasks go from start to finish in one sample.
	flowTasks = 300
	// askAgain is how long the one who asks lets an empty queue be.
	askAgain = 5 * time.Millisecond
	// flowTimeout ends a sample that stalls.
	flowTimeout = 5 * time.Minute
)

// flowPart compares a task's whole life, created, claimed, submitted, reviewed
// and finished with its run following in Temporal, with a bare workflow that
// hears as many signals and writes as often.
func flowPart(ctx context.Context, b *bench) error {
	w, err := b.newWorld(ctx, flowClients)
	if err != nil {
		return err
	}
	// Runs are named after tasks: no two benches on one Temporal may share ids.
	restart := fmt.Sprintf(`ALTER SEQUENCE tasks_id_seq RESTART WITH %d`, time.Now().UnixMilli())
	if err := w.exec(ctx, restart); err != nil {
		return err
	}
	settings, err := envconfig.LoadDefaultClientOptions() // TEMPORAL_ADDRESS and its like
	if err != nil {
		return err
	}
	temporal, err := worker.NewClient(settings, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return err
	}
	defer temporal.Close()
	queue := fmt.Sprintf("bench-%d", os.Getpid())
	bare := &bareFlow{world: w, client: temporal, queue: queue + "-bare"}
	if err := bare.start(ctx); err != nil {
		return err
	}
	defer bare.stop()
	stop, err := b.startWorker(ctx, w, temporal, queue)
	if err != nil {
		return err
	}
	defer stop()
	for _, side := range []struct {
		name  string
		crew  crew
		floor sampler
	}{
		{"people on the store", w.onStore(), bare.sample},
		{"people over HTTP", w.overHTTP(flowClients), bare.sample},
		{"people over HTTP, against signals back to back", w.overHTTP(flowClients), bare.rush},
	} {
		m := &measure{Case: fmt.Sprintf("%s, %d clients", side.name, flowClients), Unit: unitRate, Aim: 1.3, noiseRounds: 1}
		run := &flowRun{world: w, crew: side.crew}
		if err := b.race(ctx, m, side.floor, run.sample); err != nil {
			return err
		}
		if err := b.countHistories(ctx, m, temporal, bare, w); err != nil {
			return err
		}
	}
	return b.latencyPart(ctx, w, bare)
}

// countHistories notes how much each side asked of Temporal for one run.
func (b *bench) countHistories(ctx context.Context, m *measure, c client.Client, bare *bareFlow, w *world) error {
	const runs = 50
	m.Extra = map[string]float64{}
	newest, err := w.count(ctx, `SELECT max(id) FROM tasks`)
	if err != nil {
		return err
	}
	for side, id := range map[string]func(int64) string{
		"floor": func(i int64) string { return bareID(bare.last.Load() - i) },
		"ours":  func(i int64) string { return workflows.TaskID(newest - i) },
	} {
		ids := make([]string, runs)
		for i := range ids {
			ids[i] = id(int64(i))
		}
		h, err := readHistories(ctx, c, ids)
		if err != nil {
			return err
		}
		h.into(m.Extra, side)
		b.say("    %s: a run has %.1f events, %.1f workflow tasks, %.1f signals, %.1f local activities, %.1f timers",
			side, h.events, h.workflowTasks, h.signals, h.localActivities, h.timers)
	}
	return nil
}

// startWorker runs the product's worker with connections of its own.
func (b *bench) startWorker(ctx context.Context, w *world, temporal client.Client, queue string) (stop func(), err error) {
	st, err := store.Open(ctx, w.url, store.Options{MaxConns: poolSize})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(running, worker.Deps{
			Store: st, Client: temporal, TaskQueue: queue, PoolSize: poolSize,
			Logger: slog.New(slog.NewTextHandler(b.progress, &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.say("the worker ended: %v", err)
		}
		st.Close()
	}, nil
}
