package api_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// settle applies journal rows to a task until none is left.
func (b *bench) settle(t *testing.T, taskID int64) {
	t.Helper()
	for {
		loaded, err := b.Store.LoadTask(t.Context(), taskID)
		require.NoError(t, err)
		events, err := b.Store.LoadEvents(t.Context(), taskID, loaded.State.Seq, 100)
		require.NoError(t, err)
		if len(events) == 0 {
			return
		}
		state, from := loaded.State, loaded.State.Seq
		var changes []pipeline.Change
		for _, e := range events {
			var c []pipeline.Change
			state, c = pipeline.Step(loaded.Graph, state, e)
			changes = append(changes, c...)
		}
		_, err = b.Store.ApplyStep(t.Context(), storeStep(taskID, from, state.Seq, changes))
		require.NoError(t, err)
	}
}

func jsonNames(v any) []string {
	var names []string
	for field := range reflect.TypeOf(v).Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, tag)
	}
	return names
}

func TestPipelineFromDraftToLive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	d := dbtest.Simple()
	d.Name = "Brand new"
	created := p.ok(t, 201, http.MethodPost, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), map[string]any{"definition": d})
	require.Equal(t, "DRAFT", created["status"])
	path := fmt.Sprintf("/pipelines/%v", created["id"])
	p.refused(t, 409, "api_error", http.MethodPost, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), map[string]any{"definition": d})

	broken := d
	broken.Edges = nil
	saved := p.ok(t, 200, http.MethodPut, path+"/draft", map[string]any{"definition": broken, "revision": created["revision"]})
	p.refused(t, 409, "api_error", http.MethodPut, path+"/draft", map[string]any{"definition": d, "revision": created["revision"]})
	problems := p.ok(t, 200, http.MethodPost, path+"/validate", nil)["problems"].([]any)
	require.NotEmpty(t, problems)
	require.NotEmpty(t, problems[0].(map[string]any)["message"])
	a := p.refused(t, 422, "validation_error", http.MethodPost, path+"/publish", nil)
	require.Len(t, a.Body["problems"], len(problems))

	p.ok(t, 200, http.MethodPut, path+"/draft", map[string]any{"definition": d, "revision": saved["revision"]})
	live := p.ok(t, 200, http.MethodPost, path+"/publish", map[string]any{"note": "first"})
	require.Equal(t, "ACTIVE", live["status"])
	require.InDelta(t, 1, live["version"], 0)
	detail := p.ok(t, 200, http.MethodGet, path, nil)
	require.Equal(t, "Brand new", detail["live"].(map[string]any)["name"])
	for _, move := range [][2]string{{"pause", "PAUSED"}, {"resume", "ACTIVE"}, {"complete", "COMPLETED"}, {"reopen", "ACTIVE"}, {"pause", "PAUSED"}, {"archive", "ARCHIVED"}, {"unarchive", "PAUSED"}} {
		require.Equal(t, move[1], p.ok(t, 200, http.MethodPost, path+"/"+move[0], nil)["status"])
	}
	p.refused(t, 409, "api_error", http.MethodPost, path+"/reopen", nil)
}

func TestDefinitionsOfTheWrongShapeAre422(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	for _, definition := range []string{`7`, `null`, `{"nodes": 7}`, `{"unknown": 1}`} {
		p.refused(t, 422, "validation_error", http.MethodPost, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), `{"definition": `+definition+`}`)
	}
}

