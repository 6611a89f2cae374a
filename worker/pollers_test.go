package worker_test

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/worker"
)

// road is the way to Temporal, which can be cut.
type road struct {
	mu    sync.Mutex
	cut   bool
	lines []net.Conn
}

func (r *road) dial(ctx context.Context, _ string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut {
		return nil, errors.New("the road is cut")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", os.Getenv("TEMPORAL_ADDRESS"))
	if err == nil {
		r.lines = append(r.lines, conn)
	}
	return conn, err
}

func (r *road) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	if cut {
		for _, l := range r.lines {
			_ = l.Close()
		}
		r.lines = nil
	}
}

// series sums the values of a metric by one of its labels.
func series(t *testing.T, reg prometheus.Gatherer, name, by string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == by {
					out[l.GetValue()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
				}
			}
		}
	}
	return out
}

func TestPollersOutliveAnOutage(t *testing.T) {
	t.Parallel()
	f := prepare(t)
	var way road
	t.Cleanup(func() { way.set(true) })
	reg := prometheus.NewRegistry()
	c, err := worker.NewClient(client.Options{
		HostPort: "passthrough:///temporal", Namespace: namespace(),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithContextDialer(way.dial)}},
	}, quiet(), reg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	f.c, f.runs.Client = c, c
	f.start()
	t.Cleanup(func() { f.stop() })

	f.create(1)
	held := f.claim(f.Contributors[0], pipeline.KindSubtask)
	f.drained() // the worker has found work: from here on what polls find or not changes their number
	way.set(true)
	f.until("more failed polls than there are pollers", func() bool {
		return series(t, reg, "temporal_long_request_failure_total", "operation")["PollWorkflowTaskQueue"] >= 20
	})
	way.set(false)
	f.until("the least number of polls for workflow tasks, without work", func() bool {
		polls := series(t, reg, "temporal_num_pollers", "poller_type")
		return polls["workflow_task"] >= 5 && polls["workflow_sticky_task"] >= 5
	})
	// Whatever the polls of a paused worker are given waits for a timeout.
	f.until("few polls for steps, which are rare", func() bool {
		return series(t, reg, "temporal_num_pollers", "poller_type")["activity_task"] <= 1
	})
	f.submit(held)
	f.drained()
}
