package planted_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	password = "taskloom-planted"
	people   = 8
)

type object = map[string]any

// document is the organizations, for `taskloom apply`.
func document(slugs ...string) []byte {
	var orgs []object
	for _, slug := range slugs {
		users := []object{{"email": "admin@" + slug + ".test", "name": "Admin", "password": password, "role": "org_admin"}}
		var members []object
		for i := range people {
			email := fmt.Sprintf("c%d@%s.test", i, slug)
			users = append(users, object{"email": email, "name": email, "password": password, "role": "member"})
			members = append(members, object{"email": email, "role": "contributor"})
		}
		definition := object{
			"name": slug,
			"nodes": []object{
				{"key": "start", "kind": "start"},
				{"key": "solve", "kind": "subtask", "title": "Solve", "fields": []object{
					{"name": "question", "title": "Question", "type": "short_text", "input": "seeded", "required": true},
					{"name": "answer", "title": "Answer", "type": "short_text", "input": "contributor", "required": true},
					{"name": fieldScan, "title": "Scan", "type": "file_upload", "input": "contributor"},
				}},
				{"key": "end", "kind": "end"},
			},
			"edges": []object{{"from": "start", "to": "solve"}, {"from": "solve", "to": "end"}},
		}
		orgs = append(orgs, object{
			"slug": slug, "name": slug, "users": users,
			"projects": []object{{"name": slug, "members": members, "pipelines": []object{{"status": "ACTIVE", "definition": definition}}}},
			"api_keys": []object{{"name": slug, "created_by": "admin@" + slug + ".test", "expires": "never"}},
		})
	}
	doc, err := json.Marshal(object{"organizations": orgs})
	if err != nil {
		panic(err) // only text and numbers are in it
	}
	return doc
}

// org is an organization as its own people and its integrator see it.
type org struct {
	pipeline int64
	api      *client
	people   []*client
}

func (y *yard) org(slug string) *org {
	y.t.Helper()
	o := &org{pipeline: y.Applied.Pipeline(slug), api: &client{base: y.URL, key: y.Applied.Key(slug), http: &http.Client{Timeout: 30 * time.Second}}}
	for i := range people {
		jar, err := cookiejar.New(nil)
		require.NoError(y.t, err)
		p := &client{base: y.URL, email: fmt.Sprintf("c%d@%s.test", i, slug), pipeline: o.pipeline, http: &http.Client{Timeout: 30 * time.Second, Jar: jar}}
		require.NoError(y.t, p.call(y.t.Context(), "POST", "/api/console/login", object{"email": p.email, "password": password}, nil))
		o.people = append(o.people, p)
	}
	return o
}

// client is one caller over HTTP.
type client struct {
	base, key, email string
	pipeline         int64
	http             *http.Client
}

// answer is an answer that is no success.
type answer struct {
	status int
	text   string
}

func (a *answer) Error() string { return a.text }

// status is that of an answer, 0 of anything else.
func status(err error) int {
	if a, ok := errors.AsType[*answer](err); ok {
		return a.status
	}
	return 0
}

func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	for {
		err := c.once(ctx, method, path, in, out)
		if status(err) != http.StatusServiceUnavailable {
			return err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil { // everybody plays without a pause
			return err
		}
	}
}

// once is call without coming again when the server is full.
func (c *client) once(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		doc, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= http.StatusBadRequest {
		return &answer{res.StatusCode, fmt.Sprintf("%s %s: %d %s", method, path, res.StatusCode, raw)}
	}
	if out == nil || len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, out)
}

type claim struct {
	ID        string `json:"claim_id"`
	TaskID    int64  `json:"task_id"`
	Node      string `json:"node"`
	Iteration int    `json:"iteration"`
}

// claim takes the next work, or the named; nil when there is none.
func (c *client) claim(ctx context.Context, named object) (*claim, error) {
	if named == nil {
		named = object{"role": "contributor"}
	}
	var got claim
	err := c.call(ctx, "POST", fmt.Sprintf("/api/console/pipelines/%d/claim", c.pipeline), named, &got)
	if err != nil || got.ID == "" {
		return nil, err
	}
	return &got, nil
}

// insist claims a node by its name, as soon as it can be had.
func (c *client) insist(ctx context.Context, named object) (*claim, error) {
	for {
		got, err := c.claim(ctx, named)
		if err == nil && got != nil || err != nil && status(err) != 409 {
			return got, err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (c *client) submit(ctx context.Context, claimID string) error {
	return c.call(ctx, "POST", "/api/console/claims/"+claimID+"/submit", object{"values": object{"answer": "42"}}, nil)
}

func (c *client) draft(ctx context.Context, claimID, text string, revision int64) (int64, error) {
	var out struct {
		Revision int64 `json:"revision"`
	}
	err := c.call(ctx, "PUT", "/api/console/claims/"+claimID+"/draft", object{"values": object{"answer": text}, "revision": revision}, &out)
	return out.Revision, err
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
