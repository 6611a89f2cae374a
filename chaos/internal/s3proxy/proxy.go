// Package s3proxy stands in front of an S3 store and makes it bad: it is away,
// slow, breaks off, has too much to do, or lies about what it holds.
package s3proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Way is how requests are treated. The zero value passes them on.
type Way struct {
	// Pass lets so many requests through unharmed before it begins.
	Pass int64
	// Delay is how long a request waits before it is passed on, up to Jitter
	// more or less.
	Delay, Jitter time.Duration
	// Rate bounds each body, in either direction, in bytes a second; 0 does not.
	// A transfer under way gets faster when the way is mended.
	Rate int
	// Cut ends the connection after so many bytes of a body, in either
	// direction; 0 does not.
	Cut int64
	// Answer answers instead of the store; nil asks the store.
	Answer http.HandlerFunc
	// Lie changes the store's answer; nil leaves it.
	Lie func(res *http.Response)
}

// Proxy forwards requests to one store. Clients sign for the proxy's own
// address, which reaches the store in the Host header.
type Proxy struct {
	addr    string
	forward *httputil.ReverseProxy

	mu     sync.Mutex
	server *http.Server // nil while it is away
	way    Way

	requests, harmed atomic.Int64
}

// Listen starts a proxy on a free port of 127.0.0.1. upstream is the store's
// http://host:port.
func Listen(ctx context.Context, upstream string) (*Proxy, error) {
	to, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("address of the store: %w", err)
	}
	p := &Proxy{}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport:      &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		FlushInterval:  -1,
		ModifyResponse: p.answered,
		// What breaks on the way to the store breaks on the way to the client.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	if err := p.listen(ctx, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Proxy) listen(ctx context.Context, addr string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for S3 clients: %w", err)
	}
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	p.addr, p.server = l.Addr().String(), server
	go func() { _ = server.Serve(l) }()
	return nil
}

// URL is the proxy's own http://host:port.
func (p *Proxy) URL() string { return "http://" + p.addr }

// Set replaces the way for requests that come from now on; the zero value
// mends it.
func (p *Proxy) Set(w Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.way = w
}

// Down takes the proxy away: connections are cut and refused until Up.
func (p *Proxy) Down() {
	p.mu.Lock()
	server := p.server
	p.server = nil
	p.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// Up brings the proxy back at its address. One that is not away is left alone.
func (p *Proxy) Up(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return nil
	}
	return p.listen(ctx, p.addr)
}

// Close ends the proxy.
func (p *Proxy) Close() error {
	p.Down()
	return nil
}

// Requests counts what came, Harmed those that did not simply pass.
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Harmed counts requests that met a bad way.
func (p *Proxy) Harmed() int64 { return p.harmed.Load() }

// take is the way of the next request.
func (p *Proxy) take() (w Way, bad bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.way.Pass > 0 {
		p.way.Pass--
		return Way{}, false
	}
	w = p.way
	return w, w.Delay > 0 || w.Rate > 0 || w.Cut > 0 || w.Answer != nil || w.Lie != nil
}

// rate is what bodies may have now.
func (p *Proxy) rate() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.way.Rate
}

type wayKey struct{}

// ServeHTTP passes a request on by the present way.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	way, bad := p.take()
	if !bad {
		p.forward.ServeHTTP(w, r)
		return
	}
	p.harmed.Add(1)
	if way.Delay > 0 {
		late := way.Delay
		if way.Jitter > 0 {
			late += rand.N(2*way.Jitter) - way.Jitter //nolint:gosec // chance, not secrecy
		}
		if !pause(r.Context(), late) {
			panic(http.ErrAbortHandler)
		}
	}
	if way.Answer != nil {
		way.Answer(w, r)
		return
	}
	ctx := context.WithValue(r.Context(), wayKey{}, way)
	r = r.WithContext(ctx)
	if r.ContentLength != 0 {
		r.Body = p.through(ctx, r.Body, way)
	}
	p.forward.ServeHTTP(w, r)
}

// answered changes the store's answer by the way of its request.
func (p *Proxy) answered(res *http.Response) error {
	way, ok := res.Request.Context().Value(wayKey{}).(Way)
	if !ok {
		return nil
	}
	if way.Lie != nil {
		way.Lie(res)
	}
	res.Body = p.through(res.Request.Context(), res.Body, way)
	return nil
}

// through is a body that goes through the way.
func (p *Proxy) through(ctx context.Context, body io.ReadCloser, w Way) io.ReadCloser {
	if w.Rate == 0 && w.Cut == 0 {
		return body
	}
	return &slowed{ReadCloser: body, ctx: ctx, rate: func() int { return min(w.Rate, p.rate()) }, left: w.Cut, cut: w.Cut > 0}
}

var errCut = errors.New("the way ends here")

// slowed is a body that comes slowly, or ends early.
type slowed struct {
	io.ReadCloser

	ctx  context.Context //nolint:containedctx // io.Reader has no room for one
	rate func() int
	cut  bool
	left int64
}

// Read implements io.Reader. It gives a quarter of a second's bytes at a time.
func (s *slowed) Read(b []byte) (int, error) {
	if s.cut {
		if s.left == 0 {
			return 0, errCut
		}
		b = b[:min(int64(len(b)), s.left)]
	}
	if rate := s.rate(); rate > 0 {
		b = b[:min(len(b), max(1, rate/4))]
		if !pause(s.ctx, time.Duration(len(b))*time.Second/time.Duration(rate)) {
			return 0, s.ctx.Err()
		}
	}
	n, err := s.ReadCloser.Read(b)
	s.left -= int64(n)
	return n, err
}

func pause(ctx context.Context, d time.Duration) (over bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
