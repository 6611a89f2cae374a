package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Rows of the table of section 4.

func TestSpec4_Health(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.do(t, http.MethodGet, "/api/v1/health", nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, map[string]any{"status": "ok"}, a.Body)
}

func TestSpec4_WorkflowMetadata(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.v1(t, http.MethodGet, b.workflow(""), nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.InDelta(t, b.PipelineID, a.Body["workflow_id"], 0)
	require.Equal(t, "Math check", a.Body["name"])
	require.Equal(t, "ACTIVE", a.Body["status"])
	for _, name := range []string{"created_at", "updated_at"} {
		at, err := time.Parse(time.RFC3339Nano, a.Body[name].(string))
		require.NoError(t, err)
		require.Equal(t, time.UTC, at.Location())
	}
}

func TestSpec4_Schema(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.v1(t, http.MethodGet, b.workflow("/schema"), nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, false, a.Body["has_file_upload_fields"])
	require.Equal(t, false, a.Body["has_only_file_upload_fields"])
	fields := a.Body["fields"].([]any)
	require.Len(t, fields, 1, "what contributors fill in is no column")
	field := fields[0].(map[string]any)
	require.Equal(t, "question", field["name"])
	require.Equal(t, "Question", field["title"])
	require.Equal(t, "long_text", field["type"])
	require.Equal(t, true, field["required"])
	for _, name := range []string{"format_hint", "description", "json_schema", "example"} {
		require.Contains(t, field, name)
	}
}

func TestSpec4_SchemaListsTheOptionsOfASelect(t *testing.T) {
	t.Parallel()
	d := dbtest.Simple()
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, form.Field{
		Name: "topic", Title: "Topic", Type: form.Select, Input: form.Seeded, Options: []form.Option{{Value: "a"}, {Value: "b"}},
	})
	b := setup(t, dbtest.WithDefinition(d))
	a := b.v1(t, http.MethodGet, b.workflow("/schema"), nil)
	require.Equal(t, []any{"a", "b"}, a.Body["fields"].([]any)[1].(map[string]any)["format_hint"])
}

func TestSpec4_CreateTasks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.create(t, questions(3))
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	require.InDelta(t, 3, a.Body["success_count"], 0)
	require.InDelta(t, 0, a.Body["error_count"], 0)
	require.Equal(t, []any{}, a.Body["errors"])
	ids := a.Body["task_ids"].([]any)
	require.Len(t, ids, 3)
	require.Less(t, ids[0], ids[1])
	require.Less(t, ids[1], ids[2])
	require.Equal(t, 3, b.count(t, `SELECT count(*) FROM task_nodes WHERE key = 'solve' AND status = 'available'`), "claimable at once")
}

func TestSpec4_ListTasks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.created(t, 2)
	a := b.v1(t, http.MethodGet, b.workflow("/tasks"), nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Len(t, a.Body["tasks"], 2)
	require.Equal(t, false, a.Body["has_more"])
	require.Contains(t, a.Body, "next_cursor")
	require.Nil(t, a.Body["next_cursor"])
}

func TestSpec4_TaskStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.created(t, 1)[0]
	a := b.v1(t, http.MethodGet, b.workflow("/tasks/%v", id), nil)
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, id, a.Body["id"])
	require.Equal(t, "pending", a.Body["status"])
	require.Equal(t, map[string]any{"total": 2., "finished": 0., "in_progress": 1., "pending": 1.}, a.Body["node_summary"])
	for _, name := range []string{"created_at", "updated_at"} {
		require.Regexp(t, `Z$`, a.Body[name])
	}
}

func TestSpec4_EveryWorkflowOfAnotherOrganizationIs404(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := serve(t, dbtest.Org(t, b.Store, dbtest.WithSlug("other")), nil)
	theirs := other.created(t, 60)
	cursor := other.v1(t, http.MethodGet, other.workflow("/tasks?limit=50"), nil).Body["next_cursor"]
	for _, path := range []string{"", "/schema", "/tasks", fmt.Sprintf("/tasks/%v", theirs[0])} {
		fails(t, b.v1(t, http.MethodGet, other.workflow("%s", path), nil), http.StatusNotFound, "not_found")
	}
	fails(t, b.v1(t, http.MethodPost, other.workflow("/tasks"), questions(1)), http.StatusNotFound, "not_found")
	fails(t, b.v1(t, http.MethodGet, b.workflow("/tasks/%v", theirs[0]), nil), http.StatusNotFound, "not_found")
	fails(t, b.v1(t, http.MethodGet, b.workflow("/tasks?cursor=%v", cursor), nil), http.StatusBadRequest, "invalid_request")
	require.Equal(t, 60, b.count(t, `SELECT count(*) FROM tasks`))
}

