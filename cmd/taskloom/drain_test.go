package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/config"
)

// pipes is a listener within the process, for servers under a fake clock.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serving is a server whose only request takes as long as told.
func serving(t *testing.T, takes time.Duration) (server *http.Server, answer <-chan error) {
	t.Helper()
	began := make(chan struct{})
	server = &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(began)
			<-time.After(takes)
			w.WriteHeader(http.StatusNoContent)
		}),
	}
	l := newPipes()
	go func() { _ = server.Serve(l) }()
	done := make(chan error, 1)
	client := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/", nil)
		if err == nil {
			var res *http.Response
			if res, err = client.Do(r); err == nil {
				err = res.Body.Close()
			}
		}
		done <- err
	}()
	<-began
	return server, done
}

func draining(metrics *http.Server, delay time.Duration) *process {
	return &process{
		config: config.Config{DrainDelay: delay}, log: slog.New(slog.DiscardHandler),
		ready: newReadiness(nil), metrics: metrics,
	}
}

// A request has all of the timeout, however long load balancers were given.
func TestDrainBeginsAfterTheDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const delay = 20 * time.Second
		server, answer := serving(t, delay+drainTimeout-time.Second)
		require.NoError(t, draining(&http.Server{ReadHeaderTimeout: time.Minute}, delay).drain(server, drainTimeout))
		require.NoError(t, <-answer, "it was cut off")
	})
}

// A request that hangs is cut off; that is the end, not a failure, and the last
// scrape is still answered.
func TestDrainCutsOffWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, answer := serving(t, time.Hour)
		metrics, scrape := serving(t, drainTimeout+2*time.Second)
		require.NoError(t, draining(metrics, 0).drain(server, drainTimeout))
		require.Error(t, <-answer)
		require.NoError(t, <-scrape)
		synctest.Wait()
		<-time.After(time.Hour) // the handler ends, too
	})
}
