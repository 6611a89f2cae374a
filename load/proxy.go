package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// proxy stands between the product and Temporal. While it is cut, Temporal is
// gone for the product: connections break and new ones are refused.
type proxy struct {
	target string
	at     string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	done     sync.WaitGroup
}

func newProxy(ctx context.Context, target string) (*proxy, error) {
	p := &proxy{target: target, at: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	if err := p.heal(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *proxy) addr() string { return p.at }

// healMost is how long a port that somebody else has got meanwhile is waited
// for: the system hands ports of this kind out to whoever connects somewhere.
const healMost = 30 * time.Second

// heal lets connections through.
func (p *proxy) heal(ctx context.Context) error {
	l, err := p.listen(ctx)
	if err != nil {
		return fmt.Errorf("listen on %s, in front of Temporal: %w", p.at, err)
	}
	p.mu.Lock()
	p.listener, p.at = l, l.Addr().String()
	p.mu.Unlock()
	p.done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // cut
			}
			p.done.Go(func() { p.forward(conn) })
		}
	})
	return nil
}

func (p *proxy) listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	for until := time.Now().Add(healMost); ; {
		l, err := lc.Listen(ctx, "tcp", p.at)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(until) {
			return l, err
		}
		if gone := wait(ctx, 50*time.Millisecond); gone != nil {
			return nil, errors.Join(err, gone)
		}
	}
}

// cut breaks what is there and refuses what comes.
func (p *proxy) cut() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.done.Wait()
}

func (p *proxy) close() { p.cut() }

func (p *proxy) forward(conn net.Conn) {
	defer conn.Close()
	var d net.Dialer
	up, err := d.DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer up.Close()
	p.mu.Lock()
	cut := p.listener == nil
	p.conns[conn], p.conns[up] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, conn)
		delete(p.conns, up)
	}()
	if cut {
		return
	}
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{up, conn}, {conn, up}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // the end of either ends both
			_ = conn.Close()
			_ = up.Close()
		})
	}
	both.Wait()
}
