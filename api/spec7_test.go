package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// Rows of the table of section 7. Rate limits and ZIP uploads have tests where
// they are.

func TestSpec7_400_MalformedJSON(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, body := range []string{
		"", "{", `{"tasks": [}`, `{"tasks": []} trailing`, `{'tasks': []}`, "\xef\xbb\xbf{}", "not json", `{"tasks": [{"fields": {"question": "` + "\x01" + `"}}]}`,
	} {
		fails(t, b.create(t, body), http.StatusBadRequest, "invalid_request")
	}
}

func TestSpec7_400_InvalidUTF8(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.create(t, "{\"tasks\": [{\"fields\": {\"question\": \"\xff\"}}]}")
	fails(t, a, http.StatusBadRequest, "invalid_request")
	require.Contains(t, a.message(), "UTF-8")
}

func TestSpec7_404_IdsThatAreNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"abc", "0", "-1", "1.0", "99999999999999999999", "9223372036854775807", "%20", "1e3", "0x1"} {
		fails(t, b.v1(t, http.MethodGet, "/workflows/"+id, nil), http.StatusNotFound, "not_found")
		fails(t, b.v1(t, http.MethodGet, "/workflows/"+id+"/schema", nil), http.StatusNotFound, "not_found")
		fails(t, b.v1(t, http.MethodGet, "/workflows/"+id+"/tasks", nil), http.StatusNotFound, "not_found")
		fails(t, b.v1(t, http.MethodPost, "/workflows/"+id+"/tasks", questions(1)), http.StatusNotFound, "not_found")
		fails(t, b.v1(t, http.MethodGet, b.workflow("/tasks/")+id, nil), http.StatusNotFound, "not_found")
	}
}

func TestSpec7_404_UnknownPaths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/nothing", "/api", "/api/v1", "/api/v1/", "/api/v2/health", "/api/v1/health/", "/api/v1/workflows", "/api/console/nothing"} {
		fails(t, b.do(t, http.MethodGet, path, nil), http.StatusNotFound, "not_found")
	}
}

func TestSpec7_405_WrongMethod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, allow := range map[string]string{
		"/api/v1/health":                    "GET, HEAD",
		"/api/v1" + b.workflow("/tasks"):    "GET, HEAD, POST",
		"/api/v1" + b.workflow("/tasks/12"): "GET, HEAD",
	} {
		a := b.do(t, http.MethodDelete, path, nil)
		fails(t, a, http.StatusMethodNotAllowed, "api_error")
		require.Equal(t, allow, a.Header.Get("Allow"))
	}
	fails(t, b.do(t, http.MethodGet, "/api/console/login", nil), http.StatusMethodNotAllowed, "api_error")
	for _, method := range []string{http.MethodTrace, http.MethodOptions, "BREW"} {
		fails(t, b.do(t, method, "/api/v1/health", nil), http.StatusMethodNotAllowed, "api_error")
		fails(t, b.do(t, method, "/nothing", nil), http.StatusNotFound, "not_found")
	}
	require.Equal(t, http.StatusOK, b.do(t, http.MethodHead, "/api/v1/health", nil).Status)
}

func TestSpec7_413_BodyOver32MB(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const limit = 32 << 20
	body := func(size int) string {
		const head, tail = `{"tasks": [{"fields": {"question": "`, `"}}]}`
		return head + "x" + tail + strings.Repeat(" ", size-len(head)-1-len(tail))
	}
	require.Equal(t, http.StatusOK, b.create(t, body(limit)).Status, "exactly 32 MB pass")
	unknownLength := func(r *http.Request) { r.ContentLength = -1 }
	require.Equal(t, http.StatusOK, b.create(t, body(limit), unknownLength).Status)
	before := b.rows(t)
	fails(t, b.create(t, body(limit+1)), http.StatusRequestEntityTooLarge, "payload_too_large")
	fails(t, b.create(t, body(limit+1), unknownLength), http.StatusRequestEntityTooLarge, "payload_too_large")
	require.Equal(t, before, b.rows(t))
}

func TestSpec7_415_WrongContentType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/json; charset=latin1", "nonsense/"} {
		fails(t, b.create(t, questions(1), with("Content-Type", ct)), http.StatusUnsupportedMediaType, "invalid_request")
	}
	fails(t, b.create(t, questions(1), with("Content-Encoding", "gzip")), http.StatusUnsupportedMediaType, "invalid_request")
	login := map[string]any{"email": b.Email("admin1"), "password": dbtest.Password}
	for _, ct := range []string{
		"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "Application/JSON", "application/json ; charset=utf-8",
	} {
		require.Equal(t, http.StatusOK, b.create(t, questions(1), with("Content-Type", ct)).Status, ct)
		require.Equal(t, http.StatusOK, b.console(t, http.MethodPost, "/login", login, with("Content-Type", ct)).Status, ct)
	}
	require.Equal(t, http.StatusOK, b.create(t, questions(1), without("Content-Type")).Status)
}

