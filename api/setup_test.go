package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

const publicURL = "http://taskloom.test"

// bench is the production handler over a real database.
type bench struct {
	*dbtest.World
	handler http.Handler
	logs    *logs
}

// setup makes a world and the handler for it. wrap may replace the store.
func setup(t *testing.T, opts ...dbtest.Option) *bench {
	t.Helper()
	return serve(t, dbtest.NewWorld(t, opts...), nil)
}

func serve(t *testing.T, w *dbtest.World, change func(*api.Deps)) *bench {
	t.Helper()
	b := &bench{World: w, logs: &logs{}}
	d := api.Deps{
		Store: w.Store, Logger: slog.New(slog.NewJSONHandler(b.logs, nil)),
		SecretKey: []byte("a secret of at least 32 characters"), PublicURL: publicURL,
	}
	if change != nil {
		change(&d)
	}
	b.handler = api.New(d)
	return b
}

// answer is what came back.
type answer struct {
	Status int
	Header http.Header
	Raw    []byte
	Body   map[string]any
}

// code is the `error` of the body, "" for none.
func (a answer) code() string {
	s, _ := a.Body["error"].(string)
	return s
}

func (a answer) message() string {
	s, _ := a.Body["message"].(string)
	return s
}

// header changes a request before it is sent.
type header func(*http.Request)

func with(name, value string) header { return func(r *http.Request) { r.Header.Set(name, value) } }

func without(name string) header { return func(r *http.Request) { r.Header.Del(name) } }

// do sends a request. body is sent as it is when it is a string or bytes, as
// JSON otherwise; nil sends none.
func (b *bench) do(t *testing.T, method, path string, body any, headers ...header) answer {
	t.Helper()
	var in io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(v)
	case []byte:
		in = bytes.NewReader(v)
	case io.Reader:
		in = v
	default:
		doc, err := json.Marshal(v)
		require.NoError(t, err)
		in = bytes.NewReader(doc)
	}
	r := httptest.NewRequest(method, publicURL+path, in)
	r.RequestURI = ""
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		h(r)
	}
	rec := httptest.NewRecorder()
	b.handler.ServeHTTP(rec, r)
	a := answer{Status: rec.Code, Header: rec.Header(), Raw: rec.Body.Bytes()}
	if len(a.Raw) > 0 && a.Header.Get("Content-Type") == "application/json" {
		require.NoError(t, json.Unmarshal(a.Raw, &a.Body), "%s", a.Raw)
	}
	require.NotEmpty(t, a.Header.Get("X-Request-Id"), "every answer has one")
	return a
}

// v1 calls the External API with the world's key.
func (b *bench) v1(t *testing.T, method, path string, body any, headers ...header) answer {
	t.Helper()
	return b.do(t, method, "/api/v1"+path, body, append([]header{with("X-API-Key", b.KeyValue)}, headers...)...)
}

// workflow is the path of the world's pipeline.
func (b *bench) workflow(rest string, args ...any) string {
	return fmt.Sprintf("/workflows/%d", b.PipelineID) + fmt.Sprintf(rest, args...)
}

// create posts tasks to the world's pipeline.
func (b *bench) create(t *testing.T, body any, headers ...header) answer {
	t.Helper()
	return b.v1(t, http.MethodPost, b.workflow("/tasks"), body, headers...)
}

// created posts n good items and returns the new ids.
func (b *bench) created(t *testing.T, n int) []any {
	t.Helper()
	a := b.create(t, questions(n))
	require.Equal(t, http.StatusOK, a.Status, "%s\n%s", a.Raw, b.logs.text())
	return a.Body["task_ids"].([]any)
}

// questions is a body of n good items.
func questions(n int) map[string]any {
	tasks := make([]any, n)
	for i := range tasks {
		tasks[i] = map[string]any{"fields": map[string]any{"question": fmt.Sprintf("What is %d + 1?", i)}}
	}
	return map[string]any{"tasks": tasks}
}

// fails checks an error answer: its status, code and shape (spec section 7).
func fails(t *testing.T, a answer, status int, code string) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Raw)
	require.Equal(t, code, a.code())
	require.NotEmpty(t, a.message())
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	allowed := map[string]bool{"error": true, "message": true, "retry_after": status == http.StatusTooManyRequests}
	for name := range a.Body {
		require.True(t, allowed[name], "%q has no place in an error body", name)
	}
}

// count runs a counting query.
func (b *bench) count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

// exec changes the database behind the API's back.
func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.Store.Pool().Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// rows counts everything that a creation writes.
func (b *bench) rows(t *testing.T) int {
	t.Helper()
	return b.count(t, `SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM task_nodes) + (SELECT count(*) FROM task_events)
		+ (SELECT count(*) FROM outbox) + (SELECT count(*) FROM idempotency_keys)`)
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	doc, err := json.Marshal(v)
	require.NoError(t, err)
	return doc
}

func mustCondition(t *testing.T, doc string) *form.Condition {
	t.Helper()
	var c form.Condition
	require.NoError(t, json.Unmarshal([]byte(doc), &c))
	return &c
}

func storeStep(taskID, from, to int64, changes []pipeline.Change) store.StepInput {
	return store.StepInput{TaskID: taskID, From: from, To: to, Changes: changes}
}
