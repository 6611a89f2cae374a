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
	"net/http/httptest"
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
	// program is who uploads: its answers are held to what all answers are held to.
	program *client
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
	o := &Organization{Mark: "qfiles", ID: a.Organizations[0].ID, Pipeline: a.Pipeline("qfiles"), tasks: map[int64]bool{}}
	r.World.Guests = append(r.World.Guests, o)
	key := a.Key("qfiles")
	return &uploads{
		run: r, key: key, pipeline: o.Pipeline, plain: a.Pipeline("qplain"), sent: map[string]archived{},
		reader: r.client(o, "c0@qfiles.test", "", 4), program: r.client(o, "program@qfiles.test", key, 5),
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

// call makes one call about uploads. refusals are the statuses that may refuse it;
// any other is a violation.
func (u *uploads) call(ctx context.Context, method, path string, in, out any, refusals ...int) (status int, answer []byte, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, nil, err
	}
	q := request{method: method, path: fmt.Sprintf("/api/v1/workflows/%d/tasks/upload%s", u.pipeline, path), refusals: refusals}
	at := u.at.Load()
	defer func() {
		if err != nil || status >= http.StatusInternalServerError {
			u.at.Store(at + 1) // whoever is not answered comes to another one
		}
	}()
	base := u.run.bases[at%uint64(len(u.run.bases))]
	req, err := http.NewRequestWithContext(ctx, method, base+q.path, bytes.NewReader(body))
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
	if err == nil {
		u.program.judge(q, res.StatusCode, res.Header, answer)
	}
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

// confirm asks for an upload's tasks: 409 where that was done before. also are other
// statuses that may refuse it.
func (u *uploads) confirm(ctx context.Context, up upload, also ...int) (status int, answer []byte, err error) {
	return u.call(ctx, http.MethodPost, "/"+up.ID+"/confirm", nil, nil, append(also, http.StatusConflict)...)
}

func (u *uploads) poll(ctx context.Context, id string) (up upload, err error) {
	status, answer, err := u.call(ctx, http.MethodGet, "/"+id, nil, &up)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the poll was answered %d: %.300s", status, answer)
	}
	u.program.org.own(up.TaskIDs...)
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

// Programs that upload are told no less than everybody else.
func TestAnswersToUploadsAreJudged(t *testing.T) {
	t.Parallel()
	type told struct {
		status     int
		retryAfter string
		body       string
	}
	for name, c := range map[string]struct {
		told  told
		wrong int
	}{
		"accepted":                    {told{http.StatusAccepted, "", `{"upload_id":"u"}`}, 0},
		"confirmed before":            {told{http.StatusConflict, "", `{}`}, 0},
		"come again":                  {told{http.StatusServiceUnavailable, "1", `{}`}, 0},
		"come again, some time":       {told{http.StatusServiceUnavailable, "", `{}`}, 1},
		"too often, some time":        {told{http.StatusTooManyRequests, "", `{}`}, 1},
		"an internal error":           {told{http.StatusInternalServerError, "", `{}`}, 1},
		"refused without a reason":    {told{http.StatusNotFound, "", `{}`}, 1},
		"a task of somebody else":     {told{http.StatusOK, "", `{"task_ids":[1000001]}`}, 1},
		"a mark, and without a cause": {told{http.StatusForbidden, "", `qalpha`}, 2},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.told.retryAfter != "" {
				w.Header().Set("Retry-After", c.told.retryAfter)
			}
			w.WriteHeader(c.told.status)
			_, _ = io.WriteString(w, c.told.body)
		}))
		t.Cleanup(server.Close)
		r := &Run{World: newWorld(DefaultLoad(1)), t: t, bases: []string{server.URL}}
		r.World.Orgs[0].own(1_000_001)
		u := &uploads{run: r, program: r.client(newOrganization("qfiles", 1, 0), "program", "key", 5)}
		status, _, err := u.confirm(t.Context(), upload{ID: "u"})
		require.NoError(t, err)
		require.Equal(t, c.told.status, status)
		require.Len(t, r.Violations(), c.wrong, "%s: %v", name, r.Violations())
	}
}