func TestSpec7_422_SchemaViolations(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, body := range map[string]string{
		"null":                    `null`,
		"an array":                `[]`,
		"a text":                  `"tasks"`,
		"no tasks":                `{}`,
		"tasks null":              `{"tasks": null}`,
		"tasks an object":         `{"tasks": {}}`,
		"no items":                `{"tasks": []}`,
		"item null":               `{"tasks": [null]}`,
		"item without fields":     `{"tasks": [{}]}`,
		"fields null":             `{"tasks": [{"fields": null}]}`,
		"fields an array":         `{"tasks": [{"fields": []}]}`,
		"unknown property":        `{"tasks": [{"fields": {"question": "x"}}], "extra": 1}`,
		"unknown item property":   `{"tasks": [{"fields": {"question": "x"}, "id": 7}]}`,
		"tasks twice":             `{"tasks": [{"fields": {"question": "x"}}], "tasks": [{"fields": {"question": "y"}}]}`,
		"tasks twice by escape":   `{"tasks": [{"fields": {"question": "x"}}], "\u0074asks": []}`,
		"fields twice":            `{"tasks": [{"fields": {"question": "x"}, "fields": {"question": "y"}}]}`,
		"one bad item among good": `{"tasks": [{"fields": {"question": "x"}}, 7]}`,
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, b.create(t, body), http.StatusUnprocessableEntity, "validation_error")
		})
	}
	require.Zero(t, b.rows(t), "a refused request leaves nothing")
}

func TestSpec7_422_WorkflowNotActiveOrPaused(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.WithStatus("COMPLETED"))
	a := b.create(t, questions(1))
	fails(t, a, http.StatusUnprocessableEntity, "validation_error")
	require.Contains(t, a.message(), "COMPLETED")
	require.Contains(t, a.message(), "ACTIVE")
	require.Contains(t, a.message(), "PAUSED")
	require.Zero(t, b.rows(t))
}

func TestSpec7_422_EveryTaskFailed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tasks := make([]any, 5000)
	for i := range tasks {
		tasks[i] = map[string]any{"fields": map[string]any{"wrong": i}}
	}
	a := b.create(t, map[string]any{"tasks": tasks}, with("Idempotency-Key", "k"))
	require.Equal(t, http.StatusUnprocessableEntity, a.Status)
	require.Equal(t, "validation_error", a.code())
	require.InDelta(t, 5000, a.Body["error_count"], 0)
	require.Len(t, a.Body["errors"], 10_000, "missing and unknown, for each")
	require.Zero(t, b.rows(t), "nothing is left, not even the idempotency key")
}

func TestSpec7_422_OneItemCannotBlowUpTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fields := map[string]any{strings.Repeat("long", 1000): 1}
	for i := range 500 {
		fields[fmt.Sprintf("f%03d", i)] = 1
	}
	a := b.create(t, map[string]any{"tasks": []any{map[string]any{"fields": fields}}})
	require.Equal(t, http.StatusUnprocessableEntity, a.Status)
	require.Len(t, a.Body["errors"], 21)
	require.Less(t, len(a.Raw), 20_000)
	first := a.Body["errors"].([]any)[0].(map[string]any)
	require.Empty(t, first["field_name"])
	require.Contains(t, first["message"], "the first 20 are listed")
}

