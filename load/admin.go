package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// searches are an admin's, on all tasks: what each of them narrows by.
func (r *run) searches() []url.Values {
	return []url.Values{
		{},
		{"node": {"solve"}, "node_status": {"available"}},
		{"node_status": {"escalated"}},
		{"node": {"check"}, "node_status": {"available"}},
		{"person": {strconv.FormatInt(r.world.contributors[r.think.IntN(len(r.world.contributors))].id, 10)}},
		{"status": {"finished"}, "created_after": {time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}},
		{"held": {"true"}},
	}
}

// explore is an admin who searches, opens a task, and counts.
func (r *run) explore(ctx context.Context, due time.Time) {
	q := request{op: "explorer", method: http.MethodGet, session: r.world.admin.token, due: due}
	switch r.think.IntN(10) {
	case 0:
		q.op, q.path = "admin-counts", fmt.Sprintf("/api/console/pipelines/%d/counts", r.world.main)
	case 1, 2:
		q.op, q.path = "admin-task", fmt.Sprintf("/api/console/tasks/%d", r.facts.tasks[r.think.IntN(len(r.facts.tasks))])
	default:
		all := r.searches()
		q.path = fmt.Sprintf("/api/console/pipelines/%d/tasks?%s", r.world.main, all[r.think.IntN(len(all))].Encode())
	}
	r.ask(ctx, q)
}

// amongCreations is how long after creations were due an admin publishes beside
// them: they have been read by then, and write.
const amongCreations = 50 * time.Millisecond

// publish is an admin who changes what a pipeline says of itself and publishes that,
// with the requests that the builder makes. New tasks have another version then. A run
// in which that does not succeed fails.
func (r *run) publish(ctx context.Context, due time.Time) {
	path := fmt.Sprintf("/api/console/pipelines/%d", r.world.main)
	as := request{method: http.MethodGet, path: path, session: r.world.admin.token, patience: insistent, op: "pipeline", due: due}
	var is struct {
		Version  int                        `json:"version"`
		Revision int64                      `json:"revision"`
		Draft    map[string]json.RawMessage `json:"draft"`
	}
	if !r.administer(ctx, as, &is) {
		return
	}
	if is.Draft == nil {
		r.fail(fmt.Errorf("an admin's %s %s answers a pipeline without a draft", as.method, as.path))
		return
	}
	is.Draft["description"] = encode(fmt.Sprintf("Version %d", is.Version+1))
	as.op, as.method, as.path, as.due = "pipeline-draft", http.MethodPut, path+"/draft", time.Time{}
	as.body = encode(map[string]any{"definition": is.Draft, "revision": is.Revision})
	if !r.administer(ctx, as, &is) {
		return
	}
	now := struct {
		Version int `json:"version"`
	}{}
	as.op, as.method, as.path, as.body = "publish", http.MethodPost, path+"/publish", encode(map[string]any{})
	if r.administer(ctx, as, &now) && now.Version != is.Version+1 {
		r.fail(fmt.Errorf("an admin published a pipeline of version %d, and its version is %d", is.Version, now.Version))
	}
}

// administer is one request of an admin, which has to succeed.
func (r *run) administer(ctx context.Context, q request, into any) bool {
	a := r.ask(ctx, q)
	if ctx.Err() != nil {
		return false
	}
	if !a.ok() {
		r.fail(fmt.Errorf("an admin's %s %s: %s", q.method, q.path, a.cause()))
		return false
	}
	if err := a.decode(into); err != nil {
		r.fail(fmt.Errorf("an admin's %s %s answers what is no pipeline: %w", q.method, q.path, err))
		return false
	}
	return true
}
