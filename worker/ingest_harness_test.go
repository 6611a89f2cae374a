package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// bucket is the real object store; endpoint, when given, is a way to it.
func bucket(t testing.TB, endpoint ...string) activities.Bucket {
	t.Helper()
	c := blob.Config{
		Endpoint: os.Getenv("S3_ENDPOINT"), Region: os.Getenv("S3_REGION"), Bucket: os.Getenv("S3_BUCKET"),
		AccessKeyID: os.Getenv("S3_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("S3_SECRET_ACCESS_KEY"),
	}
	require.NotEmpty(t, c.Bucket, "this test needs an object store: run `make test`, or set the S3_ variables")
	for _, e := range endpoint {
		c.Endpoint = e
	}
	return activities.Bucket{Store: blob.Open(c)}
}

// gate stands between the worker and its object store.
type gate struct {
	activities.Objects

	mu sync.Mutex
	// pass is asked before each file is stored.
	pass func(ctx context.Context, n int) error
	puts int
}

func (g *gate) Put(ctx context.Context, key, contentType string, size int64, body io.Reader) (string, error) {
	g.mu.Lock()
	g.puts++
	n, pass := g.puts, g.pass
	g.mu.Unlock()
	if pass != nil {
		if err := pass(ctx, n); err != nil {
			return "", err
		}
	}
	return g.Objects.Put(ctx, key, contentType, size, body)
}

// openIngest is open with an object store, for a pipeline with files.
func openIngest(t *testing.T, objects activities.Objects, opts ...dbtest.Option) *floor {
	t.Helper()
	f := prepareIngest(t, objects, opts...)
	f.start()
	t.Cleanup(func() { f.stop() })
	return f
}

func prepareIngest(t *testing.T, objects activities.Objects, opts ...dbtest.Option) *floor {
	t.Helper()
	f := prepare(t, append([]dbtest.Option{dbtest.WithDefinition(lazily(dbtest.FileDefinition()))}, opts...)...)
	f.objects = objects
	t.Cleanup(func() { // others use that Temporal, too
		_ = f.c.ScheduleClient().GetHandle(context.WithoutCancel(t.Context()), f.schedule()).Delete(context.WithoutCancel(t.Context()))
	})
	return f
}

// lazily keeps the runs of tasks out of what uploads are tested with.
func lazily(d pipeline.Definition) pipeline.Definition {
	d.Runs = pipeline.RunsOnFirstClaim
	return d
}

func (f *floor) schedule() string { return workflows.SweepSchedule + "-" + f.ingest }

// upload puts an archive and confirms it.
func (f *floor) upload(raw []byte, rows ...store.UploadRow) store.Upload {
	f.t.Helper()
	b := bucket(f.t)
	key := fmt.Sprintf("org/%d/uploads/%s.zip", f.OrgID, uuid.NewString())
	_, err := b.Put(f.t.Context(), key, "application/zip", int64(len(raw)), bytes.NewReader(raw))
	require.NoError(f.t, err)
	o, err := b.Head(f.t.Context(), key)
	require.NoError(f.t, err)
	return f.AddUpload(f.t, key, o.Size, o.ETag, rows...)
}

// ends waits for the end of an upload and checks that its counts are right.
func (f *floor) ends(u store.Upload) (store.Upload, store.UploadResult) {
	f.t.Helper()
	f.until("the end of the upload", func() bool {
		got, _ := f.LoadUpload(f.t, u.ID)
		return got.Ended()
	})
	got, result := f.LoadUpload(f.t, u.ID)
	require.Equal(f.t, got.RowsDone, got.SuccessCount+got.ErrorCount)
	require.Len(f.t, result.TaskIDs, got.SuccessCount)
	seen := map[int64]bool{}
	for _, id := range result.TaskIDs {
		require.False(f.t, seen[id], "task %d is there twice", id)
		seen[id] = true
	}
	var tasks int
	require.NoError(f.t, f.Store.Pool().QueryRow(f.t.Context(), `SELECT count(*) FROM tasks`).Scan(&tasks))
	require.Equal(f.t, got.SuccessCount, tasks, "no task is made twice")
	return got, result
}

func (f *floor) describeUpload(id uuid.UUID) *workflowservice.DescribeWorkflowExecutionResponse {
	f.t.Helper()
	d, err := f.c.DescribeWorkflowExecution(f.t.Context(), workflows.UploadRunID(id.String()), "")
	if err != nil {
		return nil
	}
	return d
}

// manyFiles are n small files with a row each.
func manyFiles(t *testing.T, n int) ([]byte, []store.UploadRow) {
	t.Helper()
	var entries []dbtest.ZipEntry
	var rows []store.UploadRow
	for i := range n {
		name := fmt.Sprintf("files/%05d.txt", i)
		entries = append(entries, dbtest.ZipEntry{Name: name, Body: fmt.Appendf(nil, "this is file %d", i)})
		rows = append(rows, uploadRow(i, name))
	}
	return dbtest.Zip(t, entries...), rows
}

func uploadRow(i int, path string) store.UploadRow {
	caption, _ := json.Marshal(fmt.Sprint("row ", i)) // never fails
	doc, _ := json.Marshal(path)
	return store.UploadRow{Index: i, Fields: form.Values{"caption": caption, "doc": doc}}
}

// proxy is a way to the object store that can be cut.
type proxy struct {
	t  *testing.T
	to string
	l  net.Listener

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	to, err := url.Parse(os.Getenv("S3_ENDPOINT"))
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{t: t, to: to.Host, l: l, conns: map[net.Conn]bool{}}
	go p.serve()
	t.Cleanup(func() { _ = l.Close(); p.set(true) })
	return p
}

func (p *proxy) url() string { return "http://" + p.l.Addr().String() }

func (p *proxy) serve() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", p.to)
		if err != nil || !p.keep(c, there) {
			_ = c.Close()
			continue
		}
		go p.copy(c, there)
		go p.copy(there, c)
	}
}

func (p *proxy) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.cut {
			_ = c.Close()
		}
		p.conns[c] = true
	}
	return !p.cut
}

// set cuts the way and everything on it, or opens it again.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	if cut {
		for c := range p.conns {
			_ = c.Close()
		}
		clear(p.conns)
	}
}