func TestSpec7_422_ValuesThatCannotBeStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, fields := range map[string]string{
		"NUL":              `"question": "a\u0000b"`,
		"half a surrogate": `"question": "\ud800"`,
		"given twice":      `"question": "a", "question": "b"`,
		"by escape":        `"question": "a", "\u0071uestion": "b"`,
		"wrong type":       `"question": {"a": 1}`,
		"twice inside":     `"question": {"a": 1, "a": 2}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := b.create(t, `{"tasks": [{"fields": {"question": "good"}}, {"fields": {`+fields+`}}]}`)
			require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
			require.InDelta(t, 1, a.Body["success_count"], 0)
			item := a.Body["errors"].([]any)[0].(map[string]any)
			require.InDelta(t, 1, item["index"], 0)
			require.Equal(t, "question", item["field_name"])
		})
	}
	a := b.create(t, `{"tasks": [{"fields": {"question": "good"}}, {"fields": {"question": "x", "a\u0000b": 1}}]}`, with("Idempotency-Key", "nul"))
	require.Equal(t, http.StatusOK, a.Status, "%s\n%s", a.Raw, b.logs.text())
	require.Equal(t, "a\uFFFDb", a.Body["errors"].([]any)[0].(map[string]any)["field_name"])
}

// broken is a store whose reads fail.
type broken struct {
	*store.Store
	err error
}

func (s broken) Pipeline(context.Context, int64, int64) (store.PipelineRow, error) {
	if s.err == nil {
		panic("canary panic")
	}
	return store.PipelineRow{}, s.err
}

func breaking(t *testing.T, err error) *bench {
	t.Helper()
	return serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.Store = broken{d.Store.(*store.Store), err} })
}

func TestSpec7_500_ShowsNothingInternal(t *testing.T) {
	t.Parallel()
	b := breaking(t, errors.New("canary: SELECT secret FROM somewhere"))
	a := b.v1(t, http.MethodGet, b.workflow(""), nil, with("X-Request-Id", "req-1"))
	fails(t, a, http.StatusInternalServerError, "internal_server_error")
	require.NotContains(t, string(a.Raw), "canary")
	lines := b.logs.lines(t)
	require.Len(t, lines, 1, "logged once")
	require.Equal(t, "req-1", lines[0]["request_id"])
	require.Equal(t, "ERROR", lines[0]["level"])
	require.Contains(t, lines[0]["error"], "canary")
}

func TestSpec7_500_PanicsAreAnswered(t *testing.T) {
	t.Parallel()
	b := breaking(t, nil)
	a := b.v1(t, http.MethodGet, b.workflow(""), nil, with("X-Request-Id", "req-2"))
	fails(t, a, http.StatusInternalServerError, "internal_server_error")
	require.NotContains(t, string(a.Raw), "canary")
	require.Equal(t, "req-2", a.Header.Get("X-Request-Id"))
	lines := b.logs.lines(t)
	require.Len(t, lines, 1)
	require.Contains(t, lines[0]["error"], "canary panic")
	require.Contains(t, lines[0]["stack"], "Pipeline")
	require.InDelta(t, 500, lines[0]["status"], 0)
}

func TestSpec7_503_SaysWhenToRetry(t *testing.T) {
	t.Parallel()
	b := breaking(t, fault.New(fault.Unavailable, "the database is away").After(1500*time.Millisecond))
	a := b.v1(t, http.MethodGet, b.workflow(""), nil)
	fails(t, a, http.StatusServiceUnavailable, "service_unavailable")
	require.Equal(t, "2", a.Header.Get("Retry-After"), "rounded up")
}

func TestSpec7_429_HasTheWaitTwice(t *testing.T) {
	t.Parallel()
	b := breaking(t, fault.New(fault.RateLimited, "slow down").After(200*time.Millisecond))
	a := b.v1(t, http.MethodGet, b.workflow(""), nil)
	fails(t, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	require.Equal(t, "1", a.Header.Get("Retry-After"), "at least 1")
	require.InDelta(t, 1, a.Body["retry_after"], 0)
}

func TestSpec7_EveryKindHasItsStatus(t *testing.T) {
	t.Parallel()
	want := map[fault.Kind]int{
		fault.MissingAPIKey: 401, fault.InvalidAPIKey: 401, fault.InvalidRequest: 400, fault.Unauthorized: 401,
		fault.Forbidden: 403, fault.NotFound: 404, fault.PayloadTooLarge: 413, fault.Validation: 422, fault.RateLimited: 429,
		fault.Internal: 500, fault.Unavailable: 503, fault.Conflict: 409,
	}
	w := dbtest.NewWorld(t)
	for _, kind := range fault.Kinds() {
		f := fault.New(kind, "message").With([]fault.Problem{{Path: "p", Message: "m"}}).Because(errors.New("canary"))
		b := serve(t, w, func(d *api.Deps) { d.Store = broken{d.Store.(*store.Store), f} })
		a := b.v1(t, http.MethodGet, b.workflow(""), nil)
		fails(t, a, want[kind], string(kind))
		require.NotContains(t, string(a.Raw), "canary")
	}
}

func TestMetricsCountByRouteTemplate(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.Metrics = reg })
	b.v1(t, http.MethodGet, b.workflow(""), nil)
	b.v1(t, http.MethodGet, "/workflows/987654321", nil)
	b.do(t, http.MethodGet, "/made/up/987654321", nil)
	families, err := reg.Gather()
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range families {
		all.WriteString(f.String())
	}
	require.Contains(t, all.String(), `/api/v1/workflows/{workflow_id}`)
	require.Contains(t, all.String(), `unmatched`)
	require.NotContains(t, all.String(), "987654321")
}

// Of a series that begins with a burst of errors Prometheus sees no rise.
func TestErrorsOfEveryRouteAreCountedFromZeroOn(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) { d.Metrics = reg })
	scrape := func() string {
		rec := httptest.NewRecorder()
		promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
		return rec.Body.String()
	}
	fresh := scrape()
	task := `taskloom_http_requests_total{method="GET",route="/api/v1/workflows/{workflow_id}/tasks/{task_id}"`
	for _, route := range []string{
		`taskloom_http_requests_total{method="POST",route="/api/console/pipelines/{pipeline_id}/claim"`,
		`taskloom_http_requests_total{method="GET",route="/readyz"`, task,
	} {
		for _, status := range []string{"500", "503"} {
			require.Contains(t, fresh, route+`,status="`+status+`"} 0`)
		}
	}
	require.NotContains(t, fresh, "unmatched")
	b.v1(t, http.MethodGet, b.workflow("/tasks/987654321"), nil)
	require.Contains(t, scrape(), task+`,status="404"} 1`, "requests are counted under the same route")
}