// Section 4.1, point by point.

func TestSpec41_2_CreationNeedsActiveOrPaused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, status := range pipeline.Statuses() {
		b.exec(t, `UPDATE pipelines SET status = $1`, status)
		a := b.create(t, questions(1))
		if status == "ACTIVE" || status == "PAUSED" {
			require.Equal(t, http.StatusOK, a.Status, status)
			continue
		}
		fails(t, a, http.StatusUnprocessableEntity, "validation_error")
		require.Contains(t, a.message(), "ACTIVE or PAUSED")
	}
}

func TestSpec41_3_FileUploadFieldsNeedTheZIPFlow(t *testing.T) {
	t.Parallel()
	d := dbtest.Simple()
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, form.Field{Name: "scan", Title: "Scan", Type: form.FileUpload, Input: form.Seeded})
	b := setup(t, dbtest.WithDefinition(d))
	a := b.create(t, questions(1))
	fails(t, a, http.StatusUnprocessableEntity, "validation_error")
	require.Contains(t, a.message(), "ZIP")
	require.Equal(t, true, b.v1(t, http.MethodGet, b.workflow("/schema"), nil).Body["has_file_upload_fields"])
}

func TestSpec41_4_PartialSuccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.create(t, `{"tasks": [
		{"fields": {"question": "good"}},
		{"fields": {}},
		{"fields": {"zzz": 1, "Question": "by its title", "question": 7}},
		{"fields": {"question": "good too"}}]}`)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Raw)
	require.InDelta(t, 2, a.Body["success_count"], 0)
	require.InDelta(t, 2, a.Body["error_count"], 0)
	require.Len(t, a.Body["task_ids"], 2)
	var got []string
	for _, e := range a.Body["errors"].([]any) {
		item := e.(map[string]any)
		got = append(got, fmt.Sprintf("%v %v", item["index"], item["field_name"]))
		require.NotEmpty(t, item["message"])
	}
	require.Equal(t, []string{"1 question", "2 Question", "2 question", "2 zzz"}, got, "by index, then by field")
}

func TestSpec41_4_EveryTaskFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.create(t, `{"tasks": [{"fields": {}}, {"fields": {"question": ""}}]}`)
	require.Equal(t, http.StatusUnprocessableEntity, a.Status)
	require.Equal(t, "validation_error", a.code())
	require.NotEmpty(t, a.message())
	require.InDelta(t, 0, a.Body["success_count"], 0)
	require.InDelta(t, 2, a.Body["error_count"], 0)
	require.Len(t, a.Body["errors"], 2)
	require.Equal(t, []any{}, a.Body["task_ids"])
	require.Zero(t, b.rows(t))
}

func TestSpec41_5_ATitleIsNoName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.create(t, `{"tasks": [{"fields": {"question": "x"}}, {"fields": {"Question": "x", "question": "y"}}]}`)
	item := a.Body["errors"].([]any)[0].(map[string]any)
	require.Equal(t, "Question", item["field_name"])
	require.Contains(t, item["message"], `"question"`, "names the name to use")
}

func TestSpec41_5_AMissingColumnIsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.create(t, `{"tasks": [{"fields": {}}]}`)
	item := a.Body["errors"].([]any)[0].(map[string]any)
	require.Equal(t, "question", item["field_name"])
	require.Contains(t, item["message"], "question")
}

func TestSpec41_6_FiveSteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/api/v1/health", nil).Status)
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow(""), nil).Status)
	schema := b.v1(t, http.MethodGet, b.workflow("/schema"), nil)
	fields := map[string]any{}
	for _, f := range schema.Body["fields"].([]any) {
		field := f.(map[string]any)
		fields[field["name"].(string)] = field["example"]
	}
	created := b.create(t, map[string]any{"tasks": []any{map[string]any{"fields": fields}}})
	require.Equal(t, http.StatusOK, created.Status, "the examples of the schema are accepted: %s", created.Raw)
	id := created.Body["task_ids"].([]any)[0]
	require.Equal(t, http.StatusOK, b.v1(t, http.MethodGet, b.workflow("/tasks/%v", id), nil).Status)
}

// Section 4.4.

func TestSpec44_ATaskOfAnotherWorkflowIs404(t *testing.T) {
	t.Parallel()
	b := setup(t)
	second, _ := b.AddPipeline(t, dbtest.Simple(), "ACTIVE")
	id := b.created(t, 1)[0]
	fails(t, b.v1(t, http.MethodGet, fmt.Sprintf("/workflows/%d/tasks/%v", second, id), nil), http.StatusNotFound, "not_found")
}
