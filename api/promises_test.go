package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// What the API promises beyond the spec; see docs/external-api.md.

func TestPromise_RequestID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, good := range []string{"a", "req-1.2_3", strings.Repeat("x", 128)} {
		require.Equal(t, good, b.v1(t, http.MethodGet, b.workflow(""), nil, with("X-Request-Id", good)).Header.Get("X-Request-Id"))
	}
	seen := map[string]bool{}
	for _, bad := range []string{"", "with space", strings.Repeat("x", 129), "new\tline", "ü", `"quoted"`} {
		id := b.do(t, http.MethodGet, "/nothing", nil, with("X-Request-Id", bad)).Header.Get("X-Request-Id")
		require.NotEqual(t, bad, id)
		require.False(t, seen[id])
		seen[id] = true
	}
}

func TestPromise_IdempotentReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := `{"tasks": [{"fields": {"question": "a"}}, {"fields": {}}]}`
	first := b.create(t, body, with("Idempotency-Key", "one"))
	require.Equal(t, http.StatusOK, first.Status, "%s", first.Raw)
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	for _, form := range []string{"one", `"one"`, " one "} {
		again := b.create(t, body, with("Idempotency-Key", form))
		require.Equal(t, http.StatusOK, again.Status)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, string(first.Raw), string(again.Raw), "to the byte")
	}
	b.exec(t, `UPDATE pipelines SET status = 'COMPLETED'`)
	require.Equal(t, http.StatusOK, b.create(t, body, with("Idempotency-Key", "one")).Status, "whatever became of the workflow")
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM tasks`))
}

func TestPromise_AnAnswerIsKeptForADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	aged := func(by string) {
		t.Helper()
		b.exec(t, `UPDATE idempotency_keys SET created_at = now() - $1::text::interval`, by)
		require.NoError(t, b.Store.Tidy(t.Context()))
	}
	first := b.create(t, questions(1), with("Idempotency-Key", "k"))
	require.Equal(t, http.StatusOK, first.Status, "%s", first.Raw)
	aged("23 hours 59 minutes")
	again := b.create(t, questions(1), with("Idempotency-Key", "k"))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, string(first.Raw), string(again.Raw))

	// Past its time it is no answer any more, whether it was deleted by then or not.
	b.exec(t, `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 minute'`)
	second := b.create(t, questions(2), with("Idempotency-Key", "k"))
	require.Equal(t, http.StatusOK, second.Status, "%s", second.Raw)
	require.Empty(t, second.Header.Get("Idempotent-Replayed"))
	aged("23 hours 59 minutes")
	require.Equal(t, string(second.Raw), string(b.create(t, questions(2), with("Idempotency-Key", "k")).Raw), "it has a day of its own")
	aged("24 hours 1 minute")
	require.Zero(t, b.count(t, `SELECT count(*) FROM idempotency_keys`))
	require.Equal(t, 3, b.count(t, `SELECT count(*) FROM tasks`))
}

func TestPromise_IdempotencyKeyWithAnotherBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusOK, b.create(t, questions(1), with("Idempotency-Key", "k")).Status)
	fails(t, b.create(t, questions(2), with("Idempotency-Key", "k")), http.StatusUnprocessableEntity, "validation_error")
	require.Equal(t, http.StatusOK, b.create(t, questions(2), with("Idempotency-Key", "K")).Status)
}

func TestPromise_IdempotencyKeyBelongsToKeyAndPath(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := serve(t, dbtest.Org(t, b.Store, dbtest.WithSlug("other")), nil)
	second, _ := b.AddPipeline(t, dbtest.Simple(), "ACTIVE")
	rotated := strings.Repeat("ab", 20)
	_, err := b.Store.CreateKey(t.Context(), b.OrgID, b.Admin, "rotated", apikey.Hash(apikey.Prefix+rotated), rotated[36:], nil, b.Admin)
	require.NoError(t, err)
	for _, a := range []answer{
		b.create(t, questions(1), with("Idempotency-Key", "k")),
		other.create(t, questions(1), with("Idempotency-Key", "k")),
		b.v1(t, http.MethodPost, fmt.Sprintf("/workflows/%d/tasks", second), questions(1), with("Idempotency-Key", "k")),
		b.create(t, questions(1), with("Idempotency-Key", "k"), with("X-API-Key", apikey.Prefix+rotated)),
	} {
		require.Equal(t, http.StatusOK, a.Status)
		require.Empty(t, a.Header.Get("Idempotent-Replayed"))
	}
	require.Equal(t, 4, b.count(t, `SELECT count(*) FROM tasks`))
}

func TestPromise_WhatCreatedNothingIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refused := b.create(t, `{"tasks": [{"fields": {}}]}`, with("Idempotency-Key", "k"))
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status, "%s", refused.Raw)
	mended := b.create(t, questions(1), with("Idempotency-Key", "k"))
	require.Equal(t, http.StatusOK, mended.Status, "%s", mended.Raw)
	require.Empty(t, mended.Header.Get("Idempotent-Replayed"))
}

func TestPromise_IdempotencyKeyMalformed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, bad := range []string{"", " ", `"`, `""`, `"open`, `"a"b`, `"a\b"`, strings.Repeat("x", 256), "ünïcode", "a\x01"} {
		fails(t, b.create(t, questions(1), with("Idempotency-Key", bad)), http.StatusBadRequest, "invalid_request")
	}
	twice := func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }
	fails(t, b.create(t, questions(1), twice), http.StatusBadRequest, "invalid_request")
	require.Zero(t, b.rows(t))
	for _, good := range []string{strings.Repeat("x", 255), `"` + strings.Repeat("x", 255) + `"`, `"with \"quotes\" and \\"`} {
		require.Equal(t, http.StatusOK, b.create(t, questions(1), with("Idempotency-Key", good)).Status, good)
	}
}

