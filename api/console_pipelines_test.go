package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
)

func TestAnExportComesBackAsAnImport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	for _, query := range []string{"", "?version=0", "?version=1"} {
		out := p.ok(t, 200, http.MethodGet, b.pipeline("/export"+query), nil)
		require.Contains(t, out["filename"], "math-check")
		require.Contains(t, out["document"], "name: Math check\nnodes:\n  - key: start\n    kind: start\n")
		parsed := p.ok(t, 200, http.MethodPost, fmt.Sprintf("/projects/%d/parse", b.ProjectID), map[string]any{"document": out["document"]})
		require.JSONEq(t, string(mustJSON(t, dbtest.Definition())), string(mustJSON(t, parsed["definition"])))
		created := p.ok(t, 201, http.MethodPost, fmt.Sprintf("/projects/%d/import", b.ProjectID), map[string]any{"document": out["document"]})
		require.Regexp(t, `^Math check \(\d\)$`, created["name"])
		again := p.ok(t, 200, http.MethodGet, fmt.Sprintf("/pipelines/%v/export", created["id"]), nil)
		require.Equal(t, strings.Replace(out["document"].(string), "Math check", fmt.Sprintf("%q", created["name"]), 1),
			strings.Replace(again["document"].(string), created["name"].(string), fmt.Sprintf("%q", created["name"]), 1))
	}
	p.refused(t, 404, "not_found", http.MethodGet, b.pipeline("/export?version=9"), nil)
	a := p.refused(t, 422, "validation_error", http.MethodPost, fmt.Sprintf("/projects/%d/import", b.ProjectID),
		map[string]any{"document": "name: A\nnodes:\n  - key: a\n    knd: start\n"})
	require.Contains(t, a.message(), "line 4")
	require.Equal(t, "nodes[0].knd", a.Body["problems"].([]any)[0].(map[string]any)["path"])
	p.refused(t, 413, "payload_too_large", http.MethodPost, fmt.Sprintf("/projects/%d/parse", b.ProjectID), map[string]any{"document": strings.Repeat("#", 2<<20+1)})
}

func TestADraftIsCheckedAgainstWhatIsLive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	d := dbtest.Definition()
	require.Empty(t, p.ok(t, 200, http.MethodPost, b.pipeline("/check"), map[string]any{"definition": d})["problems"])
	d.Nodes[1].Fields[1].Type = "integer"
	problems := p.ok(t, 200, http.MethodPost, b.pipeline("/check"), map[string]any{"definition": d})["problems"].([]any)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].(map[string]any)["message"], "was published as short_text")
	require.Len(t, p.ok(t, 200, http.MethodPost, b.pipeline("/check"), `{"definition": 7}`)["problems"], 1)
	detail := p.ok(t, 200, http.MethodGet, b.pipeline(""), nil)
	require.InDelta(t, 1, detail["revision"], 0, "checking saves nothing")
}

// What the page of a pipeline shows to copy is what the External API takes.
func TestTheExampleOfATaskCreatesOne(t *testing.T) {
	t.Parallel()
	pair := form.Field{Name: "pair", Type: form.Pairwise, Input: form.Seeded, Required: true}
	shown := form.Field{Name: "shown", Type: form.Image, Input: form.Seeded, Required: true}
	b := setup(t, dbtest.WithDefinition(dbtest.FileDefinition(pair, shown)))
	example := b.login(t, "manager1").ok(t, 200, http.MethodGet, b.pipeline("/seed-example"), nil)
	require.Equal(t, false, example["upload"])
	a := b.create(t, map[string]any{"tasks": []any{map[string]any{"fields": example["fields"]}}})
	require.Equal(t, 200, a.Status, "%s", a.Raw)

	files := serve(t, dbtest.Org(t, b.Store, dbtest.WithSlug("files"), dbtest.WithDefinition(dbtest.FileDefinition(pair, dbtest.FileField("scan", ".png")))), nil)
	example = files.loginAs(t, files.Email("manager1")).ok(t, 200, http.MethodGet, files.pipeline("/seed-example"), nil)
	require.Equal(t, true, example["upload"])
	require.Equal(t, "files/example.png", example["fields"].(map[string]any)["scan"])

	admin := b.login(t, "manager1")
	draft := admin.ok(t, 201, http.MethodPost, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), map[string]any{"definition": dbtest.Simple()})
	admin.refused(t, 409, "api_error", http.MethodGet, fmt.Sprintf("/pipelines/%v/seed-example", draft["id"]), nil)
}

