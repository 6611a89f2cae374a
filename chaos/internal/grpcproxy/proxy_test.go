package grpcproxy

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// start runs a server that knows one service, and a proxy in front of it.
func start(t *testing.T) (*Proxy, func() error) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	p, err := Listen(t.Context(), l.Addr().String(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	conn, err := grpc.NewClient(p.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return p, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		return err
	}
}

func TestCallsGoThrough(t *testing.T) {
	t.Parallel()
	p, call := start(t)
	require.NoError(t, call())
	require.Equal(t, Stats{Calls: 1}, p.Stats())
}

func TestAShareOfTheCallsFails(t *testing.T) {
	t.Parallel()
	p, call := start(t)
	p.Set(Faults{Unavailable: 0.3, Lost: 0.1})
	failed := 0
	for range 200 {
		if err := call(); err != nil {
			require.Equal(t, codes.Unavailable, status.Code(err))
			failed++
		}
	}
	s := p.Stats()
	require.InDelta(t, 60, s.Refused, 30)
	require.InDelta(t, 20, s.Lost, 18)
	require.EqualValues(t, failed, s.Refused+s.Lost)
}

func TestItGoesAndComesBack(t *testing.T) {
	t.Parallel()
	p, call := start(t)
	require.NoError(t, call())
	p.Down()
	require.Error(t, call())
	require.NoError(t, p.Up(t.Context()))
	require.Eventually(t, func() bool { return call() == nil }, 20*time.Second, 50*time.Millisecond)
}