func TestPromise_TwelveRacingRequestsCreateOneBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	answers := make([]answer, 12)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = b.create(t, questions(50), with("Idempotency-Key", "race")) })
	}
	wg.Wait()
	var first string
	for _, a := range answers {
		switch a.Status {
		case http.StatusOK:
			if first == "" {
				first = string(a.Raw)
			}
			require.Equal(t, first, string(a.Raw))
		case http.StatusConflict:
			fails(t, a, http.StatusConflict, "api_error")
		default:
			require.Fail(t, "unexpected answer", "%d %s", a.Status, a.Raw)
		}
	}
	require.NotEmpty(t, first)
	require.Equal(t, 50, b.count(t, `SELECT count(*) FROM tasks`))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM idempotency_keys`))
}

func TestPromise_ETag(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.created(t, 1)[0]
	for _, path := range []string{b.workflow("/tasks"), b.workflow("/tasks/%v", id)} {
		first := b.v1(t, http.MethodGet, path, nil)
		tag := first.Header.Get("ETag")
		require.Regexp(t, `^W/"[A-Za-z0-9_-]+"$`, tag)
		require.Equal(t, edge.ETag(first.Raw), tag, "it is of what was sent")
		for _, header := range []string{tag, `"other", ` + tag, "*", strings.TrimPrefix(tag, "W/")} {
			again := b.v1(t, http.MethodGet, path, nil, with("If-None-Match", header))
			require.Equal(t, http.StatusNotModified, again.Status, header)
			require.Empty(t, again.Raw)
			require.Equal(t, tag, again.Header.Get("ETag"))
		}
		require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, path, nil, with("If-None-Match", `W/"other"`)).Status)
		b.exec(t, `UPDATE tasks SET updated_at = updated_at + interval '1 second'`)
		changed := b.v1(t, http.MethodGet, path, nil, with("If-None-Match", tag))
		require.Equal(t, http.StatusOK, changed.Status)
		require.NotEqual(t, tag, changed.Header.Get("ETag"))
	}
}

func TestPromise_PrivateAnswersAreNotCached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, a := range []answer{
		b.v1(t, http.MethodGet, b.workflow(""), nil),
		b.do(t, http.MethodGet, "/api/v1"+b.workflow(""), nil),
	} {
		require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		require.Equal(t, []string{"Authorization", "X-API-Key"}, a.Header.Values("Vary"))
	}
}

func TestPromise_NoRouteOutOfStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	d := dbtest.Simple()
	d.Name = "Conditional"
	d.Edges[0].When = mustCondition(t, `{"field": "question", "op": "eq", "value": "yes"}`)
	raw := mustJSON(t, d)
	b.exec(t, `INSERT INTO pipeline_versions (org_id, pipeline_id, number, definition) VALUES ($1, $2, 2, $3)`, b.OrgID, b.PipelineID, raw)
	b.exec(t, `UPDATE pipelines SET version_id = (SELECT max(id) FROM pipeline_versions)`)
	a := b.create(t, `{"tasks": [{"fields": {"question": "no"}}, {"fields": {"question": "yes"}}]}`)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	item := a.Body["errors"].([]any)[0].(map[string]any)
	require.InDelta(t, 0, item["index"], 0)
	require.Empty(t, item["field_name"])
	require.Len(t, a.Body["task_ids"], 1)
}

func TestPromise_SchemaOfADraft(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.WithStatus("DRAFT"))
	b.exec(t, `UPDATE pipelines SET version_id = NULL`)
	a := b.v1(t, http.MethodGet, b.workflow(""), nil)
	require.Equal(t, "DRAFT", a.Body["status"])
	a = b.v1(t, http.MethodGet, b.workflow("/schema"), nil)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	require.Len(t, a.Body["fields"], 1, "those of the draft")
	b.exec(t, `UPDATE pipelines SET draft = '{"nodes": 7}'`)
	fails(t, b.v1(t, http.MethodGet, b.workflow("/schema"), nil), http.StatusUnprocessableEntity, "validation_error")
	fails(t, b.create(t, questions(1)), http.StatusUnprocessableEntity, "validation_error")
}

// publishing is a store whose pipeline gets a new version between check and
// creation, as often as told.
type publishing struct {
	*store.Store
	mu    sync.Mutex
	times int
}

func (s *publishing) CreateTasks(ctx context.Context, in store.CreateTasks) (store.Created, error) {
	s.mu.Lock()
	again := s.times > 0
	s.times--
	s.mu.Unlock()
	if again {
		return store.Created{}, store.ErrVersionChanged
	}
	return s.Store.CreateTasks(ctx, in)
}

func TestPromise_PublishingMeanwhileChecksAgain(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	b := serve(t, w, func(d *api.Deps) { d.Store = &publishing{Store: w.Store, times: 2} })
	require.Equal(t, http.StatusOK, b.create(t, questions(1)).Status)
	b = serve(t, w, func(d *api.Deps) { d.Store = &publishing{Store: w.Store, times: 99} })
	fails(t, b.create(t, questions(1)), http.StatusServiceUnavailable, "service_unavailable")
}
