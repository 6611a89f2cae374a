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

// apiClient calls the API over one or more real connections.
type apiClient struct {
	base   string
	header http.Header
	http   *http.Client
}

// newClient keeps so many connections open between calls.
func (w *world) newClient(connections int) *apiClient {
	return &apiClient{base: w.base, header: http.Header{}, http: &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true},
	}}
}

// integrator is a client of the External API.
func (w *world) integrator() *apiClient {
	c := w.newClient(1)
	c.header.Set("Authorization", "Bearer "+w.key)
	return c
}

// newAPIClient is an integrator of a deployment.
func newAPIClient(base, key string) *apiClient {
	w := &world{base: base, key: key}
	return w.integrator()
}

// as is the client of a logged-in person; it shares the connections.
func (c *apiClient) as(p person) *apiClient {
	h := http.Header{}
	h.Set("Cookie", "sid="+p.token)
	return &apiClient{base: c.base, header: h, http: c.http}
}

// call sends a request and returns the whole answer.
func (c *apiClient) call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	maps.Copy(req.Header, c.header)
	if body != nil {
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

// decode is call for answers that are looked at.
func (c *apiClient) decode(ctx context.Context, method, path string, in, out any) (int, error) {
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
