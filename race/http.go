package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

// httpTimeout bounds one call.
const httpTimeout = 5 * time.Minute

// httpClient calls an API over real connections that are kept open.
type httpClient struct {
	base   string
	header http.Header
	http   *http.Client
}

// newHTTPClient takes the names and values of headers.
func newHTTPClient(base string, connections int, header ...string) *httpClient {
	c := &httpClient{base: base, header: http.Header{}, http: &http.Client{
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
	return &httpClient{base: c.base, header: h, http: c.http}
}

func (c *httpClient) closeIdle() { c.http.CloseIdleConnections() }

// call sends a request and returns the whole answer.
func (c *httpClient) call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	maps.Copy(req.Header, c.header)
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		return res.StatusCode, answer, fmt.Errorf("%s %s: %d %.300s", method, path, res.StatusCode, answer)
	}
	return res.StatusCode, answer, nil
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