// What does not fit is told in the words of JSON: the types that hold it are
// nobody's business outside.
func TestWhatDoesNotFitIsToldWithoutGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	const whole = "expected a whole number from -9223372036854775808 to 9223372036854775807 in digits, got "
	draft, pipelines, bulk := b.pipeline("/draft"), fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), b.pipeline("/tasks/bulk")
	for _, c := range []struct{ method, path, body, want string }{
		{http.MethodPut, draft, `{"definition": {}, "revision": 1e30}`, "revision: " + whole + "1e30"},
		{http.MethodPut, draft, `{"definition": {}, "revision": 1.0}`, "revision: " + whole + "1.0"},
		{http.MethodPut, draft, `{"definition": {"nodes": 7}, "revision": 1}`, "nodes: expected an array, got a number"},
		{http.MethodPost, pipelines, `{"definition": {"nodes": 7}}`, "nodes: expected an array, got a number"},
		{http.MethodPost, pipelines, `{"definition": {"colour": 7}}`, `unknown field "colour"`},
		{http.MethodPost, bulk, `{"action": "hold", "task_ids": [9223372036854775808]}`, "task_ids: " + whole + "9223372036854775808"},
	} {
		a := p.refused(t, 422, "validation_error", c.method, c.path, c.body)
		require.Contains(t, a.message(), c.want)
		for _, internal := range []string{"Go ", "json:", "pipeline."} {
			require.NotContains(t, string(a.Raw), internal)
		}
	}
	problems := p.ok(t, 200, http.MethodPost, b.pipeline("/check"), `{"definition": {"nodes": 7}}`)["problems"].([]any)
	require.Equal(t, "nodes: expected an array, got a number", problems[0].(map[string]any)["message"])
}

func TestABuilderSavesLayoutsAndHearsWhoWasFaster(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, admin := b.login(t, "manager1"), b.login(t, "admin1")
	layout := map[string]any{"solve": []any{12.5, -3.0}}
	save := func(by person, status int, description string, revision any) answer {
		d := dbtest.Definition()
		d.Description = description
		a := by.do(t, http.MethodPut, b.pipeline("/draft"), map[string]any{"definition": d, "revision": revision, "layout": layout})
		require.Equal(t, status, a.Status, "%s", a.Raw)
		return a
	}
	require.InDelta(t, 1, save(p, 200, "", 1).Body["revision"], 0)
	require.InDelta(t, 2, save(p, 200, "new", 1).Body["revision"], 0)
	require.Contains(t, save(admin, 409, "mine", 1).message(), "saved by manager1 at ")
	d := admin.ok(t, 200, http.MethodGet, b.pipeline(""), nil)
	require.Equal(t, layout, d["layout"])
	require.Equal(t, "manager1", d["saved_by"].(map[string]any)["name"])
	require.InDelta(t, 0, d["counts"].(map[string]any)["total"], 0)

	listed := admin.ok(t, 200, http.MethodGet, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), nil)["pipelines"].([]any)
	require.Equal(t, true, listed[0].(map[string]any)["has_unpublished"])
	versions := admin.ok(t, 200, http.MethodGet, b.pipeline("/versions"), nil)["versions"].([]any)
	require.Len(t, versions, 1)
	first := admin.ok(t, 200, http.MethodGet, b.pipeline("/versions/1"), nil)
	admin.refused(t, 404, "not_found", http.MethodGet, b.pipeline("/versions/3000000000"), nil)
	admin.refused(t, 404, "not_found", http.MethodGet, b.pipeline("/export?version=3000000000"), nil)
	require.Equal(t, "Math check", first["definition"].(map[string]any)["name"])
	restored := admin.ok(t, 200, http.MethodPost, b.pipeline("/versions/1/restore"), map[string]any{"revision": 2})
	require.InDelta(t, 3, restored["revision"], 0)
	listed = admin.ok(t, 200, http.MethodGet, fmt.Sprintf("/projects/%d/pipelines", b.ProjectID), nil)["pipelines"].([]any)
	require.Equal(t, false, listed[0].(map[string]any)["has_unpublished"])
}

func TestACopyGoesWhereItsMakerIsAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.login(t, "manager1")
	copied := p.ok(t, 201, http.MethodPost, b.pipeline("/duplicate"), nil)
	require.Equal(t, "Math check (copy)", copied["name"])
	elsewhere := b.AddProject(t, "Elsewhere")
	p.refused(t, 404, "not_found", http.MethodPost, b.pipeline("/duplicate"), map[string]any{"project_id": elsewhere})
	b.exec(t, `INSERT INTO project_members (org_id, project_id, user_id, role) VALUES ($1, $2, $3, 'contributor')`, b.OrgID, elsewhere, b.ProjectAdmin)
	p.refused(t, 403, "forbidden", http.MethodPost, b.pipeline("/duplicate"), map[string]any{"project_id": elsewhere})
	admin := b.login(t, "admin1")
	there := admin.ok(t, 201, http.MethodPost, b.pipeline("/duplicate"), map[string]any{"project_id": elsewhere, "name": "Named"})
	require.InDelta(t, elsewhere, there["project_id"], 0)
	require.Equal(t, "Named", there["name"])
	other := dbtest.Org(t, b.Store, dbtest.WithSlug("other"))
	admin.refused(t, 404, "not_found", http.MethodPost, b.pipeline("/duplicate"), map[string]any{"project_id": other.ProjectID})
}
