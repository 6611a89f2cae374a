// Package load asks a server over and over, by vegeta, and tells how it
// answered.
package load

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Request is one request. Its fields are shared between requests: nobody
// changes them.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// Plan says how often to ask.
type Plan struct {
	// Clients ask one request after the other, as fast as they are answered: a
	// closed loop. They are ignored when Every is set.
	Clients int
	// Every is the time between the beginnings of two requests, however many are
	// still unanswered: an open loop.
	Every time.Duration
	// Requests and For bound the whole; the first that is reached ends it. 0 is
	// no bound.
	Requests uint64
	For      time.Duration
	// Timeout bounds one request; a minute when 0.
	Timeout time.Duration
}

// Result is what came of a plan.
type Result struct {
	// Millis are the latencies of the requests that did not fail, in no order: who
	// is refused has not been served, however quickly. In an open loop they count from
	// when a request was due.
	Millis []float64
	// Late is by how much requests of an open loop began after they were due.
	Late []float64
	// Statuses counts answers; those without one are under 0.
	Statuses map[int]int
	// Failed counts what was not answered or answered with 400 and above, and
	// FirstFailure is one of them.
	Failed       int
	FirstFailure string
	Seconds      float64
	// Sent and Received are bytes on the wire, headers and all.
	Sent, Received int64
}

const (
	// mostOpen bounds the requests that an open loop leaves unanswered.
	mostOpen       = 4096
	defaultTimeout = time.Minute
)

// Run carries a plan out. It is over early when ctx is.
func Run(ctx context.Context, p Plan, next func() Request) (Result, error) {
	workers, most := uint64(max(p.Clients, 1)), uint64(max(p.Clients, 1))
	if p.Every > 0 {
		most = mostOpen
	}
	if p.Timeout == 0 {
		p.Timeout = defaultTimeout
	}
	var w wire
	transport := &http.Transport{
		DialContext: w.dial, MaxIdleConns: mostOpen, MaxIdleConnsPerHost: mostOpen, DisableCompression: true,
	}
	defer transport.CloseIdleConnections()
	a := vegeta.NewAttacker(
		vegeta.Workers(workers), vegeta.MaxWorkers(most),
		vegeta.Client(&http.Client{Transport: transport, Timeout: p.Timeout}),
	)
	targeter := func(t *vegeta.Target) error {
		r := next()
		t.Method, t.URL, t.Header, t.Body = r.Method, r.URL, r.Header, r.Body
		return nil
	}
	c := collector{Result: Result{Statuses: map[int]int{}}, every: p.Every, began: time.Now()}
	for r := range a.Attack(targeter, &pacer{ctx: ctx, plan: p}, p.For, "") {
		c.add(r)
	}
	c.Seconds = time.Since(c.began).Seconds()
	c.Sent, c.Received = w.sent.Load(), w.received.Load()
	return c.Result, ctx.Err()
}

// pacer says when the next request begins.
type pacer struct {
	ctx  context.Context //nolint:containedctx // vegeta's interface has no room for it
	plan Plan
}

// Pace implements vegeta.Pacer.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (wait time.Duration, stop bool) {
	if p.ctx.Err() != nil || p.plan.Requests > 0 && hits >= p.plan.Requests {
		return 0, true
	}
	return max(0, p.plan.Every*time.Duration(hits)-elapsed), false //nolint:gosec // far from the limit
}

// Rate implements vegeta.Pacer.
func (p *pacer) Rate(time.Duration) float64 {
	if p.plan.Every == 0 {
		return 0
	}
	return float64(time.Second) / float64(p.plan.Every)
}

// collector adds results up.
type collector struct {
	Result

	every time.Duration
	began time.Time
}

func (c *collector) add(r *vegeta.Result) {
	c.Statuses[int(r.Code)]++
	latency := r.Latency // from when it was sent
	if c.every > 0 {
		due := c.began.Add(c.every * time.Duration(r.Seq)) //nolint:gosec // far from the limit
		late := max(0, r.Timestamp.Sub(due))
		c.Late = append(c.Late, millis(late))
		latency += late
	}
	if r.Error == "" {
		c.Millis = append(c.Millis, millis(latency))
		return
	}
	c.Failed++
	if c.FirstFailure == "" {
		c.FirstFailure = r.Error
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// wire counts the bytes of all connections.
type wire struct{ sent, received atomic.Int64 }

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, wire: w}, nil
}

type counted struct {
	net.Conn

	wire *wire
}

// Read implements net.Conn.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.received.Add(int64(n))
	return n, err
}

// Write implements net.Conn.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.sent.Add(int64(n))
	return n, err
}
