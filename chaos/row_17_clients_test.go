package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/semaphore"
)

// The deadlines of `serve` for a client: its headers, its body, and from the
// end of its headers until it has read its answer. patience is added for the
// machine.
const (
	headersWithin = 10 * time.Second
	bodyWithin    = 2 * time.Minute
	answerWithin  = 5 * time.Minute
	patience      = 15 * time.Second
	// unreadFor is how long requests are answered of which nobody reads the
	// answers, until there is no room for more: the deadline is that of the last.
	unreadFor = 30 * time.Second
	// beginAtOnce of those who ask for an answer do so side by side: more would
	// only be refused by a full server.
	beginAtOnce = 4
	// askFor is how long somebody asks again who is told to come again.
	askFor = 2 * time.Minute
)

// errIdle says that a client had nothing to be slow with: it proves nothing.
var errIdle = errors.New("this proves nothing")

// slowKind is a way to be slow, and when the server has had enough of it.
type slowKind struct {
	name   string
	n      int
	within time.Duration
	// least is how long it must have gone on to prove anything; 0 for no bound.
	least time.Duration
	// be is slow until the server ends the connection (nil), or until ctx ends.
	// It calls begun once, when the server has begun with it.
	be func(ctx context.Context, c *slowClient) error
}

// slowClient is one of them.
type slowClient struct {
	net.Conn

	// again connects anew.
	again func() error
	// begun says that the server has begun with it; what counts is from then on.
	begun func()
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
	deadline    time.Time // of the last of them
}

// slowClients opens them all, half of them at each server, under a key of a
// tenant that has 200 tasks to list.
func (b *badS3) slowClients(ctx context.Context, r *Run) (*slowClients, error) {
	list := fmt.Sprintf("/api/v1/workflows/%d/tasks", b.plain)
	if _, err := b.createPlain(ctx, 200); err != nil {
		return nil, err
	}
	s := &slowClients{began: time.Now()}
	kinds := slowKinds(list, b.key)
	for _, k := range kinds {
		s.n += k.n
	}
	s.ends = make(chan slowEnd, s.n)
	for _, k := range kinds {
		if err := s.open(ctx, r, k); err != nil {
			return nil, err
		}
		if end := time.Now().Add(k.within + 2*patience); end.After(s.deadline) {
			s.deadline = end
		}
	}
	return s, nil
}

// slowKinds are the ways to be slow with requests for a list.
func slowKinds(list, key string) []slowKind {
	get := "GET " + list + "?limit=200 HTTP/1.1\r\nHost: taskloom\r\nAuthorization: Bearer " + key + "\r\n"
	post := "POST " + list + " HTTP/1.1\r\nHost: taskloom\r\nAuthorization: Bearer " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"tasks\":"
	turns := semaphore.NewWeighted(beginAtOnce)
	return []slowKind{
		{name: "headers by the second", n: 100, within: headersWithin, be: func(ctx context.Context, c *slowClient) error {
			c.begun()
			return drip(ctx, c.Conn, get+"X-Slow: ")
		}},
		{name: "a body by the second", n: 100, within: bodyWithin, be: func(ctx context.Context, c *slowClient) error {
			c.begun()
			return drip(ctx, c.Conn, post)
		}},
		{name: "an answer at 1 KB/s", n: 200, within: answerWithin, be: func(ctx context.Context, c *slowClient) error {
			return sip(ctx, c, turns, get+"Connection: close\r\n\r\n", 1024)
		}},
		// Few: until there is no room for more, what they ask for is work. Where it
		// was refused instead, there was room for all of it, and the end was that of
		// slow headers.
		{name: "answers that nobody reads", n: 10, within: answerWithin + unreadFor, least: headersWithin + patience, be: func(ctx context.Context, c *slowClient) error {
			c.begun()
			return drip(ctx, unread{c.Conn}, strings.Repeat(get+"\r\n", 300)+get+"X-Slow: ")
		}},
	}
}

