package chaos

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// answered is a call as its client saw it, for rows that look at more than the
// history keeps.
type answered struct {
	status     int
	retryAfter string
	body       []byte
	took       time.Duration
}

// later tells whether it was told to come again, and when.
func (a answered) later() bool {
	return (a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests) && a.retryAfter != ""
}

// header has what is judged of it.
func (a answered) header() http.Header { return http.Header{"Retry-After": {a.retryAfter}} }

// ask makes one call under a key, "" for none.
func ask(ctx context.Context, c *http.Client, method, url, key, body string) (a answered, err error) {
	from := io.Reader(http.NoBody)
	if body != "" {
		from = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, from)
	if err != nil {
		return a, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	began := time.Now()
	res, err := c.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	a.body, err = io.ReadAll(res.Body)
	a.status, a.retryAfter, a.took = res.StatusCode, res.Header.Get("Retry-After"), time.Since(began)
	return a, err
}

// plainTasks is a body that creates n tasks of the plain pipeline.
func plainTasks(n int, question string) string {
	tasks := make([]object, n)
	for i := range tasks {
		tasks[i] = object{"fields": object{"question": question}}
	}
	raw, _ := json.Marshal(object{"tasks": tasks}) // strings only
	return string(raw)
}
