package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	v1 "github.com/taskloom/taskloom/api/v1"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// Rows of section 4.2: uploads. The object store is real; what processes an
// upload has tests of its own.

// files is a bench whose pipeline takes files.
type files struct {
	*bench
	// worker is what the API hears when it asks for one.
	worker error
	mu     sync.Mutex
}

func newFiles(t *testing.T, opts ...dbtest.Option) *files {
	t.Helper()
	f := &files{}
	opts = append([]dbtest.Option{dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("scan")))}, opts...)
	f.bench = serve(t, dbtest.NewWorld(t, opts...), func(d *api.Deps) {
		d.Uploads = v1.Uploads{Objects: objects(t), MaxArchiveBytes: 10 << 30, Reachable: func(context.Context) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.worker
		}}
	})
	return f
}

// objects is the object store of the tests.
func objects(t *testing.T) *blob.Store {
	t.Helper()
	require.NotEmpty(t, os.Getenv("S3_ENDPOINT"), "this test needs an object store: run `make test`, or set S3_ENDPOINT and its kin")
	return blob.Open(blob.Config{
		Endpoint: os.Getenv("S3_ENDPOINT"), Region: os.Getenv("S3_REGION"), Bucket: os.Getenv("S3_BUCKET"),
		AccessKeyID: os.Getenv("S3_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("S3_SECRET_ACCESS_KEY"),
	})
}

func (f *files) workerIs(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.worker = err
}

func (f *files) init(t *testing.T, body any, headers ...header) answer {
	t.Helper()
	return f.v1(t, http.MethodPost, f.workflow("/tasks/upload"), body, headers...)
}

// initiated makes an upload and returns its path and the address for the
// archive.
func (f *files) initiated(t *testing.T, body any) (path, url string) {
	t.Helper()
	a := f.init(t, body)
	require.Equal(t, http.StatusAccepted, a.Status, "%s\n%s", a.Raw, f.logs.text())
	return f.workflow("/tasks/upload/%s", a.Body["upload_id"]), a.Body["upload_url"].(string)
}

func (f *files) confirm(t *testing.T, path string, headers ...header) answer {
	t.Helper()
	return f.v1(t, http.MethodPost, path+"/confirm", nil, headers...)
}

func (f *files) status(t *testing.T, path string, headers ...header) answer {
	t.Helper()
	return f.v1(t, http.MethodGet, path, nil, headers...)
}

// put stores an archive as an integrator does.
func put(t *testing.T, url, contentType string, archive []byte) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, bytes.NewReader(archive))
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	return res.StatusCode
}

func TestSpec42_UploadFromInitToProcessing(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	a := f.init(t, map[string]any{})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Raw)
	require.Equal(t, "pending", a.Body["status"])
	require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, a.Body["upload_id"])
	path, url := f.workflow("/tasks/upload/%s", a.Body["upload_id"]), a.Body["upload_url"].(string)

	poll := f.status(t, path)
	require.Equal(t, http.StatusOK, poll.Status)
	require.Equal(t, "pending", poll.Body["status"])
	require.Equal(t, "2", poll.Header.Get("Retry-After"))
	require.NotContains(t, poll.Body, "task_ids")
	require.NotContains(t, poll.Body, "progress")

	fails(t, f.confirm(t, path), http.StatusUnprocessableEntity, "validation_error")
	require.Equal(t, http.StatusForbidden, put(t, url, "text/plain", []byte("x")), "another content type is not signed")
	require.Equal(t, http.StatusOK, put(t, url, "application/zip", []byte("not looked at yet")))
	f.workerIs(errors.New("down"))
	down := f.confirm(t, path)
	fails(t, down, http.StatusServiceUnavailable, "service_unavailable")
	require.Equal(t, "5", down.Header.Get("Retry-After"))
	require.Equal(t, "pending", f.status(t, path).Body["status"], "a refusal leaves it pending")
	f.workerIs(nil)
	done := f.confirm(t, path)
	require.Equal(t, http.StatusAccepted, done.Status, "%s", done.Raw)
	require.Equal(t, map[string]any{"upload_id": a.Body["upload_id"], "status": "processing"}, done.Body)
	fails(t, f.confirm(t, path), http.StatusConflict, "api_error")

	poll = f.status(t, path)
	require.Equal(t, "processing", poll.Body["status"])
	require.Contains(t, poll.Body, "progress")
	require.Equal(t, http.StatusNotModified, f.status(t, path, with("If-None-Match", poll.Header.Get("ETag"))).Status)
}