// open starts all clients of a kind and returns when the server has begun with
// each: the next kind does not keep this one from beginning.
func (s *slowClients) open(ctx context.Context, r *Run, k slowKind) error {
	var all sync.WaitGroup
	for i := range k.n {
		c := &slowClient{}
		c.again = func() (err error) {
			if c.Conn != nil {
				_ = c.Close()
			}
			c.Conn, err = narrow(ctx, r.t, r.bases[i%len(r.bases)])
			return err
		}
		if err := c.again(); err != nil {
			return err
		}
		began := time.Now()
		all.Add(1)
		c.begun = sync.OnceFunc(func() {
			began = time.Now()
			all.Done()
		})
		go func() {
			defer func() { _ = c.Close() }()
			err := k.be(r.t.Context(), c)
			after := time.Since(began)
			c.begun()
			s.ends <- slowEnd{k, after, err}
		}()
	}
	all.Wait()
	return nil
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

// sip asks until it is served, and reads the answer at a pace to its end; it
// must be whole.
func sip(ctx context.Context, c *slowClient, turns *semaphore.Weighted, begin string, pace int) error {
	answer, err := served(ctx, c, turns, begin, pace)
	if err != nil {
		return err
	}
	var got strings.Builder
	piece := make([]byte, pace)
	for {
		n, err := answer.Read(piece)
		got.Write(piece[:n])
		if err != nil {
			if answer := got.String(); !errors.Is(err, io.EOF) || !strings.HasPrefix(answer, accepted) || !strings.Contains(answer, `"has_more"`) {
				return fmt.Errorf("a slow reader got %d bytes, %.100q…: %w", len(answer), answer, err)
			}
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// accepted is how an answer begins of whoever is served.
const accepted = "HTTP/1.1 200"

// served asks, when it is its turn, until the answer is not that it should come
// again later, and returns that answer unread.
func served(ctx context.Context, c *slowClient, turns *semaphore.Weighted, begin string, pace int) (*bufio.Reader, error) {
	for until := time.Now().Add(askFor); ; {
		answer, later, err := askOnce(ctx, c, turns, begin, pace)
		if err != nil || later == 0 {
			return answer, err
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("%w: it was told to come again for %s", errIdle, askFor)
		}
		if err := wait(ctx, later); err != nil {
			return nil, err
		}
		if err := c.again(); err != nil {
			return nil, err
		}
	}
}

// askOnce returns the answer, or when to come again.
func askOnce(ctx context.Context, c *slowClient, turns *semaphore.Weighted, begin string, pace int) (answer *bufio.Reader, later time.Duration, err error) {
	if err := turns.Acquire(ctx, 1); err != nil {
		return nil, 0, err
	}
	defer turns.Release(1)
	if _, err := io.WriteString(c, begin); err != nil {
		return nil, 0, err
	}
	answer = bufio.NewReaderSize(c, pace)
	status, err := answer.Peek(len(accepted))
	if err != nil {
		return nil, 0, fmt.Errorf("a slow reader got %q: %w", status, err)
	}
	if strings.HasPrefix(string(status), accepted) {
		c.begun()
		return answer, 0, nil
	}
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if res.StatusCode != http.StatusServiceUnavailable && res.StatusCode != http.StatusTooManyRequests || err != nil || seconds < 1 {
		return nil, 0, fmt.Errorf("a slow reader was answered %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	return nil, time.Duration(seconds) * time.Second, nil
}

// allEnd waits until the server has ended every slow connection, each within
// its deadline. An error says that one had nothing to be slow with.
func (s *slowClients) allEnd(ctx context.Context, r *Run) error {
	ctx, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	defer func() { s.over = time.Now() }()
	var idle error
	first, last, count := map[string]time.Duration{}, map[string]time.Duration{}, map[string]int{}
	for range s.n {
		select {
		case e := <-s.ends:
			name := e.kind.name
			if count[name]++; count[name] == 1 {
				first[name] = e.after
			}
			first[name], last[name] = min(first[name], e.after), max(last[name], e.after)
			idle = errors.Join(idle, e.judge(r))
		case <-ctx.Done():
			r.Violate("I10: of %d slow clients these have ended: %v", s.n, count)
			return idle
		}
	}
	for name, after := range last {
		r.Logf("%d clients with %s were done after %s to %s", count[name], name, first[name].Round(time.Millisecond), after.Round(time.Millisecond))
	}
	return idle
}

// judge looks at when and how a client ended.
func (e slowEnd) judge(r *Run) error {
	switch {
	case errors.Is(e.err, errIdle):
		return fmt.Errorf("a client with %s: %w", e.kind.name, e.err)
	case e.err != nil || e.after > e.kind.within+patience:
		r.Violate("I10: a client that sends or reads %s ended after %s (%v), its deadline is %s", e.kind.name, e.after, e.err, e.kind.within)
	case e.after <= e.kind.least:
		return fmt.Errorf("a client with %s ended after %s, which %s does as well without them: %w", e.kind.name, e.after, e.kind.least, errIdle)
	}
	return nil
}
