package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The deadlines of `serve` for a client: its headers, its body, and from the
// end of its headers until it has read its answer. patience is added for the
// machine.
const (
	headersWithin = 10 * time.Second
	bodyWithin    = 2 * time.Minute
	answerWithin  = 5 * time.Minute
	patience      = 15 * time.Second
)

// slowKind is a way to be slow, and when the server has had enough of it.
type slowKind struct {
	name   string
	n      int
	within time.Duration
	// be is slow until the server ends the connection (nil), or until ctx ends.
	// It calls begun once, when the server has begun with it.
	be func(ctx context.Context, conn net.Conn, begun func()) error
}

// slowEnd is how a slow client ended.
type slowEnd struct {
	kind  slowKind
	after time.Duration
	err   error
}

// slowClients are connections that hold on.
type slowClients struct {
	began, over time.Time
	n           int
	ends        chan slowEnd
}

// slowClients opens them all, half of them at each server, under a key of a
// tenant that has 200 tasks to list.
func (b *badS3) slowClients(ctx context.Context, r *Run) (*slowClients, error) {
	list := fmt.Sprintf("/api/v1/workflows/%d/tasks", b.plain)
	made, err := ask(ctx, &http.Client{Timeout: 4 * callTimeout}, http.MethodPost, r.URL+list, b.key, plainTasks(200, "qfiles slow"))
	if err != nil || made.status != http.StatusCreated && made.status != http.StatusOK && made.status != http.StatusAccepted {
		return nil, fmt.Errorf("creating tasks was answered %d %.200s: %w", made.status, made.body, err)
	}
	get := "GET " + list + "?limit=200 HTTP/1.1\r\nHost: taskloom\r\nAuthorization: Bearer " + b.key + "\r\n"
	kinds := []slowKind{
		{"headers by the second", 100, headersWithin, func(ctx context.Context, c net.Conn, begun func()) error {
			begun()
			return drip(ctx, c, get+"X-Slow: ")
		}},
		{"a body by the second", 100, bodyWithin, func(ctx context.Context, c net.Conn, begun func()) error {
			begun()
			return drip(ctx, c, "POST "+list+" HTTP/1.1\r\nHost: taskloom\r\nAuthorization: Bearer "+b.key+
				"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"tasks\":")
		}},
		{"an answer at 1 KB/s", 200, answerWithin, func(ctx context.Context, c net.Conn, begun func()) error {
			return sip(ctx, c, get+"Connection: close\r\n\r\n", 1024, begun)
		}},
		// Few: until there is no room for more, what they ask for is work.
		{"answers that nobody reads", 10, answerWithin, func(ctx context.Context, c net.Conn, begun func()) error {
			begun()
			return drip(ctx, unread{c}, strings.Repeat(get+"\r\n", 300)+get+"X-Slow: ")
		}},
	}
	s := &slowClients{began: time.Now()}
	for _, k := range kinds {
		s.n += k.n
	}
	s.ends = make(chan slowEnd, s.n)
	for _, k := range kinds {
		var all sync.WaitGroup // the next kind does not keep this one from beginning
		all.Add(k.n)
		for i := range k.n {
			conn, err := narrow(ctx, r.t, r.bases[i%len(r.bases)])
			if err != nil {
				return nil, err
			}
			go func() {
				defer conn.Close()
				began := time.Now()
				begun := sync.OnceFunc(all.Done)
				defer begun()
				err := k.be(r.t.Context(), conn, begun)
				s.ends <- slowEnd{k, time.Since(began), err}
			}()
		}
		all.Wait()
	}
	return s, nil
}

// narrow connects with little room for what the server sends.
func narrow(ctx context.Context, t testing.TB, base string) (net.Conn, error) {
	t.Helper()
	u, err := url.Parse(base)
	require.NoError(t, err)
	d := net.Dialer{Timeout: callTimeout, Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(err, failed)
	}}
	return d.DialContext(ctx, "tcp", u.Host)
}

// unread is a connection whose answers nobody reads.
type unread struct{ net.Conn }

// Read implements io.Reader.
func (u unread) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// drip sends the beginning and then a byte a second, until the server has
// closed the connection.
func drip(ctx context.Context, c net.Conn, begin string) error {
	if _, err := io.WriteString(c, begin); err != nil {
		return nil //nolint:nilerr // closed: how a slow client ends
	}
	got := make([]byte, 4096)
	for {
		if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return err
		}
		for {
			_, err := c.Read(got)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return nil //nolint:nilerr // closed
			}
		}
		if _, ok := c.(unread); ok {
			if err := wait(ctx, time.Second); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := c.Write([]byte("x")); err != nil {
			return nil //nolint:nilerr // closed
		}
	}
}

// sip asks, and reads the answer at a pace to its end; it must be whole.
func sip(ctx context.Context, c net.Conn, begin string, pace int, begun func()) error {
	if _, err := io.WriteString(c, begin); err != nil {
		return err
	}
	var got strings.Builder
	piece := make([]byte, pace)
	for {
		n, err := c.Read(piece)
		begun()
		got.Write(piece[:n])
		if err != nil {
			if answer := got.String(); !errors.Is(err, io.EOF) || !strings.HasPrefix(answer, "HTTP/1.1 200") || !strings.Contains(answer, `"has_more"`) {
				return fmt.Errorf("a slow reader got %d bytes, %.100q…: %w", len(answer), answer, err)
			}
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// allEnd waits until the server has ended every slow connection, each within
// its deadline.
func (s *slowClients) allEnd(ctx context.Context, r *Run) {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(answerWithin+2*patience))
	defer cancel()
	last, count := map[string]time.Duration{}, map[string]int{}
	for range s.n {
		select {
		case e := <-s.ends:
			last[e.kind.name], count[e.kind.name] = max(last[e.kind.name], e.after), count[e.kind.name]+1
			if e.err != nil || e.after > e.kind.within+patience {
				r.Violate("I10: a client that sends or reads %s ended after %s (%v), its deadline is %s", e.kind.name, e.after, e.err, e.kind.within)
			}
		case <-ctx.Done():
			r.Violate("I10: of %d slow clients these have ended: %v", s.n, count)
			s.over = time.Now()
			return
		}
	}
	s.over = time.Now()
	for name, after := range last {
		r.Logf("%d clients with %s were all done after %s", count[name], name, after.Round(time.Millisecond))
	}
}
