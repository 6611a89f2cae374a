// Package retryproxy stands before several servers as a load balancer does: it sends
// requests to those that say that they are ready, and to another one what it may
// send again. That is a request that no server has taken, and, where one gave no
// answer or says that it comes later, a request whose repetition has no second effect.
package retryproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// ServedBy is the header of an answer that names the server that it is from.
	ServedBy = "Chaos-Served-By"
	// lookEvery is how often each server is asked whether it is ready, lookWithin how
	// long it has to say so.
	lookEvery  = 100 * time.Millisecond
	lookWithin = time.Second
	// rounds are how often a request goes to every server; between them lies what
	// Retry-After asks for, pause where it says nothing.
	rounds = 3
	pause  = 200 * time.Millisecond
)

// Stats count requests: those that were sent again, and those for which that was no
// use or not safe.
type Stats struct{ Again, Failed int64 }

// Proxy forwards requests.
type Proxy struct {
	servers []*server
	http    http.Transport
	front   *http.Server
	url     string
	stop    context.CancelFunc

	turn, again, failed atomic.Int64
}

type server struct {
	url   string
	ready atomic.Bool
}

// Listen starts a proxy on a free port of 127.0.0.1, before servers by their URLs.
func Listen(ctx context.Context, servers ...string) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for HTTP clients: %w", err)
	}
	// A connection that waits for its next request may be closed by the server at the
	// moment when that is sent, which looks like an answer that was lost.
	p := &Proxy{url: "http://" + l.Addr().String()}
	p.http.DisableKeepAlives = true
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, url := range servers {
		s := &server{url: url}
		s.ready.Store(true)
		p.servers = append(p.servers, s)
		go p.look(ctx, s)
	}
	p.front = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.front.Serve(l) }()
	return p, nil
}

// URL is where the proxy listens.
func (p *Proxy) URL() string { return p.url }

// Stats returns what was seen up to now.
func (p *Proxy) Stats() Stats { return Stats{Again: p.again.Load(), Failed: p.failed.Load()} }

// Close ends the proxy.
func (p *Proxy) Close() error {
	p.stop()
	return p.front.Close()
}

// look asks a server whether it is ready until ctx ends.
func (p *Proxy) look(ctx context.Context, s *server) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			s.ready.Store(p.readyNow(ctx, s))
		}
	}
}

func (p *Proxy) readyNow(ctx context.Context, s *server) bool {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	res, err := p.http.RoundTrip(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// order is where a request goes: to those that are ready, in turns, then to the others.
func (p *Proxy) order() (all []*server) {
	first := int(p.turn.Add(1))
	var rest []*server
	for i := range p.servers {
		if s := p.servers[(first+i)%len(p.servers)]; s.ready.Load() {
			all = append(all, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(all, rest...)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client is gone
	}
	var got answer
	for round := range rounds {
		if round > 0 && !got.later(req.Context()) {
			break
		}
		for i, s := range p.order() {
			if round+i > 0 {
				p.again.Add(1)
			}
			got = p.send(req, s, body)
			if !got.again(req) {
				got.write(w, s, &p.failed)
				return
			}
		}
	}
	got.write(w, nil, &p.failed)
}

// answer is what a server said, or why it said nothing.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func (p *Proxy) send(req *http.Request, s *server, body []byte) (got answer) {
	out, err := http.NewRequestWithContext(req.Context(), req.Method, s.url+req.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	out.Header = req.Header.Clone()
	out.Header.Del("Connection")
	out.Host = req.Host
	res, err := p.http.RoundTrip(out)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	got.status, got.header = res.StatusCode, res.Header
	got.body, got.err = io.ReadAll(res.Body)
	return got
}

// again reports whether the request may go to another server.
func (a answer) again(req *http.Request) bool {
	switch {
	case req.Context().Err() != nil:
		return false
	case errors.Is(a.err, syscall.ECONNREFUSED): // nobody has taken it
		return true
	case a.err != nil, a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
		return repeatable(req)
	}
	return false
}

// repeatable reports whether a request has one effect however often it is sent: by its
// method, by its key, or because it is about one claim.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		return true
	}
	return req.Header.Get("Idempotency-Key") != "" || strings.Contains(req.URL.Path, "/claims/")
}

// later waits as long as the last answer asks for, and reports whether there is
// somebody who waits for another round.
func (a answer) later(ctx context.Context) bool {
	in := pause
	if s, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil {
		in = time.Duration(s) * time.Second
	}
	t := time.NewTimer(in)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// write passes an answer on, 502 where there is none.
func (a answer) write(w http.ResponseWriter, from *server, failed *atomic.Int64) {
	if a.err != nil {
		failed.Add(1)
		http.Error(w, a.err.Error(), http.StatusBadGateway)
		return
	}
	if a.status == http.StatusServiceUnavailable {
		failed.Add(1)
	}
	maps.Copy(w.Header(), a.header)
	w.Header().Del("Connection")
	if from != nil {
		w.Header().Set(ServedBy, from.url)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
