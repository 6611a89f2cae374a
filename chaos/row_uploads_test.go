package chaos

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// uploads is a tenant whose tasks come by ZIP: the world of the load has no
// files. Its uploads are not part of the history; what its contributor does is.
type uploads struct {
	run      *Run
	key      string
	pipeline int64
	// plain is another pipeline of the tenant, whose tasks are made of JSON: a
	// text "question".
	plain int64
	// reader works on the tasks. They must log in first.
	reader *client
	// at is the server that it speaks to.
	at atomic.Uint64

	mu   sync.Mutex
	sent map[string]archived // by upload
}

// nodeRead is the one node of its pipeline.
const nodeRead = "read"

// filesDocument is the tenant for `taskloom apply`.
const filesDocument = `{"organizations":[{"slug":"qfiles","name":"qfiles",
	"users":[{"email":"admin@qfiles.test","name":"Admin qfiles","password":"` + password + `","role":"org_admin"},
		{"email":"c0@qfiles.test","name":"Reader qfiles","password":"` + password + `","role":"member"}],
	"projects":[{"name":"qfiles","members":[{"email":"c0@qfiles.test","role":"contributor"}],"pipelines":[{"status":"ACTIVE","definition":{"name":"qfiles","nodes":[
		{"key":"start","kind":"start"},
		{"key":"read","kind":"subtask","title":"Read","fields":[
			{"name":"scan","title":"Scan","type":"file_upload","input":"seeded","required":true},
			{"name":"text","title":"Text","type":"short_text","input":"contributor","required":true}]},
		{"key":"end","kind":"end"}],
		"edges":[{"from":"start","to":"read"},{"from":"read","to":"end"}]}},
		{"status":"ACTIVE","definition":{"name":"qplain","nodes":[
		{"key":"start","kind":"start"},
		{"key":"look","kind":"subtask","title":"Look","fields":[
			{"name":"question","title":"Question","type":"long_text","input":"seeded","required":true},
			{"name":"answer","title":"Answer","type":"short_text","input":"contributor","required":true}]},
		{"key":"end","kind":"end"}],
		"edges":[{"from":"start","to":"look"},{"from":"look","to":"end"}]}}]}],
	"api_keys":[{"name":"qfiles","created_by":"admin@qfiles.test","expires":"never"}]}]}`

// newUploads makes the tenant. It is for Row.Prepare: the commands that make it
// need everything to work.
func (r *Run) newUploads() *uploads {
	r.t.Helper()
	a := r.Apply([]byte(filesDocument))
	o := &Organization{Mark: "qfiles", Pipeline: a.Pipeline("qfiles"), tasks: map[int64]bool{}}
	return &uploads{
		run: r, key: a.Key("qfiles"), pipeline: o.Pipeline, plain: a.Pipeline("qplain"), sent: map[string]archived{},
		reader: r.client(o, "c0@qfiles.test", "", 4),
	}
}

// upload is one upload, as it is polled.
type upload struct {
	ID           string          `json:"upload_id"`
	URL          string          `json:"upload_url"`
	Status       string          `json:"status"`
	Message      string          `json:"message"`
	SuccessCount int             `json:"success_count"`
	ErrorCount   int             `json:"error_count"`
	Errors       json.RawMessage `json:"errors"`
	TaskIDs      []int64         `json:"task_ids"`
	Progress     struct {
		RowsDone int `json:"rows_done"`
	} `json:"progress"`
}

// zipOf is an archive of n files of size bytes that do not compress.
func zipOf(t testing.TB, n, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	r := rand.NewChaCha8([32]byte{byte(n)})
	for i := range n {
		f, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("file-%05d.bin", i), Method: zip.Store})
		require.NoError(t, err)
		_, err = io.CopyN(f, r, int64(size))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func (u *uploads) call(ctx context.Context, method, path string, in, out any) (status int, answer []byte, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, nil, err
	}
	at := u.at.Load()
	defer func() {
		if err != nil || status >= http.StatusInternalServerError {
			u.at.Store(at + 1) // whoever is not answered comes to another one
		}
	}()
	base := u.run.bases[at%uint64(len(u.run.bases))]
	req, err := http.NewRequestWithContext(ctx, method, base+fmt.Sprintf("/api/v1/workflows/%d/tasks/upload%s", u.pipeline, path), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+u.key)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	res, err := (&http.Client{Timeout: 30 * time.Second}).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err == nil && out != nil && res.StatusCode < http.StatusBadRequest {
		err = json.Unmarshal(answer, out)
	}
	return res.StatusCode, answer, err
}

// init makes an upload, which has no archive yet.
func (u *uploads) init(ctx context.Context) (up upload, status int, err error) {
	status, answer, err := u.call(ctx, http.MethodPost, "", object{}, &up)
	if err == nil && status != http.StatusAccepted {
		err = fmt.Errorf("init was answered %d: %.300s", status, answer)
	}
	return up, status, err
}

// store puts an archive to where its upload says.
func (u *uploads) store(ctx context.Context, up upload, archive []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, up.URL, bytes.NewReader(archive))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/zip")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(res.Body)
		return fmt.Errorf("the archive was answered %d: %.300s", res.StatusCode, answer)
	}
	return nil
}

// put makes an upload and stores its archive.
func (u *uploads) put(ctx context.Context, archive []byte) (upload, error) {
	up, _, err := u.init(ctx)
	if err != nil {
		return up, err
	}
	u.mu.Lock()
	u.sent[up.ID] = archivedIn(archive)
	u.mu.Unlock()
	return up, u.store(ctx, up, archive)
}

func (u *uploads) confirm(ctx context.Context, up upload) (status int, answer []byte, err error) {
	return u.call(ctx, http.MethodPost, "/"+up.ID+"/confirm", nil, nil)
}

func (u *uploads) poll(ctx context.Context, id string) (up upload, err error) {
	status, answer, err := u.call(ctx, http.MethodGet, "/"+id, nil, &up)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the poll was answered %d: %.300s", status, answer)
	}
	return up, err
}

// ended waits until an upload is over.
func (u *uploads) ended(ctx context.Context, id string, within time.Duration) (up upload) {
	u.run.t.Helper()
	u.run.eventually(ctx, within, "upload "+id+" has ended", func(ctx context.Context) (bool, error) {
		var err error
		up, err = u.poll(ctx, id)
		if err == nil && (up.Status == "pending" || up.Status == "processing") {
			err = fmt.Errorf("it is %s with %d rows done", up.Status, up.Progress.RowsDone)
		}
		return err == nil, err
	})
	return up
}

// completes confirms an upload again and again until that is accepted, and
// checks that it made n tasks, each once with its file.
func (u *uploads) completes(ctx context.Context, up upload, n int, within time.Duration) {
	u.run.t.Helper()
	u.run.eventually(ctx, within, "upload "+up.ID+" is confirmed", func(ctx context.Context) (bool, error) {
		status, answer, err := u.confirm(ctx, up)
		if err == nil && status != http.StatusAccepted && status != http.StatusConflict {
			err = fmt.Errorf("%d %.200s", status, answer)
		}
		return err == nil, err
	})
	u.made(ctx, u.ended(ctx, up.ID, within), n)
}

// short is a text without line breaks for the story of a run.
func short(s string) string { return strings.Join(strings.Fields(s), " ") }
