package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// requestTimeout bounds one request; a body of 32 MB on a slow line is the
	// longest.
	requestTimeout = 3 * time.Minute
	// maxAnswer is how much of an answer is read.
	maxAnswer = 64 << 20
)

// request is what is sent.
type request struct {
	method, path string
	header       http.Header
	body         []byte
	// limited says that a 429 is what the check wants to see: it is not waited out.
	limited bool
}

// option changes a request.
type option func(*request)

func header(name, value string) option { return func(r *request) { r.header.Set(name, value) } }

func without(name string) option { return func(r *request) { r.header.Del(name) } }

// key sends another key instead of the target's.
func key(value string) option { return header("Authorization", "Bearer "+value) }

func anonymous() option { return without("Authorization") }

// unspared returns a 429 as it is.
func unspared() option { return func(r *request) { r.limited = true } }

func (c *C) get(path string, opts ...option) *answer { return c.do(http.MethodGet, path, nil, opts...) }

// post sends a body: bytes as they are, nil as none, anything else as JSON.
func (c *C) post(path string, body any, opts ...option) *answer {
	return c.do(http.MethodPost, path, body, opts...)
}

// do sends a request to the API and ends the check when no answer comes.
func (c *C) do(method, path string, body any, opts ...option) *answer {
	a, err := c.try(method, path, body, opts...)
	if err != nil {
		c.fail(nil, "an answer to "+method+" "+path, "%s", err)
	}
	return a
}

// try is do for goroutines beside the check's own: it returns the error.
func (c *C) try(method, path string, body any, opts ...option) (*answer, error) {
	r := request{method: method, path: path, header: http.Header{}}
	switch b := body.(type) {
	case nil:
	case []byte:
		r.body = b
	default:
		doc, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the body: %w", err)
		}
		r.body = doc
	}
	if body != nil {
		r.header.Set("Content-Type", "application/json")
	}
	r.header.Set("Authorization", "Bearer "+c.Key)
	for _, o := range opts {
		o(&r)
	}
	for {
		a, err := c.runner.send(c.ctx, c.BaseURL, r)
		if err != nil || a.Status != http.StatusTooManyRequests || r.limited {
			return a, err
		}
		if err := c.waitOut(a); err != nil {
			return nil, err
		}
	}
}

// waitOut waits as a 429 demands.
func (c *C) waitOut(a *answer) error {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	c.runner.options.Log("%s: waiting %d s for the rate limit", c.result.ID, seconds)
	timer := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx.Done():
		return fmt.Errorf("the rate limit did not let the request through within %s", checkTimeout)
	}
}

// send sends one request once and remembers the answer.
func (r *runner) send(ctx context.Context, base string, req request) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var body io.Reader = http.NoBody
	if req.body != nil {
		body = bytes.NewReader(req.body)
	}
	out, err := http.NewRequestWithContext(ctx, req.method, base+req.path, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	out.Header = req.header
	out.Header.Set("User-Agent", "taskloom-conformance")
	res, err := r.options.Client.Do(out)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s %s: %w", req.method, req.path, err)
	}
	a := &answer{
		Method: req.method, URL: out.URL.String(), Path: req.path, Status: res.StatusCode, Header: res.Header, Raw: raw,
		keyed: req.header.Get("Authorization") != "" || req.header.Get("X-API-Key") != "",
	}
	if strings.HasPrefix(a.URL, r.target.BaseURL) {
		r.remember(a)
	}
	return a, nil
}
