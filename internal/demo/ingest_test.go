package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/stacktest"
	"github.com/taskloom/taskloom/workflows"
)

// The archive of TestAnArchiveIsIngestedThroughKills: 500 MB.
const (
	ingestFiles    = 5000
	ingestFileSize = 100 << 10
	ingestKills    = 3
	// ingestRSS is the most that the worker may hold, whatever the archive's size.
	ingestRSS = 300 << 20
	// ingestDeadline is how long the ingestion may take, on a busy machine and
	// with a killed worker's steps given up after their heartbeats.
	ingestDeadline = 8 * time.Minute
)

var scansDocument = []byte(`
organizations:
  - slug: scans
    name: Scans
    users: [{email: ana@scans.test, name: Ana, password: taskloom-scans, role: org_admin}]
    projects:
      - name: Scans
        pipelines:
          - status: ACTIVE
            definition:
              name: Read the scan
              runs: on_first_claim
              nodes:
                - {key: start, kind: start}
                - key: read
                  kind: subtask
                  title: Read it
                  fields:
                    - {name: scan, title: Scan, type: file_upload, input: seeded, required: true}
                    - {name: text, title: Text, type: short_text, input: contributor, required: true}
                - {key: end, kind: end}
              edges: [{from: start, to: read}, {from: read, to: end}]
    api_keys: [{name: scans, created_by: ana@scans.test, expires: never}]
`)

// upload is an upload as polled.
type upload struct {
	UploadID     string            `json:"upload_id"`
	UploadURL    string            `json:"upload_url"`
	Status       string            `json:"status"`
	Message      string            `json:"message"`
	SuccessCount int               `json:"success_count"`
	ErrorCount   int               `json:"error_count"`
	Errors       []json.RawMessage `json:"errors"`
	TaskIDs      []int64           `json:"task_ids"`
	Progress     struct {
		RowsDone int `json:"rows_done"`
	} `json:"progress"`
}

// ingestion is a stack with an API key for uploads.
type ingestion struct {
	*stacktest.Stack
	t    *testing.T
	api  *api
	path string // of the uploads
}

func newIngestion(t *testing.T) *ingestion {
	t.Helper()
	s := stacktest.Start(t, stacktest.Options{Document: scansDocument, ServeEnv: []string{"RATE_LIMIT_KEY=off"}})
	id := s.Applied.Pipeline("Read the scan")
	return &ingestion{
		Stack: s, t: t, api: newAPI(s.URL, s.Applied.Key("scans"), id),
		path: fmt.Sprintf("/api/v1/workflows/%d/tasks/upload", id),
	}
}

// start makes an upload and stores the archive.
func (s *ingestion) start(a largeArchive) upload {
	s.t.Helper()
	var u upload
	_, err := s.api.call(s.t.Context(), http.MethodPost, s.path, map[string]any{}, &u)
	require.NoError(s.t, err)
	body, size, err := a.open()
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPut, u.UploadURL, body)
	require.NoError(s.t, err)
	req.ContentLength = size
	req.Header.Set("Content-Type", "application/zip")
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, res.Body.Close())
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s", answer)
	return u
}

// confirm asks once: what is refused is the test's to see.
func (s *ingestion) confirm(ctx context.Context, u upload) error {
	_, err := s.api.send(ctx, http.MethodPost, s.path+"/"+u.UploadID+"/confirm", nil, nil)
	return err
}

func (s *ingestion) poll(id string) upload {
	s.t.Helper()
	var u upload
	_, err := s.api.call(s.t.Context(), http.MethodGet, s.path+"/"+id, nil, &u)
	require.NoError(s.t, err)
	return u
}

