package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/taskloom/taskloom/load/internal/record"
)

// requestTimeout is when a client gives up. It is far beyond every objective.
const requestTimeout = 60 * time.Second

// clients are all callers, on shared connections. Requests go to the API's
// processes in turn, as through a load balancer.
type clients struct {
	bases []string
	turn  atomic.Uint64
	http  *http.Client
}

func newClients(bases []string) *clients {
	const idle = 2048
	return &clients{bases: bases, http: &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{MaxIdleConns: idle, MaxIdleConnsPerHost: idle, DisableCompression: true},
	}}
}

// request is one call of the API.
type request struct {
	op, method, path string
	// One of them says who asks.
	session, key string
	body         []byte
	tag          string // If-None-Match
	once         string // Idempotency-Key
	due          time.Time
	// ready is when its caller could send it, if that is later than due because of an
	// earlier call of theirs.
	ready time.Time
	// patience is how long after it was due a call that was refused is repeated.
	patience time.Duration
	// empty is what the call is recorded as when there was nothing to be had.
	empty string
}

// answer is what came back; status is 0 without an answer.
type answer struct {
	status int
	body   []byte
	tag    string
	again  time.Duration // after which to come again; 0 when nobody said so
	err    error
}

func (a answer) decode(into any) error { return json.Unmarshal(a.body, into) }

// class says what became of a request.
func (a answer) class() record.Class {
	switch {
	case a.err != nil:
		return record.Failed
	case a.status < http.StatusBadRequest:
		return record.OK
	case a.status == http.StatusTooManyRequests:
		return record.Limited
	case a.status == http.StatusServiceUnavailable && a.again > 0:
		return record.Refused
	case a.status == http.StatusConflict, a.status == http.StatusNotFound:
		return record.Stale
	default:
		return record.Failed
	}
}

func (a answer) ok() bool { return a.class() == record.OK }

// turnedAway tells whether to come again.
func (a answer) turnedAway() bool { return a.class() == record.Refused || a.class() == record.Limited }

// cause tells what failed.
func (a answer) cause() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %.300s", a.status, a.body)
}

func (c *clients) send(ctx context.Context, q request) answer {
	base := c.bases[c.turn.Add(1)%uint64(len(c.bases))]
	req, err := http.NewRequestWithContext(ctx, q.method, base+q.path, bytes.NewReader(q.body))
	if err != nil {
		return answer{err: err}
	}
	if q.session != "" {
		req.Header.Set("Cookie", "sid="+q.session)
	} else {
		req.Header.Set("Authorization", "Bearer "+q.key)
	}
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.tag != "" {
		req.Header.Set("If-None-Match", q.tag)
	}
	if q.once != "" {
		req.Header.Set("Idempotency-Key", q.once)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, body: body, tag: res.Header.Get("ETag"), again: retryAfter(res.Header), err: err}
}

// took records a time that is none of a single request.
func (r *run) took(op string, due, end time.Time) {
	r.rec.Record(record.Key{Phase: r.phaseAt(due), Op: op, Class: record.OK}, end.Sub(due), 0, "")
}

// encode makes a body. What it is given are maps and structs of ours.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // a mistake in this program
	}
	return raw
}
