package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"time"
)

const (
	// callTimeout bounds one call of a simulated person.
	callTimeout = 30 * time.Second
	// overloadMost is for how long somebody comes back to a server that has too much to do.
	overloadMost = 2 * time.Minute
)

// api speaks to the product over HTTP only.
type api struct {
	base     string
	key      string
	pipeline int64
	http     *http.Client
}

func newAPI(base, key string, pipelineID int64) *api {
	return &api{base: base, key: key, pipeline: pipelineID, http: &http.Client{Timeout: callTimeout}}
}

// session is the same product for a person with cookies of their own.
func (a *api) session() *api {
	jar, _ := cookiejar.New(nil) // fails never without options
	return &api{base: a.base, pipeline: a.pipeline, http: &http.Client{Timeout: callTimeout, Jar: jar}}
}

// refusal is an answer that is no success.
type refusal struct {
	Status  int
	Call    string
	Code    string `json:"error"`
	Message string `json:"message"`
	// RetryAfter is how many seconds to wait, with 429, and with 503 where nothing was done.
	RetryAfter int `json:"retry_after"`
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", r.Call, r.Status, r.Code, r.Message)
}

// call sends a request and decodes the answer; false when there is no content.
// Where there is a limit, it waits as it is told and sends the request again: for ever
// where it is of the caller's own, for a while where the server has too much to do. Each
// waits a little longer than the others, for these people never pause, and would come back
// as the crowd that was sent away.
func (a *api) call(ctx context.Context, method, path string, in, out any) (bool, error) {
	began := time.Now()
	for {
		some, err := a.send(ctx, method, path, in, out)
		refused, ok := errors.AsType[*refusal](err)
		busy := ok && refused.Status == http.StatusServiceUnavailable && refused.RetryAfter > 0 && time.Since(began) < overloadMost
		if !busy && (!ok || refused.Status != http.StatusTooManyRequests) {
			return some, err
		}
		told := time.Duration(max(1, refused.RetryAfter)) * time.Second
		if err := wait(ctx, told+rand.N(told)); err != nil { //nolint:gosec // chance, no secret
			return false, err
		}
	}
}

// send sends one request.
func (a *api) send(ctx context.Context, method, path string, in, out any) (bool, error) {
	var body io.Reader
	if in != nil {
		doc, err := json.Marshal(in)
		if err != nil {
			return false, err
		}
		body = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, body)
	if err != nil {
		return false, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	res, err := a.http.Do(req)
	if err != nil {
		return false, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return false, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		r := &refusal{Status: res.StatusCode, Call: method + " " + path}
		_ = json.Unmarshal(answer, r) // an answer in another shape still has its status
		if told, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
			r.RetryAfter = told
		}
		return false, r
	}
	if res.StatusCode == http.StatusNoContent || out == nil {
		return false, nil
	}
	return true, json.Unmarshal(answer, out)
}

func (a *api) createTasks(ctx context.Context, questions []string) ([]int64, error) {
	type item struct {
		Fields map[string]string `json:"fields"`
	}
	var in struct {
		Tasks []item `json:"tasks"`
	}
	for _, q := range questions {
		in.Tasks = append(in.Tasks, item{Fields: map[string]string{"question": q}})
	}
	var out struct {
		SuccessCount int     `json:"success_count"`
		ErrorCount   int     `json:"error_count"`
		TaskIDs      []int64 `json:"task_ids"`
	}
	if _, err := a.call(ctx, http.MethodPost, fmt.Sprintf("/api/v1/workflows/%d/tasks", a.pipeline), in, &out); err != nil {
		return nil, err
	}
	if out.ErrorCount > 0 || len(out.TaskIDs) != len(questions) {
		return nil, fmt.Errorf("created %d of %d tasks, %d errors", out.SuccessCount, len(questions), out.ErrorCount)
	}
	return out.TaskIDs, nil
}

// finished counts how many of the tasks the External API lists as finished.
func (a *api) finished(ctx context.Context, ids []int64) (int, error) {
	want := make(map[int64]bool, len(ids))
	for _, id := range ids {
		want[id] = true
	}
	n, cursor := 0, ""
	for {
		q := url.Values{"status": {"finished"}, "limit": {"200"}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		var page struct {
			Tasks []struct {
				ID int64 `json:"id"`
			} `json:"tasks"`
			NextCursor *string `json:"next_cursor"`
		}
		if _, err := a.call(ctx, http.MethodGet, fmt.Sprintf("/api/v1/workflows/%d/tasks?%s", a.pipeline, q.Encode()), nil, &page); err != nil {
			return 0, err
		}
		older := false
		for _, t := range page.Tasks {
			if want[t.ID] {
				n++
			}
			older = t.ID < ids[0]
		}
		if page.NextCursor == nil || older {
			return n, nil
		}
		cursor = *page.NextCursor
	}
}

func (a *api) login(ctx context.Context, email, password string) error {
	_, err := a.call(ctx, http.MethodPost, "/api/console/login", map[string]string{"email": email, "password": password}, nil)
	return err
}

// claim is the work that the console hands out.
type claim struct {
	ID        string         `json:"claim_id"`
	TaskID    int64          `json:"task_id"`
	Node      string         `json:"node"`
	Iteration int            `json:"iteration"`
	Values    map[string]any `json:"values"`
	Draft     *struct {
		Revision int64 `json:"revision"`
	} `json:"draft"`
}

func (c *claim) revision() int64 {
	if c.Draft == nil {
		return 0
	}
	return c.Draft.Revision
}

// claim takes the next piece of work; nil when there is none.
func (a *api) claim(ctx context.Context, role string) (*claim, error) {
	var c claim
	some, err := a.call(ctx, http.MethodPost, "/api/console/pipelines/"+strconv.FormatInt(a.pipeline, 10)+"/claim",
		map[string]string{"role": role}, &c)
	if err != nil || !some {
		return nil, err
	}
	return &c, nil
}

func (a *api) claimCall(ctx context.Context, method, id, verb string, in any) error {
	_, err := a.call(ctx, method, "/api/console/claims/"+id+verb, in, nil)
	return err
}

func (a *api) draft(ctx context.Context, id string, values map[string]any, revision int64) error {
	return a.claimCall(ctx, http.MethodPut, id, "/draft", map[string]any{"values": values, "revision": revision})
}

func (a *api) submit(ctx context.Context, id string, values map[string]any) error {
	return a.claimCall(ctx, http.MethodPost, id, "/submit", map[string]any{"values": values})
}

func (a *api) verdict(ctx context.Context, id string, verdict map[string]any) error {
	return a.claimCall(ctx, http.MethodPost, id, "/review", verdict)
}

func (a *api) release(ctx context.Context, id string) error {
	return a.claimCall(ctx, http.MethodDelete, id, "", nil)
}