// TestAnArchiveIsIngestedThroughKills ingests 500 MB in 5,000 files while the
// worker is killed: no task is made twice, none is missing, every file is what
// it was, and the worker's memory does not grow with the archive.
func TestAnArchiveIsIngestedThroughKills(t *testing.T) {
	if testing.Short() {
		t.Skip("ingests 500 MB with a whole stack")
	}
	t.Parallel()
	s := newIngestion(t)
	t.Run("confirm needs a worker and Temporal", s.refusals)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	a := largeArchive{seed: seed, files: ingestFiles, fileSize: ingestFileSize}
	u := s.start(a)
	require.NoError(t, s.confirm(t.Context(), u))
	r := rand.New(rand.NewPCG(seed, 1))
	var peak int64
	for kill := range ingestKills {
		// Somewhere in the next part of the way, the first time before anything is done.
		target := kill * ingestFiles / (ingestKills + 1)
		if kill > 0 {
			target += r.IntN(ingestFiles / (2 * ingestKills))
		}
		require.Eventually(t, func() bool {
			now := s.poll(u.UploadID)
			return now.Progress.RowsDone >= target || now.Status != "processing"
		}, ingestDeadline, 20*time.Millisecond, "no progress before kill %d", kill)
		peak = max(peak, s.Worker.Memory().Peak)
		t.Logf("kill %d after %d rows", kill+1, s.poll(u.UploadID).Progress.RowsDone)
		s.Worker.Kill()
	}
	require.Eventually(t, func() bool { return s.poll(u.UploadID).Status != "processing" }, ingestDeadline, 100*time.Millisecond)
	peak = max(peak, s.Worker.Memory().Peak)
	done := s.poll(u.UploadID)
	require.Equal(t, "completed", done.Status, done.Message)
	require.Equal(t, ingestFiles, done.SuccessCount)
	require.Zero(t, done.ErrorCount)
	require.Empty(t, done.Errors)
	require.Len(t, done.TaskIDs, ingestFiles)
	require.Less(t, peak, int64(ingestRSS), "the worker's memory")
	s.checkFiles(a, done.TaskIDs)
}

// checkFiles compares what was stored with what was sent: each task, in the
// order of the names, has its file.
func (s *ingestion) checkFiles(a largeArchive, ids []int64) {
	s.t.Helper()
	ctx := s.t.Context()
	pool := s.Store().Pool()
	var tasks int
	require.NoError(s.t, pool.QueryRow(ctx, `SELECT count(*) FROM tasks`).Scan(&tasks))
	require.Equal(s.t, a.files, tasks, "no task twice, none too few")
	rows, err := pool.Query(ctx, `SELECT f.name, f.size, f.sha256, t.id FROM tasks t JOIN files f ON f.id = (t.input->'scan'->>'file_id')::uuid
		WHERE t.id = ANY($1) ORDER BY f.name`, ids)
	require.NoError(s.t, err)
	defer rows.Close()
	i := 0
	for rows.Next() {
		var name, sum string
		var size, id int64
		require.NoError(s.t, rows.Scan(&name, &size, &sum, &id))
		require.Equal(s.t, a.name(i), name)
		require.Equal(s.t, ids[i], id)
		require.Equal(s.t, a.fileSize, size)
		if i%50 == 0 { // hashing all again would take longer than ingesting them
			require.Equal(s.t, a.sum(i), sum, name)
		}
		i++
	}
	require.NoError(s.t, rows.Err())
	require.Equal(s.t, a.files, i)
}

// refusals stops the worker, and Temporal, and asks to confirm: 503 within two
// seconds, and the upload stays pending.
func (s *ingestion) refusals(t *testing.T) {
	u := s.start(largeArchive{seed: 1, files: 3, fileSize: 10})
	refused := func(what string) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var r *refusal
		require.ErrorAs(t, s.confirm(ctx, u), &r, what)
		require.Equal(t, http.StatusServiceUnavailable, r.Status, what)
		require.Equal(t, "pending", s.poll(u.UploadID).Status, what)
	}
	s.Worker.Halt()
	// It is known to be dead when Postgres has met the end of its connection, which
	// is a moment later.
	require.Eventually(t, func() bool {
		alive, err := s.Store().WorkersAlive(t.Context(), workflows.IngestQueue, time.Minute)
		return err == nil && alive == 0
	}, 2*time.Second, 5*time.Millisecond, "a killed worker is held for alive")
	refused("a killed worker")
	s.Worker.Start("METRICS_ADDR=" + s.Value("WORKER_METRICS_ADDR"))
	s.WaitReady()
	s.Signal("temporal", syscall.SIGSTOP)
	refused("a Temporal that hangs")
	s.Signal("temporal", syscall.SIGCONT)
	s.WaitReady()
	s.Worker.Stop()
	refused("a worker that was stopped")
	s.Worker.Start("METRICS_ADDR=" + s.Value("WORKER_METRICS_ADDR"))
	require.Eventually(t, func() bool { return s.confirm(t.Context(), u) == nil }, time.Minute, 100*time.Millisecond)
	require.Eventually(t, func() bool { return s.poll(u.UploadID).Status == "completed" }, 2*time.Minute, 50*time.Millisecond)
	_, err := s.Store().Pool().Exec(t.Context(), `DELETE FROM tasks`)
	require.NoError(t, err)
}