func TestSpec42_ConfirmSucceedsOnceUnderARace(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	path, url := f.initiated(t, map[string]any{})
	require.Equal(t, http.StatusOK, put(t, url, "application/zip", []byte("x")))
	const racers = 32
	answers := make([]answer, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { answers[i] = f.confirm(t, path) })
	}
	wg.Wait()
	statuses := map[int]int{}
	for _, a := range answers {
		statuses[a.Status]++
	}
	require.Equal(t, map[int]int{http.StatusAccepted: 1, http.StatusConflict: racers - 1}, statuses)
}

func TestSpec42_ExpiryScalesWithTheSize(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	for _, c := range []struct {
		size any
		want time.Duration
	}{
		{nil, time.Hour},
		{1, time.Hour},
		{600 << 20, time.Hour + 10*time.Minute},
		{10 << 30, time.Hour + 10240*time.Second},
		{int64(1) << 40, 12 * time.Hour},
		{int64(1) << 62, 12 * time.Hour},
		{json.Number("9223372036854775807"), 12 * time.Hour},
		{json.Number("1000000.0"), time.Hour},
		{json.Number("6291456e2"), time.Hour + 10*time.Minute},
		{json.Number("1.073741824E+10"), time.Hour + 10240*time.Second},
	} {
		body := map[string]any{}
		if c.size != nil {
			body["file_size_bytes"] = c.size
		}
		a := f.init(t, body)
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Raw)
		at, err := time.Parse(time.RFC3339Nano, a.Body["expires_at"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(c.want), at, time.Minute)
	}
}

func TestSpec42_TasksMayBeOmittedOnlyWhenAllFieldsAreFiles(t *testing.T) {
	t.Parallel()
	only := newFiles(t)
	for _, body := range []any{nil, "", "{}", `{"tasks": null}`, `{"file_size_bytes": null}`} {
		require.Equal(t, http.StatusAccepted, only.init(t, body).Status, "%v", body)
	}
	mixed := newFiles(t, dbtest.WithDefinition(dbtest.FileDefinition(
		dbtest.FileField("scan"), form.Field{Name: "caption", Title: "Caption", Type: form.ShortText, Input: form.Seeded})))
	a := mixed.init(t, map[string]any{})
	fails(t, a, http.StatusUnprocessableEntity, "validation_error")
	require.Contains(t, a.message(), "tasks is required")
	require.Equal(t, http.StatusAccepted, mixed.init(t, scans("a.png")).Status)
}

// scans is a body of tasks with a file each.
func scans(paths ...any) map[string]any {
	tasks := make([]any, len(paths))
	for i, p := range paths {
		tasks[i] = map[string]any{"fields": map[string]any{"scan": p}}
	}
	return map[string]any{"tasks": tasks}
}

