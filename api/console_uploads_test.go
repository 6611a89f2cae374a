package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	pngBytes  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR and so on"
	htmlBytes = "<!doctype html><script>alert(1)</script>"
	svgBytes  = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
)

// uploadingDefinition is a pipeline whose contributors upload a scan, which is reviewed,
// and whatever else they have.
func uploadingDefinition() pipeline.Definition {
	most := int64(1 << 20)
	d := dbtest.Definition()
	d.Name = "Scan " + uuid.NewString()
	d.Nodes[1].Fields = []form.Field{
		{Name: "question", Title: "Question", Type: form.LongText, Input: form.Seeded, Required: true},
		{Name: "scan", Title: "Scan", Type: form.FileUpload, Input: form.Contributor, Accept: []string{".png", "text/csv"}, Rules: form.Rules{MaxBytes: &most}},
		{Name: "other", Title: "Other", Type: form.FileUpload, Input: form.Contributor, Multiple: true},
		{Name: "note", Title: "Note", Type: form.ShortText, Input: form.Contributor},
	}
	d.Nodes[2].Reviews[0].Fields = []string{"scan", "other"}
	return d
}

// withUploads serves a world of that pipeline with an object store.
func withUploads(t *testing.T) *bench {
	t.Helper()
	return serve(t, dbtest.NewWorld(t, dbtest.WithDefinition(uploadingDefinition())), func(d *api.Deps) { d.Links = objects(t) })
}

