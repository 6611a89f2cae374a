// Package pgproxy is a TCP proxy for Postgres that makes commits ambiguous: it
// understands the protocol well enough to see each commit, and cuts the socket
// before the commit reaches the server or after the server has committed, but
// before the client hears of it.
package pgproxy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"sync"
)

// Cut says where a connection is cut.
type Cut int

const (
	// None lets the commit through.
	None Cut = iota
	// Before cuts before the commit reaches the server, which rolls back.
	Before
	// After cuts once the server has committed; the client does not hear of it.
	After
)

// String names the moment: none, before or after.
func (c Cut) String() string { return [...]string{"none", "before", "after"}[c] }

// cutting is a cut that was ordered.
type cutting struct {
	where Cut
	// of is what the transaction must have said; nil is anything.
	of *regexp.Regexp
	// then is called once, when it is decided; nil calls nobody.
	then func()
}

// Stats are what a proxy has seen.
type Stats struct {
	// Commits are those seen, explicit and implicit ones; Before and After
	// those of them that were cut there.
	Commits, Before, After int64
	// Connections are those accepted, Severed those cut by Sever.
	Connections, Severed int64
}

// Proxy forwards connections to one Postgres server.
type Proxy struct {
	upstream string
	listener net.Listener
	wg       sync.WaitGroup

	mu     sync.Mutex
	closed bool
	rand   *rand.Rand
	rate   float64
	next   []*cutting
	stats  Stats
	open   map[*conn]struct{}
}

// Listen starts a proxy on a free port of 127.0.0.1. upstream is the server's
// host:port; seed decides which commits a rate cuts.
func Listen(ctx context.Context, upstream string, seed uint64) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for Postgres clients: %w", err)
	}
	p := &Proxy{
		upstream: upstream, listener: l, open: map[*conn]struct{}{},
		rand: rand.New(rand.NewPCG(seed, 0x9067)), //nolint:gosec // chooses victims, guards nothing
	}
	p.wg.Go(p.accept)
	return p, nil
}

// Addr is the proxy's own host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetRate cuts this share of all commits (0.01: one in a hundred), half of them
// before and half after.
func (p *Proxy) SetRate(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate = share
}

// CutNext cuts the next n commits there, whichever client makes them. It adds
// to those of earlier calls; None forgets them all.
func (p *Proxy) CutNext(where Cut, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if where == None {
		p.next = nil
		return
	}
	for range n {
		p.next = append(p.next, &cutting{where: where})
	}
}

// CutNextThen cuts the next commit there of a transaction that has a statement
// like of (nil: of any), behind which its short arguments stand, each after a zero
// byte, and calls then once it is decided: just before the
// connection is closed, so that whoever committed can be killed before it knows.
func (p *Proxy) CutNextThen(where Cut, of *regexp.Regexp, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = []*cutting{{where: where, of: of, then: then}}
}

// Pending returns how many cuts of CutNext are still to come.
func (p *Proxy) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.next)
}

// Stats returns what was seen up to now.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Sever cuts every connection that is open now and returns how many those were.
// New ones are served.
func (p *Proxy) Sever() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.open)
	for c := range p.open {
		c.cut()
	}
	p.stats.Severed += int64(n)
	return n
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Sever()
	p.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve is one client's connection, from its first byte to its last.
func (p *Proxy) serve(client net.Conn) {
	server, err := (&net.Dialer{}).Dial("tcp", p.upstream)
	if err != nil {
		_ = client.Close() // the server is away: so is the proxy
		return
	}
	c := newConn(p, client, server)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		c.cut()
		return
	}
	p.open[c] = struct{}{}
	p.stats.Connections++
	p.mu.Unlock()
	c.run()
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
}

// commit decides about the commit of a transaction that is about to reach the
// server, by what was said in it.
func (p *Proxy) commit(said []string) *cutting {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Commits++
	for i, c := range p.next {
		if c.of == nil || slices.ContainsFunc(said, c.of.MatchString) {
			p.next = slices.Delete(p.next, i, i+1)
			return c
		}
	}
	if p.rate > 0 && p.rand.Float64() < p.rate {
		return &cutting{where: Cut(1 + p.rand.IntN(2))}
	}
	return &cutting{where: None}
}

// missed orders a cut once more: the server refused the commit.
func (p *Proxy) missed(c *cutting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.then != nil {
		p.next = append(p.next, c)
	}
}

// did counts a cut that is decided and is about to happen.
func (p *Proxy) did(c *cutting) {
	p.mu.Lock()
	switch c.where {
	case Before:
		p.stats.Before++
	case After:
		p.stats.After++
	case None:
	}
	p.mu.Unlock()
	if c.then != nil {
		c.then()
	}
}