func TestSpec42_InitRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	before := f.count(t, `SELECT count(*) FROM uploads`)
	many := make([]any, 5001)
	for i := range many {
		many[i] = "a.png"
	}
	for name, c := range map[string]struct {
		body   any
		status int
		code   string
	}{
		"malformed":        {`{"tasks": [`, 400, "invalid_request"},
		"no object":        {`[]`, 422, "validation_error"},
		"unknown property": {`{"taks": []}`, 422, "validation_error"},
		"no tasks":         {`{"tasks": []}`, 422, "validation_error"},
		"too many tasks":   {scans(many...), 422, "validation_error"},
		"size a text":      {`{"file_size_bytes": "1"}`, 422, "validation_error"},
		"size a fraction":  {`{"file_size_bytes": 1.5}`, 422, "validation_error"},
		"size zero":        {`{"file_size_bytes": 0}`, 422, "validation_error"},
		"size huge":        {`{"file_size_bytes": 99999999999999999999}`, 422, "validation_error"},
		"size one more":    {`{"file_size_bytes": 9223372036854775808}`, 422, "validation_error"},
		"size a hair off":  {`{"file_size_bytes": 1.00000000000000000001}`, 422, "validation_error"},
		"size in the sky":  {`{"file_size_bytes": 1e999999999}`, 422, "validation_error"},
		"size a grain":     {`{"file_size_bytes": 1e-999999999}`, 422, "validation_error"},
	} {
		a := f.init(t, c.body)
		require.Equal(t, c.status, a.Status, "%s: %s", name, a.Raw)
		require.Equal(t, c.code, a.code(), name)
	}
	fails(t, f.v1(t, http.MethodPost, "/workflows/987654/tasks/upload", map[string]any{}), 404, "not_found")
	for _, status := range []string{"DRAFT", "COMPLETED", "ARCHIVED", "PENDING_ACTIVATION"} {
		f.exec(t, `UPDATE pipelines SET status = $1`, status)
		a := f.init(t, map[string]any{})
		fails(t, a, 422, "validation_error")
		require.Contains(t, a.message(), "ACTIVE or PAUSED")
	}
	require.Equal(t, before, f.count(t, `SELECT count(*) FROM uploads`))
	f.exec(t, `UPDATE pipelines SET status = 'PAUSED'`)
	require.Equal(t, http.StatusAccepted, f.init(t, map[string]any{}).Status)

	without := newFiles(t, dbtest.WithDefinition(dbtest.Simple()))
	a := without.init(t, questions(1))
	fails(t, a, 422, "validation_error")
	require.Contains(t, a.message(), "has_file_upload_fields is false")
}

func TestSpec42_ItemsAreCheckedBeforeTheFilesCome(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	a := f.init(t, `{"tasks": [{"fields": {"scna": "a.png"}}, {"fields": {}}]}`)
	require.Equal(t, 422, a.Status, "%s", a.Raw)
	require.InDelta(t, 2, a.Body["error_count"], 0)
	require.Equal(t, "scan", a.Body["errors"].([]any)[0].(map[string]any)["field_name"])
	require.Equal(t, http.StatusAccepted, f.init(t, scans("a.png", 7)).Status, "one good item is enough")
	require.Equal(t, 1, f.count(t, `SELECT count(*) FROM upload_rows WHERE status = 'failed'`))
	require.Equal(t, 1, f.count(t, `SELECT count(*) FROM upload_rows WHERE status = 'waiting'`))
}

func TestSpec42_AnUploadBelongsToItsWorkflow(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	path, _ := f.initiated(t, map[string]any{})
	id := path[len(path)-36:]
	d := dbtest.FileDefinition(dbtest.FileField("scan"))
	d.Name = "Second"
	second, _ := f.AddPipeline(t, d, store.StatusActive)
	other := serve(t, dbtest.Org(t, f.Store, dbtest.WithSlug("other"), dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("scan")))), nil)
	for _, at := range []string{
		fmt.Sprintf("/workflows/%d/tasks/upload/%s", second, id),
		f.workflow("/tasks/upload/nonsense"), f.workflow("/tasks/upload/00000000-0000-0000-0000-000000000000"),
		f.workflow("/tasks/upload/{%s}", id),
	} {
		fails(t, f.status(t, at), 404, "not_found")
		fails(t, f.confirm(t, at), 404, "not_found")
	}
	fails(t, other.v1(t, http.MethodGet, path, nil), 404, "not_found")
	fails(t, other.v1(t, http.MethodPost, path+"/confirm", nil), 404, "not_found")
}

