package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestBodiesAreBoundedByTheirOperation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	admin, maker := b.login(t, "admin1"), b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	for _, c := range []struct {
		who          person
		method, path string
		limit        int
	}{
		{person{b: b}, http.MethodPost, "/login", 16 << 10},
		{maker, http.MethodPost, b.pipeline("/claim"), 64 << 10},
		{maker, http.MethodPut, onClaim(claim, "/draft"), 2 << 20},
		{maker, http.MethodPost, onClaim(claim, "/submit"), 2 << 20},
		{maker, http.MethodPost, onClaim(claim, "/review"), 2 << 20},
		{admin, http.MethodPut, b.pipeline("/draft"), pipeline.MaxDefinition + 64<<10},
		{admin, http.MethodPost, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), pipeline.MaxDefinition + 64<<10},
		{admin, http.MethodPost, fmt.Sprintf("/tasks/%v/hold", claim["task_id"]), 64 << 10},
		{admin, http.MethodPost, fmt.Sprintf("/orgs/%d/keys", b.OrgID), 64 << 10},
	} {
		fits := []byte(`{"a":1` + strings.Repeat(" ", c.limit-7) + `}`)
		require.Len(t, fits, c.limit)
		c.who.refused(t, 422, "validation_error", c.method, c.path, fits)
		c.who.refused(t, 413, "payload_too_large", c.method, c.path, append(fits, ' '))
		unannounced := func(r *http.Request) { r.ContentLength = -1 }
		a := c.who.do(t, c.method, c.path, append(fits, ' '), unannounced)
		require.Equal(t, http.StatusRequestEntityTooLarge, a.Status, "%s %s", c.method, c.path)
	}
}

// An answer repeats little of a bad body, however much is wrong with it.
func TestProblemsAreListedInPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	unknown := func(n int, key string) string {
		var s strings.Builder
		s.WriteString("{")
		for i := range n {
			fmt.Fprintf(&s, `"%s%d":1,`, key, i)
		}
		return strings.TrimSuffix(s.String(), ",") + "}"
	}
	// 99 unknown properties and two that are missing.
	a := b.console(t, http.MethodPost, "/login", unknown(99, strings.Repeat("ä", 70)))
	require.Equal(t, http.StatusUnprocessableEntity, a.Status)
	problems := a.Body["problems"].([]any)
	require.Len(t, problems, 100)
	require.Contains(t, a.message(), "98 more")
	for _, p := range problems {
		path, _ := p.(map[string]any)["path"].(string)
		require.LessOrEqual(t, len([]rune(path)), 61, "60 characters and an ellipsis")
	}
	require.Less(t, len(a.Raw), 32<<10)
	for path, body := range map[string]string{
		"/login":                      unknown(1500, "k"),
		onClaim(claim, "/draft"):      unknown(100_000, "k"),
		onClaim(claim, "/submit"):     unknown(100_000, "k"),
		onClaim(claim, "/review"):     `{"comments": [` + strings.Repeat(`{},`, 500_000) + `{}]}`,
		onClaim(claim, "/review?x=1"): `{"comments": [` + unknown(100_000, "k") + `]}`,
		onClaim(claim, "/review?x=2"): `{"nodes": [` + strings.Repeat(`1,`, 500_000) + `1]}`,
	} {
		method := http.MethodPost
		if strings.HasSuffix(path, "/draft") {
			method = http.MethodPut
		}
		a := maker.refused(t, 422, "validation_error", method, path, body)
		require.Less(t, len(a.Raw), 1<<10, path)
	}
	// Too many, but not absurdly so: the message says how many there may be.
	a = maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/review"),
		`{"verdict": "reject", "comments": [`+strings.Repeat(`{"text": "x"},`, 200)+`{"text": "x"}]}`)
	require.Contains(t, a.message(), "200")
	var nodes strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&nodes, `"n%d":["",""],`, i)
	}
	admin := b.login(t, "admin1")
	for _, layout := range []string{
		`"solve": [` + strings.Repeat(`"",`, 300_000) + `0]`,
		`"` + strings.Repeat("k", 500_000) + `": [` + strings.Repeat(`"",`, 100) + `0]`,
		nodes.String() + `"solve": [0, 0]`,
	} {
		a := admin.refused(t, 422, "validation_error", http.MethodPut, b.pipeline("/draft"),
			`{"definition": {}, "revision": 0, "layout": {`+layout+`}}`)
		require.Less(t, len(a.Raw), 1<<10)
	}
	a = admin.refused(t, 422, "validation_error", http.MethodPut, b.pipeline("/draft"),
		`{"definition": {}, "revision": 0, "layout": {"solve": [1, 2, 3]}}`)
	require.Len(t, a.Body["problems"], 1)
	require.Contains(t, a.message(), "layout.solve")
}

