package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the database cannot hold is refused with its place, wherever it stands.
func TestUnstorableTextsAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := b.created(t, 3)[0]
	admin, maker, checker := b.login(t, "admin1"), b.login(t, "contributor1"), b.login(t, "reviewer1")
	done := maker.claim(t, "contributor")
	maker.ok(t, 200, http.MethodPost, onClaim(done, "/submit"), values("answer", "1", "sure", true))
	b.step(t, done)
	claim, review := maker.claim(t, "contributor"), checker.claim(t, "reviewer")
	node := fmt.Sprintf("/tasks/%v/nodes/", task)
	before := b.fingerprint(t)
	for _, c := range []struct {
		who                       person
		method, path, body, place string
		status                    int
	}{
		{person{b: b}, http.MethodPost, "/login", `{"email": "a\u0000b", "password": "x"}`, "email", 422},
		{person{b: b}, http.MethodPost, "/login", `{"email": "a\ud800b", "password": "x"}`, "email", 422},
		{admin, http.MethodPost, node + "solve/escalate", `{"reason": "a\u0000b"}`, "reason", 422},
		{admin, http.MethodPost, node + "solve/quarantine", `{"reason": "a\u0000b"}`, "reason", 422},
		{admin, http.MethodPost, node + "solve/resolve", `{"outcome": "skip", "reason": "\udc00"}`, "reason", 422},
		{admin, http.MethodPost, fmt.Sprintf("/tasks/%v/hold", task), `{"reason": "\u0000"}`, "reason", 422},
		{admin, http.MethodPost, fmt.Sprintf("/tasks/%v/unhold", task), `{"reason": "\u0000"}`, "reason", 422},
		{admin, http.MethodPost, fmt.Sprintf("/tasks/%v/fail", task), `{"reason": "\u0000"}`, "reason", 422},
		{admin, http.MethodPost, node + "so%00lve/escalate", ``, "key", 400},
		{admin, http.MethodPost, node + "so%ff/escalate", ``, "key", 400},
		{admin, http.MethodPost, node + "so%2f%00/escalate", ``, "key", 400},
		{admin, http.MethodPost, b.pipeline("/claim"), fmt.Sprintf(`{"role": "contributor", "task_id": %v, "node": "so\u0000lve"}`, task), "node", 422},
		{admin, http.MethodPost, b.pipeline("/publish"), `{"note": "\u0000"}`, "note", 422},
		{admin, http.MethodPost, fmt.Sprintf("/orgs/%d/keys", b.OrgID), `{"name": "\u0000", "expires": "never"}`, "name", 422},
		{admin, http.MethodPut, b.pipeline("/draft"), `{"definition": {"name": "x", "nodes": [], "description": "\u0000"}, "revision": 1}`, "definition.description", 422},
		{admin, http.MethodPut, b.pipeline("/draft"), `{"definition": {"name": "x", "nodes": [{"key": "a", "kind": "subtask", "fields": [{"name": "n", "rules": {"min": 1e999999}}]}], "edges": []}, "revision": 1}`, "definition.nodes[0].fields[0].rules.min", 422},
		{admin, http.MethodPut, b.pipeline("/draft"), `{"definition": {"name": "x", "nodes": [{"key": "a", "kind": "subtask", "fields": [{"name": "n", "value": 1e-999999}]}], "edges": []}, "revision": 1}`, "definition.nodes[0].fields[0].value", 422},
		{maker, http.MethodDelete, onClaim(claim, "?reason=a%00b"), ``, "reason", 400},
		{maker, http.MethodDelete, onClaim(claim, "?reason=a%ffb"), ``, "reason", 400},
		{maker, http.MethodGet, "/claims/a%00b", ``, "claim_id", 400},
		{maker, http.MethodPut, onClaim(claim, "/draft"), `{"values": {"answer": "a\u0000"}, "revision": 0}`, "values.answer", 422},
		{maker, http.MethodPut, onClaim(claim, "/draft"), `{"values": {"answer": [1, {"x": 1e999999}]}, "revision": 0}`, "values.answer[1].x", 422},
		{maker, http.MethodPut, onClaim(claim, "/draft"), `{"values": {"\u0000": 1}, "revision": 0}`, "values", 422},
		{maker, http.MethodPost, onClaim(claim, "/submit"), `{"values": {"answer": "a\u0000"}}`, "values.answer", 422},
		{checker, http.MethodPost, onClaim(review, "/review"), `{"verdict": "reject", "comments": [{"text": "\u0000"}]}`, "comments[0].text", 422},
		{checker, http.MethodPost, onClaim(review, "/review"), `{"verdict": "reject", "comments": [{"text": "x", "field": "\u0000"}]}`, "comments[0].field", 422},
		{checker, http.MethodPost, onClaim(review, "/review"), `{"verdict": "reject", "nodes": ["solve", "\u0000"]}`, "nodes[1]", 422},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		a := c.who.do(t, c.method, c.path, body)
		require.Equal(t, c.status, a.Status, "%s %s %s: %s\n%s", c.method, c.path, c.body, a.Raw, b.logs.text())
		require.Contains(t, a.message(), c.place)
		if c.status == http.StatusUnprocessableEntity {
			require.Equal(t, c.place, a.Body["problems"].([]any)[0].(map[string]any)["path"])
		}
	}
	require.Equal(t, before, b.fingerprint(t))
	// A backslash that is one, and a pair that is whole, are texts like others.
	admin.ok(t, 204, http.MethodPost, fmt.Sprintf("/tasks/%v/hold", task), `{"reason": "\\u0000 \ud83d\ude00"}`)
}

// The console speaks of pipelines, never of workflows.
func TestTheConsoleSaysPipeline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	admin := b.login(t, "admin1")
	for _, path := range []string{"", "/tasks", "/counts", "/waiting"} {
		a := admin.refused(t, 404, "not_found", http.MethodGet, "/pipelines/987654321"+path, nil)
		require.Equal(t, "pipeline 987654321 not found", a.message())
	}
	for _, c := range []struct{ path, want string }{
		{"/workflows/987654321", "workflow 987654321 not found"},
		{"/workflows/987654321/tasks", "workflow 987654321 not found"},
		{"/workflows/987654321/schema", "workflow 987654321 not found"},
	} {
		a := b.v1(t, http.MethodGet, c.path, nil)
		fails(t, a, http.StatusNotFound, "not_found")
		require.Equal(t, c.want, a.message())
	}
}