func TestTaskAdministration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.created(t, 1)[0]
	p := b.login(t, "manager1")
	on := fmt.Sprintf("/tasks/%v", id)
	p.ok(t, 204, http.MethodPost, on+"/nodes/solve/escalate", map[string]any{"reason": "odd"})
	p.refused(t, 409, "api_error", http.MethodPost, on+"/nodes/solve/escalate", nil)
	waiting := p.ok(t, 200, http.MethodGet, b.pipeline("/waiting"), nil)["nodes"].([]any)
	require.Equal(t, "odd", waiting[0].(map[string]any)["reason"])
	p.refused(t, 422, "validation_error", http.MethodPost, on+"/nodes/solve/resolve", map[string]any{"outcome": "forget"})
	p.ok(t, 204, http.MethodPost, on+"/nodes/solve/resolve", map[string]any{"outcome": "requeue", "reason": "fine"})
	p.ok(t, 204, http.MethodPost, on+"/nodes/solve/quarantine", nil)
	p.ok(t, 204, http.MethodPost, on+"/nodes/solve/resolve", map[string]any{"outcome": "requeue"})
	p.ok(t, 204, http.MethodPost, on+"/hold", map[string]any{"reason": "wait"})
	require.Equal(t, "paused", b.v1(t, http.MethodGet, b.workflow("/tasks/%v", id), nil).Body["status"])
	p.ok(t, 204, http.MethodPost, on+"/unhold", nil)
	p.ok(t, 204, http.MethodPost, on+"/fail", nil)
	detail := p.ok(t, 200, http.MethodGet, on, nil)
	require.Equal(t, "failed", detail["status"])
	require.Len(t, detail["nodes"], 2)
	require.Len(t, detail["timeline"], 8)
	require.Equal(t, map[string]any{"question": "What is 0 + 1?"}, detail["input"])
	counts := p.ok(t, 200, http.MethodGet, b.pipeline("/counts"), nil)
	require.InDelta(t, 0, counts["available"], 0)
}

// A key ends by the database's clock, so that is where its end is told from.
func TestAKeyBeginsByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	b := serve(t, dbtest.NewWorld(t), func(d *api.Deps) {
		d.Now = func() time.Time { return time.Now().Add(-40 * 24 * time.Hour) } // over before it begins
	})
	p := b.login(t, "admin1")
	path := fmt.Sprintf("/orgs/%d/keys", b.OrgID)
	created := p.ok(t, 201, http.MethodPost, path, map[string]any{"name": "integration", "expires": "30d"})
	for _, key := range []map[string]any{
		created, p.ok(t, 200, http.MethodPost, fmt.Sprintf("%s/%v/expiry", path, created["id"]), map[string]any{"expires": "30d"}),
	} {
		expires, err := time.Parse(time.RFC3339Nano, key["expires_at"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(30*24*time.Hour), expires, time.Minute)
	}
	b.KeyValue = created["value"].(string)
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
}

func TestKeysFromCreationToRevocation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "admin1")
	path := fmt.Sprintf("/orgs/%d/keys", b.OrgID)
	created := p.ok(t, 201, http.MethodPost, path, map[string]any{"name": "integration", "expires": "90d"})
	value := created["value"].(string)
	require.Len(t, value, 48)
	require.Equal(t, value[44:], created["last4"])
	expires, err := time.Parse(time.RFC3339Nano, created["expires_at"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(90*24*time.Hour), expires, time.Minute)
	p.refused(t, 409, "api_error", http.MethodPost, path, map[string]any{"name": "integration", "expires": "never"})
	p.refused(t, 422, "validation_error", http.MethodPost, path, map[string]any{"name": "x", "expires": "2y"})

	b.KeyValue = value
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
	on := fmt.Sprintf("%s/%v", path, created["id"])
	shorter := p.ok(t, 200, http.MethodPost, on+"/expiry", map[string]any{"expires": "30d"})
	require.Less(t, shorter["expires_at"], created["expires_at"])
	p.ok(t, 200, http.MethodPost, on+"/revoke", nil)
	p.ok(t, 200, http.MethodPost, on+"/revoke", nil)
	fails(t, b.v1(t, http.MethodGet, b.workflow(""), nil), http.StatusUnauthorized, "invalid_api_key")
	p.refused(t, 400, "invalid_request", http.MethodPost, on+"/expiry", map[string]any{"expires": "never"})

	listed := p.do(t, http.MethodGet, path, nil)
	require.NotContains(t, string(listed.Raw), value[:44])
	keys := listed.Body["keys"].([]any)
	require.Equal(t, "integration", keys[len(keys)-1].(map[string]any)["name"], "revoked ones come last")
	require.NotNil(t, keys[len(keys)-1].(map[string]any)["revoked_at"])
}

func TestPeopleSeeTheirProjectsOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	b.AddProject(t, "Elsewhere")
	for name, want := range map[string]int{"admin1": 2, "manager1": 1, "contributor1": 1, "outsider1": 0} {
		p := b.login(t, name)
		require.Len(t, p.ok(t, 200, http.MethodGet, "/projects", nil)["projects"], want, name)
		require.Len(t, p.ok(t, 200, http.MethodGet, "/me", nil)["orgs"], 1)
	}
}