// What is decoded is what was checked: a key in another case is none, alone and
// beside the right one.
func TestKeysInAnotherCaseAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	admin, maker := b.login(t, "admin1"), b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	for _, c := range []struct {
		who                     person
		method, path, key, body string
	}{
		{admin, http.MethodPost, b.org("/keys"), "Expires", `{"name": "n", "expires": "30d", "Expires": "x"}`},
		{admin, http.MethodPut, b.org("/members/%d", b.Contributors[0]), "Role", `{"role": "member", "Role": "x"}`},
		{
			admin, http.MethodPost, b.org("/invites"), "projects[0].Role",
			fmt.Sprintf(`{"email": "a@acme.test", "role": "member", "projects": [{"project_id": %d, "role": "reviewer", "Role": "x"}]}`, b.ProjectID),
		},
		{maker, http.MethodPost, onClaim(claim, "/review"), "Nodes", `{"verdict": "reject", "Nodes": [` + strings.Repeat(`1,`, 500_000) + `1]}`},
		{maker, http.MethodPost, onClaim(claim, "/submit"), "valueſ", `{"values": {}, "valueſ": {"answer": "x"}}`},
	} {
		a := c.who.refused(t, 422, "validation_error", c.method, c.path, c.body)
		require.Equal(t, []any{map[string]any{"path": c.key, "message": "unexpected property"}}, a.Body["problems"], c.path)
		require.Less(t, len(a.Raw), 1<<10, c.path)
	}
	drafts := fmt.Sprintf("/projects/%d/pipelines", b.ProjectID)
	a := admin.refused(t, 422, "validation_error", http.MethodPost, drafts, `{"definition": {"name": "a", "NAME": "b", "nodes": [], "edges": []}}`)
	require.Contains(t, a.message(), "NAME")
	maker.ok(t, 204, http.MethodPut, "/me/settings/open", `{"value": {"a": 1, "A": 2}}`) // no schema, no keys of one
}

func TestAFormsProblemsAreListedInPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	values := map[string]any{}
	for i := range 500 {
		values[fmt.Sprintf("%s%d", strings.Repeat("k", 300), i)] = 1
	}
	a := maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/submit"), map[string]any{"values": values})
	require.LessOrEqual(t, len(a.Body["problems"].([]any)), 100)
	require.Less(t, len(a.Raw), 64<<10)
}

// Connections that announce much and send nothing, with or without a session,
// do not keep tasks from being created.
func TestIdleConnectionsDoNotBlockCreations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const idle = 32
	started := make(chan struct{}, 2*idle)
	ended := make(chan struct{}, 2*idle)
	stall := func(path string, announced int64, headers ...header) {
		pipe, w := io.Pipe()
		t.Cleanup(func() { _ = w.Close() })
		body := io.MultiReader(strings.NewReader(`{`), signal{started}, pipe)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, publicURL+path, body)
		r.ContentLength = announced
		r.Header.Set("Content-Type", "application/json")
		for _, h := range headers {
			h(r)
		}
		go func() {
			defer func() { ended <- struct{}{} }()
			b.handler.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	for range idle {
		stall("/api/console/login", 8<<20)
		stall("/api/v1"+b.workflow("/tasks"), 32<<20, with("X-API-Key", b.KeyValue))
	}
	for range 2 * idle {
		select { // each waits for its body, or was refused
		case <-started:
		case <-ended:
		}
	}
	big := append(mustJSON(t, questions(3)), bytes.Repeat([]byte(" "), 8<<20)...)
	a := b.create(t, big)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
}

// signal is an empty body that tells when it is read.
type signal struct{ read chan<- struct{} }

func (s signal) Read([]byte) (int, error) {
	s.read <- struct{}{}
	return 0, io.EOF
}

func TestLoginsBehindAProxyCountForTheirSenders(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) {
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	try := func(peer, forwarded string) int {
		return b.console(t, http.MethodPost, "/login", map[string]any{"email": b.Email("admin1"), "password": "wrong"},
			with("X-Forwarded-For", forwarded), func(r *http.Request) { r.RemoteAddr = peer + ":1234" }).Status
	}
	for i := range 10 {
		require.Equal(t, http.StatusUnauthorized, try("10.0.0.1", fmt.Sprintf("203.0.113.%d, 192.0.2.1", i)))
	}
	require.Equal(t, http.StatusTooManyRequests, try("10.0.0.1", "203.0.113.99, 192.0.2.1"), "the left part is made up")
	require.Equal(t, http.StatusTooManyRequests, try("10.0.0.2", "192.0.2.1, 10.0.0.1"))
	require.Equal(t, http.StatusUnauthorized, try("10.0.0.1", "192.0.2.2"), "somebody else behind the same proxy")
	require.Equal(t, http.StatusTooManyRequests, try("192.0.2.1", "203.0.113.1"), "not from a proxy: the header counts for nothing")
}
