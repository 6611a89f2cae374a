package worker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/stats"
)

// dialed is a client whose connections are made by dial, in a bubble of synctest.
func dialed(t *testing.T, dial func(context.Context) (net.Conn, error)) client.Client {
	t.Helper()
	c, err := NewClient(client.Options{
		HostPort: "passthrough:///temporal",
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		}},
	}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// untilAnswered asks for Temporal's health ten times a second until it is there,
// and returns how long that took.
func untilAnswered(c client.Client) time.Duration {
	began := time.Now()
	for {
		if _, err := c.CheckHealth(context.Background(), &client.CheckHealthRequest{}); err == nil {
			return time.Since(began)
		}
		<-time.After(100 * time.Millisecond) // of the bubble's clock
	}
}

func TestATemporalThatIsBackIsFoundSoon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		away   func(context.Context) error
		within time.Duration // of its return; waits have a jitter of a fifth
	}{
		"after it refused connections": {func(context.Context) error { return errors.New("connection refused") }, connectLate * 5 / 4},
		"after nobody answered": {
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			connectTime + connectLate*5/4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				lines := answering(t)
				began := time.Now()
				const outage = 10 * time.Minute
				found := untilAnswered(dialed(t, func(ctx context.Context) (net.Conn, error) {
					if time.Since(began) < outage {
						return nil, c.away(ctx)
					}
					return lines.dial(ctx)
				}))
				require.Greater(t, found, outage)
				require.Less(t, found, outage+c.within, "people wait for what follows")
			})
		})
	}
}

func TestNothingIsCompressedForTemporal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen encodings
		untilAnswered(dialed(t, answering(t, grpc.StatsHandler(&seen)).dial))
		require.Equal(t, encodings{""}, slices.Compact(seen))
	})
}

// encodings are those of the requests that a server got.
type encodings []string

func (e *encodings) HandleRPC(_ context.Context, s stats.RPCStats) {
	if h, ok := s.(*stats.InHeader); ok {
		*e = append(*e, h.Compression)
	}
}

func (*encodings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*encodings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*encodings) HandleConn(context.Context, stats.ConnStats)                       {}

// answering is a Temporal that is healthy, and no more.
func answering(t *testing.T, o ...grpc.ServerOption) *lines {
	t.Helper()
	l := newLines()
	s := grpc.NewServer(o...)
	grpc_health_v1.RegisterHealthServer(s, serving())
	workflowservice.RegisterWorkflowServiceServer(s, workflowservice.UnimplementedWorkflowServiceServer{})
	go func() { _ = s.Serve(l) }() // ends with Stop
	t.Cleanup(s.Stop)
	return l
}

// serving is a health service that says so for everything Temporal names.
func serving() *health.Server {
	h := health.NewServer()
	h.SetServingStatus("temporal.api.workflowservice.v1.WorkflowService", grpc_health_v1.HealthCheckResponse_SERVING)
	return h
}

// lines is a listener in memory, which a bubble's clock can jump over.
type lines struct {
	made chan net.Conn
	done chan struct{}
}

// served is a client of a server in memory that is well, and answers as s does.
func served(t *testing.T, s workflowservice.WorkflowServiceServer) client.Client {
	t.Helper()
	l, server := newLines(), grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, serving())
	workflowservice.RegisterWorkflowServiceServer(server, s)
	go func() { _ = server.Serve(l) }() // ends with Stop
	t.Cleanup(server.Stop)
	return dialed(t, l.dial)
}

func newLines() *lines { return &lines{made: make(chan net.Conn), done: make(chan struct{})} }

func (l *lines) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.made <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lines) Accept() (net.Conn, error) {
	select {
	case c := <-l.made:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *lines) Close() error   { close(l.done); return nil }
func (l *lines) Addr() net.Addr { return &net.UnixAddr{Name: "lines"} }
