package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// pulse is the store of the heartbeats and the reconciler.
type pulse struct {
	mu      sync.Mutex
	beats   []bool
	queues  []string
	dropped int
	rounds  int
	tidied  int
	fail    error
}

func (p *pulse) Beat(_ context.Context, queues []string, ok bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queues = queues
	p.beats = append(p.beats, ok)
	return p.fail
}

func (p *pulse) Stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped++
	return ctx.Err()
}

func (p *pulse) Reconcile(context.Context, int, ...int64) ([]int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rounds++
	return []int64{1, 2, 3}, p.fail
}

// Tidy never ends by itself: no round may wait for it.
func (p *pulse) Tidy(ctx context.Context) error {
	p.mu.Lock()
	p.tidied++
	p.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

func (*pulse) StillLagging(context.Context, []int64) ([]int64, error) { return nil, nil }

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := newMetrics(prometheus.NewRegistry())
		require.NoError(t, err)
		start := time.Now()
		p := &pulse{fail: errors.New("a lost beat is no reason to stop")}
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second)
		defer cancel()
		heartbeat{
			store: p, queues: []string{"q", "r"}, log: slog.New(slog.DiscardHandler), metrics: m,
			ok: func(context.Context) bool { return time.Since(start) > 3*time.Second },
		}.run(ctx)
		require.Equal(t, []bool{false, false, true, true, true, true}, p.beats)
		require.Equal(t, []string{"q", "r"}, p.queues)
		require.Equal(t, 1, p.dropped, "a graceful stop takes the row away")
		require.InDelta(t, 1, value(t, m.temporal), 0)
	})
}

func TestReconciler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := newMetrics(prometheus.NewRegistry())
		require.NoError(t, err)
		p := &pulse{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second)
		defer cancel()
		(&reconciler{store: p, every: 15 * time.Second, log: slog.New(slog.DiscardHandler), metrics: m}).run(ctx)
		require.Equal(t, 4, p.rounds)
		require.Equal(t, 1, p.tidied)
		require.InDelta(t, 12, value(t, m.rung), 0)
	})
}
