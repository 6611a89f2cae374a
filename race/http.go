package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// httpTimeout bounds one call.
const httpTimeout = 5 * time.Minute

// httpClient calls an API over real connections that are kept open.
type httpClient struct {
	base   string
	header http.Header
	http   *http.Client
	// refused counts answers that asked to come again.
	refused *atomic.Int64
}

// newHTTPClient takes the names and values of headers.
func newHTTPClient(base string, connections int, header ...string) *httpClient {
	c := &httpClient{base: base, header: http.Header{}, refused: &atomic.Int64{}, http: &http.Client{
		Timeout:   httpTimeout,
		Transport: &http.Transport{MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true},
	}}
	for i := 0; i+1 < len(header); i += 2 {
		c.header.Set(header[i], header[i+1])
	}
	return c
}

// with is a client on the same connections with one more header.
func (c *httpClient) with(name, value string) *httpClient {
	h := c.header.Clone()
	h.Set(name, value)
	return &httpClient{base: c.base, header: h, http: c.http, refused: c.refused}
}

func (c *httpClient) closeIdle() { c.http.CloseIdleConnections() }

// call sends a request and returns the whole answer. Who is told to come again
// (503 with Retry-After) does so, for as long as one call may take at most, and its
// wait counts like any other.
func (c *httpClient) call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	began := time.Now()
	for {
		status, answer, again, err := c.once(ctx, method, path, body)
		if status != http.StatusServiceUnavailable || again <= 0 || time.Since(began) > httpTimeout {
			return status, answer, err
		}
		c.refused.Add(1)
		if waited := wait(ctx, again); waited != nil {
			return status, answer, errors.Join(err, waited)
		}
	}
}

// once is call without coming again; it returns after how long to.
func (c *httpClient) once(ctx context.Context, method, path string, body []byte) (status int, answer []byte, again time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, 0, err
	}
	maps.Copy(req.Header, c.header)
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, 0, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, 0, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 when it is none
		return res.StatusCode, answer, time.Duration(seconds) * time.Second, fmt.Errorf("%s %s: %d %.300s", method, path, res.StatusCode, answer)
	}
	return res.StatusCode, answer, 0, nil
}

// decode is call with JSON on both ways.
func (c *httpClient) decode(ctx context.Context, method, path string, in, out any) (int, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return 0, err
		}
	}
	status, answer, err := c.call(ctx, method, path, body)
	if err != nil || status == http.StatusNoContent || out == nil {
		return status, err
	}
	return status, json.Unmarshal(answer, out)
}