// upload begins, puts and completes a file of a claim.
func (p person) upload(t *testing.T, claim map[string]any, field, name, contentType, body string) map[string]any {
	t.Helper()
	created := p.begin(t, claim, field, name, contentType, len(body))
	require.Equal(t, http.StatusOK, browserPut(t, created, body))
	return p.ok(t, 200, http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
}

func (p person) begin(t *testing.T, claim map[string]any, field, name, contentType string, size int) map[string]any {
	t.Helper()
	return p.ok(t, 201, http.MethodPost, onClaim(claim, "/files"),
		map[string]any{"field": field, "name": name, "size": size, "content_type": contentType})
}

// browserPut sends a body as a browser does.
func browserPut(t *testing.T, created map[string]any, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, created["upload_url"].(string), strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range created["headers"].(map[string]any) {
		r.Header.Set(name, value.(string))
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// fileValue is what a form sends of a completed file.
func fileValue(done map[string]any) map[string]any {
	v := map[string]any{}
	for _, name := range []string{"file_id", "name", "size", "content_type", "sha256"} {
		v[name] = done[name]
	}
	return v
}

func TestAContributorUploadsAFile(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	created := maker.begin(t, claim, "scan", "Page 1.png", "image/png", len(pngBytes))
	complete := onClaim(claim, "/files/"+created["file_id"].(string)+"/complete")
	maker.refused(t, 409, "api_error", http.MethodPost, complete, nil)
	require.Equal(t, http.StatusOK, browserPut(t, created, pngBytes))
	done := maker.ok(t, 200, http.MethodPost, complete, nil)
	sum := sha256.Sum256([]byte(pngBytes))
	require.Equal(t, hex.EncodeToString(sum[:]), done["sha256"])
	require.Equal(t, "image/png", done["content_type"])
	require.Equal(t, "Page 1.png", done["name"])
	require.InDelta(t, len(pngBytes), done["size"], 0)

	again := maker.ok(t, 200, http.MethodPost, complete, nil)
	require.Equal(t, fileValue(done), fileValue(again), "completing twice answers the same")

	require.Equal(t, http.StatusOK, browserPut(t, created, strings.Repeat("X", len(pngBytes))), "the address still works")
	maker.ok(t, 200, http.MethodPost, complete, nil)
	require.Equal(t, pngBytes, fetch(t, done["url"]), "but the file is what was looked at")

	maker.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"), map[string]any{"values": map[string]any{"scan": fileValue(done)}, "revision": 0})
	files := maker.ok(t, 200, http.MethodGet, onClaim(claim, ""), nil)["files"].([]any)
	require.Len(t, files, 1)
	require.Equal(t, pngBytes, fetch(t, files[0].(map[string]any)["url"]))
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), values("scan", fileValue(done)))
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), values("scan", fileValue(done)))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM task_files WHERE submitted`))

	b.step(t, claim)
	review := b.login(t, "reviewer1").claim(t, "reviewer")
	seen := review["files"].([]any)
	require.Len(t, seen, 1, "the reviewer sees it")
	require.Equal(t, done["file_id"], seen[0].(map[string]any)["file_id"])
	detail := b.login(t, "admin1").ok(t, 200, http.MethodGet, fmt.Sprintf("/tasks/%v", claim["task_id"]), nil)
	require.Len(t, detail["files"], 1, "and so does the admin")
}

func fetch(t *testing.T, link any) string {
	t.Helper()
	res, err := http.Get(link.(string))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(body)
}

func TestWhatAFieldDoesNotTakeIsRefused(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	for name, body := range map[string]map[string]any{
		"no upload field": {"field": "note", "name": "a.png", "size": 1},
		"seeded":          {"field": "question", "name": "a.png", "size": 1},
		"unknown field":   {"field": "nothing", "name": "a.png", "size": 1},
		"type":            {"field": "scan", "name": "a.txt", "size": 1, "content_type": "text/plain"},
		"too long":        {"field": "scan", "name": "a.png", "size": 1<<20 + 1, "content_type": "image/png"},
		"too long at all": {"field": "other", "name": "a.png", "size": 500<<20 + 1},
		"no name":         {"field": "other", "name": " ", "size": 1},
		"no media type":   {"field": "other", "name": "a", "size": 1, "content_type": "picture\r\nX: y"},
	} {
		a := maker.do(t, http.MethodPost, onClaim(claim, "/files"), body)
		require.Equal(t, 422, a.Status, "%s: %s", name, a.Raw)
	}
	require.Zero(t, b.count(t, `SELECT count(*) FROM task_files`))
	for _, c := range []struct{ name, kind, body, says string }{
		{"page.png", "image/png", htmlBytes, "text/html"},
		{"page.png", "image/png", svgBytes, "image/svg+xml"},
		{"rows.csv", "text/csv", htmlBytes, "is not accepted"},
	} {
		created := maker.begin(t, claim, "scan", c.name, c.kind, len(c.body))
		require.Equal(t, http.StatusOK, browserPut(t, created, c.body))
		a := maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
		require.Contains(t, a.message(), c.says)
		require.Equal(t, "scan", a.Body["problems"].([]any)[0].(map[string]any)["field"])
	}
	require.Zero(t, b.count(t, `SELECT count(*) FROM task_files WHERE completed_at IS NOT NULL`))
	require.Equal(t, "text/csv; charset=utf-8", maker.upload(t, claim, "scan", "rows.csv", "application/vnd.ms-excel", "a\n1\n")["content_type"])
}

func TestFilesThatCouldCarryScriptsAreOnlySaved(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	for name, body := range map[string]string{"page.html": htmlBytes, "drawing.svg": svgBytes, "innocent": htmlBytes} {
		done := maker.upload(t, claim, "other", name, "image/png", body)
		res, err := http.Get(done["url"].(string))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.True(t, strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment"), name)
	}
}

func TestAnotherSizeThanAnnouncedDoesNotArrive(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	created := maker.begin(t, claim, "scan", "a.png", "image/png", len(pngBytes)+1)
	require.GreaterOrEqual(t, browserPut(t, created, pngBytes), 400)
	complete := onClaim(claim, "/files/"+created["file_id"].(string)+"/complete")
	maker.refused(t, 409, "api_error", http.MethodPost, complete, nil)
	// A store that does not mind: the completion does.
	var key string
	require.NoError(t, b.Store.Pool().QueryRow(t.Context(), `SELECT upload_key FROM task_files`).Scan(&key))
	_, err := objects(t).Put(t.Context(), key, "image/png", int64(len(pngBytes)), strings.NewReader(pngBytes))
	require.NoError(t, err)
	a := maker.refused(t, 422, "validation_error", http.MethodPost, complete, nil)
	require.Contains(t, a.message(), "bytes")
}

func TestOnlyTheTasksOwnCompleteFilesCanBeSubmitted(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 2)
	maker, second := b.login(t, "contributor1"), b.login(t, "contributor2")
	claim, other := maker.claim(t, "contributor"), second.claim(t, "contributor")
	mine := fileValue(maker.upload(t, claim, "scan", "a.png", "image/png", pngBytes))
	theirs := fileValue(second.upload(t, other, "scan", "a.png", "image/png", pngBytes))
	loose := fileValue(maker.upload(t, claim, "other", "b.png", "image/png", pngBytes))
	begun := maker.begin(t, claim, "scan", "a.png", "image/png", len(pngBytes))
	far := fileValue(elsewhere(t, b))
	with := func(name string, value any) map[string]any {
		v := maps.Clone(mine)
		v[name] = value
		return v
	}
	for name, value := range map[string]any{
		"another task's":         theirs,
		"another organization's": far,
		"another field's":        loose,
		"never completed":        with("file_id", begun["file_id"]),
		"invented":               with("file_id", uuid.NewString()),
		"no id":                  with("file_id", "1"),
		"another name":           with("name", "z.png"),
		"another size":           with("size", 1),
		"another type":           with("content_type", "image/gif"),
		"another hash":           with("sha256", strings.Repeat("0", 64)),
	} {
		a := maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/submit"), values("scan", value))
		require.Equal(t, "scan", a.Body["problems"].([]any)[0].(map[string]any)["field"], name)
	}
	maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/submit"), values("other", []any{loose, theirs}))

	id := theirs["file_id"].(string)
	maker.refused(t, 404, "not_found", http.MethodPost, onClaim(claim, "/files/"+id+"/complete"), nil)
	second.refused(t, 404, "not_found", http.MethodPost, onClaim(claim, "/files/"+id+"/complete"), nil)
	maker.ok(t, 200, http.MethodPut, onClaim(claim, "/draft"),
		map[string]any{"values": map[string]any{"scan": theirs, "other": []any{far}}, "revision": 0})
	require.Empty(t, maker.ok(t, 200, http.MethodGet, onClaim(claim, ""), nil)["files"], "what somebody writes links nothing of others")

	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/submit"), values("scan", mine, "other", []any{loose}))
	b.step(t, claim)
	checker := b.login(t, "reviewer1")
	review := checker.claim(t, "reviewer")
	checker.refused(t, 422, "validation_error", http.MethodPost, onClaim(review, "/review"),
		map[string]any{"verdict": "approve", "values": map[string]any{"scan": theirs}})
	better := fileValue(checker.upload(t, review, "scan", "better.png", "image/png", pngBytes+"!"))
	checker.ok(t, 200, http.MethodPost, onClaim(review, "/review"), map[string]any{"verdict": "approve", "values": map[string]any{"scan": better}})
}

// elsewhere uploads a file in another organization.
func elsewhere(t *testing.T, b *bench) map[string]any {
	t.Helper()
	w := dbtest.Org(t, b.Store, dbtest.WithSlug("other"), dbtest.WithDefinition(uploadingDefinition()))
	other := serve(t, w, func(d *api.Deps) { d.Links = objects(t) })
	other.created(t, 1)
	maker := other.loginAs(t, w.Email("contributor1"))
	return maker.upload(t, maker.claim(t, "contributor"), "scan", "a.png", "image/png", pngBytes)
}

func TestAnUploadOutlivesTheServerAndTheClaim(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	created := maker.begin(t, claim, "scan", "a.png", "image/png", len(pngBytes))
	require.Equal(t, http.StatusOK, browserPut(t, created, pngBytes))

	// The server is killed in the middle of a completion: its copy is left.
	restarted := serve(t, b.World, func(d *api.Deps) { d.Links = objects(t) })
	maker.b = restarted
	maker.ok(t, 204, http.MethodDelete, onClaim(claim, ""), nil)
	maker.refused(t, 409, "api_error", http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
	again := maker.claim(t, "contributor")
	require.NotEqual(t, claim["claim_id"], again["claim_id"])
	done := maker.ok(t, 200, http.MethodPost, onClaim(again, "/files/"+created["file_id"].(string)+"/complete"), nil)
	maker.ok(t, 200, http.MethodPost, onClaim(again, "/submit"), values("scan", fileValue(done)))
}

func TestOfTwoCompletionsOneDecides(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	created := maker.begin(t, claim, "other", "big.bin", "", 3<<20)
	require.Equal(t, http.StatusOK, browserPut(t, created, strings.Repeat("x", 3<<20)))
	answers := make([]answer, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = maker.do(t, http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
		})
	}
	all.Wait()
	for _, a := range answers {
		require.Equal(t, 200, a.Status, "%s", a.Raw)
		require.Equal(t, fileValue(answers[0].Body), fileValue(a.Body))
	}
	done := maker.ok(t, 200, http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
	require.Len(t, fetch(t, done["url"]), 3<<20)
	left, err := objects(t).List(t.Context(), fmt.Sprintf("org/%d/files/task/%v/%s", b.OrgID, claim["task_id"], created["file_id"]), "")
	require.NoError(t, err)
	require.Len(t, left, 1, "the losers' copies are gone")
}

func TestALongFileTakesNoMemory(t *testing.T) {
	// Not parallel: it looks at the heap of the process.
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	const size = 200 << 20
	created := maker.begin(t, claim, "other", "long.bin", "", size)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, created["upload_url"].(string), io.LimitReader(endless{}, size))
	require.NoError(t, err)
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/octet-stream")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)

	most, stop := watchHeap(t)
	maker.ok(t, 200, http.MethodPost, onClaim(claim, "/files/"+created["file_id"].(string)+"/complete"), nil)
	stop()
	require.Less(t, most(), uint64(32<<20), "more than the heap had before")
	t.Cleanup(func() {
		keys, _ := objects(t).List(t.Context(), fmt.Sprintf("org/%d/files/task/%v/", b.OrgID, claim["task_id"]), "")
		for _, key := range keys {
			_ = objects(t).Delete(t.Context(), key)
		}
	})
}

// endless gives bytes for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("zero "), len(p)/5+1)), nil
}

// watchHeap notes by how much the live heap grows until it is stopped.
func watchHeap(t *testing.T) (most func() uint64, stop func()) {
	t.Helper()
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, over := live(), uint64(0)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				if now := live(); now > before {
					over = max(over, now-before)
				}
			}
		}
	}()
	return func() uint64 { return over }, func() { close(quit); <-done }
}

func TestWithoutAnObjectStoreNothingIsUploaded(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.WithDefinition(uploadingDefinition()))
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	maker.refused(t, 503, "service_unavailable", http.MethodPost, onClaim(claim, "/files"), map[string]any{"field": "scan", "name": "a.png", "size": 1})
}

func TestUploadsOfOnePersonForOneNodeAreBounded(t *testing.T) {
	t.Parallel()
	b := withUploads(t)
	b.created(t, 1)
	maker := b.login(t, "contributor1")
	claim := maker.claim(t, "contributor")
	b.exec(t, `INSERT INTO task_files (id, org_id, task_id, node_key, field, user_id, upload_key, name, size, announced_type)
		SELECT gen_random_uuid(), $1, $2, 'solve', 'other', $3, '', 'x', 1, '' FROM generate_series(1, $4)`,
		b.OrgID, claim["task_id"], b.Contributors[0], store.MaxTaskFiles)
	maker.refused(t, 422, "validation_error", http.MethodPost, onClaim(claim, "/files"), map[string]any{"field": "scan", "name": "a.png", "size": 1})
}

// claimedUpload lets the contributor claim a task whose form takes files.
func claimedUpload(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	claim := b.uploadingClaim(t)
	ids["{task_id}"], ids["{claim_id}"], ids["{key}"] = strconv.FormatInt(claim.TaskID, 10), claim.ID, claim.Node
}

// putUpload also puts a file that is not completed yet.
func putUpload(t *testing.T, b *bench, ids map[string]string) {
	t.Helper()
	claim := b.uploadingClaim(t)
	f := store.TaskFile{Field: "other", UploadKey: "test/" + uuid.NewString(), Announced: "text/plain"}
	f.ID, f.Name, f.Size = uuid.New(), "a.txt", 4
	require.NoError(t, b.Store.CreateTaskFile(t.Context(), *claim, f))
	_, err := objects(t).Put(t.Context(), f.UploadKey, "text/plain", 4, strings.NewReader("text"))
	require.NoError(t, err)
	ids["{claim_id}"], ids["{file_id}"] = claim.ID, f.ID.String()
}

func (b *bench) uploadingClaim(t *testing.T) *store.Claim {
	t.Helper()
	id, version := b.AddPipeline(t, uploadingDefinition(), "ACTIVE")
	v, err := b.Store.Version(t.Context(), version)
	require.NoError(t, err)
	state, err := pipeline.Start(v.Graph, nil)
	require.NoError(t, err)
	_, err = b.Store.CreateTasks(t.Context(), store.CreateTasks{
		OrgID: b.OrgID, PipelineID: id, VersionID: version, Actor: b.Admin,
		Tasks: []store.NewTask{{Input: form.Values{"question": json.RawMessage(`"?"`)}, State: state}},
	})
	require.NoError(t, err)
	m, err := b.Store.MemberOfPipeline(t.Context(), b.Contributors[0], id)
	require.NoError(t, err)
	claim, err := b.Store.ClaimNext(t.Context(), m, pipeline.KindSubtask)
	require.NoError(t, err)
	require.NotNil(t, claim)
	return claim
}
