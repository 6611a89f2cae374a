package worker_test

import (
	"context"
	"os"
	"runtime"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/worker"
)

// BenchmarkRunsAtRest has a worker keep 3,000 runs in memory and reports what each of
// them takes (docs/costs.md). Run it with -benchtime 1x.
func BenchmarkRunsAtRest(b *testing.B) {
	const runs, batch = 3000, 1000
	f := prepare(b)
	reg := prometheus.NewRegistry()
	c, err := worker.NewClient(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: namespace()}, quiet(), reg)
	require.NoError(b, err)
	b.Cleanup(c.Close)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		done <- worker.Run(ctx, worker.Deps{
			Store: f.Store, Client: c, Namespace: namespace(), Runs: c, Logger: quiet(), TaskQueue: f.queue, Registerer: reg,
		})
	}()
	b.Cleanup(func() {
		cancel()
		require.NoError(b, <-done)
	})
	begin := func(n int) {
		f.create(n)
		f.atRest() // the runs have begun
	}
	for b.Loop() {
		begin(1) // what there is but once
		before := held()
		for range runs / batch {
			begin(batch)
		}
		after := held()
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/runs/1e3, "heap-KB/run")
		b.ReportMetric(float64(after.StackInuse-before.StackInuse)/runs/1e3, "stack-KB/run")
	}
}

// held is what is left after collections enough to shrink all stacks.
func held() (m runtime.MemStats) {
	for range 4 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m
}