func TestSpec42_ConfirmRefusesAnEmptyArchive(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	path, url := f.initiated(t, map[string]any{})
	require.Equal(t, http.StatusOK, put(t, url, "application/zip", nil))
	fails(t, f.confirm(t, path), 422, "validation_error")
	require.Equal(t, "pending", f.status(t, path).Body["status"])
}

// That a worker or the archive is missing as well is no reason to try again.
func TestSpec42_ConfirmSaysFirstThatTheWorkflowTakesNoTasks(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	path, _ := f.initiated(t, map[string]any{})
	f.workerIs(errors.New("down"))
	for _, status := range []string{"COMPLETED", "ARCHIVED"} {
		f.exec(t, `UPDATE pipelines SET status = $1`, status)
		a := f.confirm(t, path)
		fails(t, a, 422, "validation_error")
		require.Contains(t, a.message(), "ACTIVE or PAUSED")
	}
	require.Equal(t, "pending", f.status(t, path).Body["status"])
}

func TestSpec56_ARemovedCreatorCannotUpload(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	path, url := f.initiated(t, map[string]any{})
	require.Equal(t, http.StatusOK, put(t, url, "application/zip", []byte("x")))
	f.RemoveUser(t, f.Admin)
	for _, a := range []answer{f.init(t, map[string]any{}), f.confirm(t, path), f.status(t, path)} {
		fails(t, a, 422, "validation_error")
		require.Contains(t, a.message(), "create a new one")
	}
	require.Equal(t, 1, f.count(t, `SELECT count(*) FROM uploads WHERE status = 'pending'`))
	fails(t, f.v1(t, http.MethodGet, "/workflows/987654/tasks/upload/"+path[len(path)-36:], nil), 404, "not_found")
	require.Equal(t, http.StatusOK, f.v1(t, http.MethodGet, f.workflow("/tasks"), nil).Status, "the rest goes on")
}

func TestUploadsAreIdempotentByKey(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	key := with("Idempotency-Key", "one")
	first, again := f.init(t, scans("a.png"), key), f.init(t, scans("a.png"), key)
	require.Equal(t, http.StatusAccepted, first.Status)
	require.Equal(t, string(first.Raw), string(again.Raw))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, f.count(t, `SELECT count(*) FROM uploads`))
	fails(t, f.init(t, scans("b.png"), key), 422, "validation_error")

	require.Equal(t, http.StatusOK, put(t, first.Body["upload_url"].(string), "application/zip", []byte("x")))
	path := f.workflow("/tasks/upload/%s", first.Body["upload_id"])
	confirmed, repeated := f.confirm(t, path, key), f.confirm(t, path, key)
	require.Equal(t, http.StatusAccepted, confirmed.Status, "%s", confirmed.Raw)
	require.Equal(t, http.StatusAccepted, repeated.Status, "%s", repeated.Raw)
	require.Equal(t, string(confirmed.Raw), string(repeated.Raw))
	fails(t, f.confirm(t, path), 409, "api_error")
}

func TestAnEndedUploadTellsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	path, url := f.initiated(t, map[string]any{})
	require.Equal(t, http.StatusOK, put(t, url, "application/zip", []byte("x")))
	require.Equal(t, http.StatusAccepted, f.confirm(t, path).Status)
	f.exec(t, `UPDATE uploads SET status = 'failed', reason = 'archive', message = 'the object is no ZIP archive', finished_at = now()`)
	a := f.status(t, path)
	require.Equal(t, "failed", a.Body["status"])
	require.Equal(t, "the object is no ZIP archive", a.Body["message"])
	require.Equal(t, []any{}, a.Body["errors"])
	require.Equal(t, []any{}, a.Body["task_ids"])
	require.InDelta(t, 0, a.Body["success_count"], 0)
	require.Empty(t, a.Header.Get("Retry-After"))
	fails(t, f.confirm(t, path), 409, "api_error")
}
