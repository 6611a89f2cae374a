package activities_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

var errAway = fault.New(fault.Unavailable, "the object store is away")

// shelf is an object store in memory.
type shelf struct {
	mu   sync.Mutex
	held map[string][]byte
	puts map[string]int
	// onPut, onRead and onDelete answer in place of the store when they return
	// an error.
	onPut, onRead, onDelete func(key string) error
}

func newShelf() *shelf { return &shelf{held: map[string][]byte{}, puts: map[string]int{}} }

func (s *shelf) ask(hook func(string) error, key string) error {
	if hook == nil {
		return nil
	}
	return hook(key)
}

func (s *shelf) Archive(_ context.Context, key string, size int64, _ string) archive.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return source{shelf: s, key: key, size: size, held: bytes.NewReader(s.held[key])}
}

func (s *shelf) Put(ctx context.Context, key, _ string, size int64, body io.Reader) (string, error) {
	if err := s.ask(s.onPut, key); err != nil {
		return "", err
	}
	raw, err := io.ReadAll(body)
	switch {
	case err != nil:
		return "", fmt.Errorf("put %s: %w", key, err)
	case int64(len(raw)) != size:
		return "", fmt.Errorf("put %s: %d bytes instead of %d", key, len(raw), size)
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[key] = raw
	s.puts[key]++
	return fmt.Sprintf("%x", sha256.Sum256(raw)), nil
}

// List returns two keys at a time, so that there are several pages.
func (s *shelf) List(_ context.Context, prefix, after string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(s.held)) {
		if strings.HasPrefix(key, prefix) && key > after && len(keys) < 2 {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (s *shelf) Delete(_ context.Context, key string) error {
	if err := s.ask(s.onDelete, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, key)
	return nil
}

// files are the keys of what is stored beside archives.
func (s *shelf) files() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.held)), func(k string) bool { return !strings.Contains(k, "/files/") })
}

type source struct {
	shelf *shelf
	key   string
	size  int64
	held  *bytes.Reader
}

func (s source) Size() int64 { return s.size }

func (s source) ReadAt(p []byte, off int64) (int, error) {
	if err := s.shelf.ask(s.shelf.onRead, s.key); err != nil {
		return 0, err
	}
	return s.held.ReadAt(p, off)
}

func (s source) Stream(off, n int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s, off, n)), nil
}

// hall is a world with the activities of uploads over a real Postgres and an
// object store in memory.
type hall struct {
	*dbtest.World
	*shelf
	t       *testing.T
	uploads *activities.Uploads
	limits  archive.Limits
}

func newHall(t *testing.T, opts ...dbtest.Option) *hall {
	t.Helper()
	h := &hall{
		World: dbtest.NewWorld(t, append([]dbtest.Option{dbtest.WithDefinition(dbtest.FileDefinition())}, opts...)...),
		shelf: newShelf(), t: t, limits: archive.DefaultLimits(),
	}
	h.uploads = activities.NewUploads(h.Store, h, h.limits)
	return h
}

// upload stores an archive and confirms it.
func (h *hall) upload(raw []byte, rows ...store.UploadRow) store.Upload {
	h.t.Helper()
	key := "org/1/uploads/" + uuid.NewString() + ".zip"
	h.held[key] = raw
	return h.AddUpload(h.t, key, int64(len(raw)), `"etag"`, rows...)
}

func (h *hall) env() *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(h.uploads)
	return env
}

func (h *hall) inspect(u store.Upload) (out activities.UploadProgress, err error) {
	v, err := h.env().ExecuteActivity(h.uploads.InspectArchive, activities.UploadRef{UploadID: u.ID.String()})
	if err == nil {
		err = v.Get(&out)
	}
	return out, err
}

func (h *hall) ingest(u store.Upload) (out activities.UploadProgress, err error) {
	v, err := h.env().ExecuteActivity(h.uploads.IngestRows, activities.UploadRef{UploadID: u.ID.String()})
	if err == nil {
		err = v.Get(&out)
	}
	return out, err
}

func (h *hall) finish(u store.Upload, reason string) activities.FinishUploadResult {
	h.t.Helper()
	v, err := h.env().ExecuteActivity(h.uploads.FinishUpload, activities.FinishUploadInput{UploadID: u.ID.String(), Reason: reason})
	require.NoError(h.t, err)
	var out activities.FinishUploadResult
	require.NoError(h.t, v.Get(&out))
	return out
}

// run does all of it, which must succeed.
func (h *hall) run(u store.Upload) (store.Upload, store.UploadResult) {
	h.t.Helper()
	got, err := h.inspect(u)
	require.NoError(h.t, err)
	for !got.Over && !got.Done {
		got, err = h.ingest(u)
		require.NoError(h.t, err)
	}
	if !got.Over {
		h.finish(u, "")
	}
	return h.LoadUpload(h.t, u.ID)
}

// input are the values that a task was made with.
func (h *hall) input(task int64) (out map[string]json.RawMessage) {
	h.t.Helper()
	require.NoError(h.t, h.Store.Pool().QueryRow(h.t.Context(), `SELECT input FROM tasks WHERE id = $1`, task).Scan(&out))
	return out
}

func (h *hall) count(sql string, args ...any) (n int) {
	h.t.Helper()
	require.NoError(h.t, h.Store.Pool().QueryRow(h.t.Context(), sql, args...).Scan(&n))
	return n
}

func (h *hall) exec(sql string, args ...any) {
	h.t.Helper()
	_, err := h.Store.Pool().Exec(h.t.Context(), sql, args...)
	require.NoError(h.t, err)
}

// messages are the errors of an upload as "index field message".
func messages(r store.UploadResult) []string {
	out := []string{}
	for _, e := range r.Errors {
		out = append(out, fmt.Sprintf("%d %s %s", e.Index, e.FieldName, e.Message))
	}
	return out
}

// captioned are rows with a caption and a doc each.
func captioned(paths ...string) []store.UploadRow {
	out := make([]store.UploadRow, len(paths))
	for i, p := range paths {
		out[i] = store.UploadRow{Index: i, Fields: form.Values{"caption": quote(fmt.Sprint("row ", i)), "doc": quote(p)}}
	}
	return out
}

func quote(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func texts(names ...string) []dbtest.ZipEntry {
	var out []dbtest.ZipEntry
	for _, n := range names {
		out = append(out, dbtest.ZipEntry{Name: n, Body: []byte("this is " + n)})
	}
	return out
}
