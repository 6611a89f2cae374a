package workflows_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/pipeline"
	taskworker "github.com/taskloom/taskloom/worker"
	"github.com/taskloom/taskloom/workflows"
)

var record = flag.Bool("record", false, "record histories into testdata/replay; needs TEMPORAL_ADDRESS")

// recorder is a client for recording; without -record there is nothing to do.
func recorder(t *testing.T) client.Client {
	t.Helper()
	if !*record {
		t.Skip("records only when asked to with -record")
	}
	// Without the cache every workflow task is a replay already.
	worker.SetStickyWorkflowCacheSize(0)
	c, err := client.Dial(client.Options{
		HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE"), Identity: "recorder",
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, taskworker.EnsureSearchAttributes(t.Context(), c, os.Getenv("TEMPORAL_NAMESPACE"), slog.Default()))
	return c
}

// unrecorded is the file of a scenario that has none yet.
func unrecorded(t *testing.T, scenario string) string {
	t.Helper()
	file := filepath.Join(replayDir, scenario)
	if old, err := filepath.Glob(file + "*"); err != nil || len(old) > 0 {
		t.Skipf("recorded already: %v", old)
	}
	return file
}

// TestRecordHistories plays the scenarios on a real Temporal and writes their
// histories for TestRecordedRunsReplay. Run it on the code that is released,
// not on the change under test, or the replay proves nothing:
//
//	bin/taskloom-dev exec -- go test ./workflows -run TestRecordHistories -record
//
// It writes only files that are not there yet.
func TestRecordHistories(t *testing.T) {
	c := recorder(t)
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			file := unrecorded(t, s.name)
			p := newPlayer(t, c, s)
			s.play(p)
			p.record(file)
		})
	}
}

// player plays a scenario on a real server, in real time.
type player struct {
	*fakeStore
	t     *testing.T
	c     client.Client
	queue string
	runs  []string
}

func newPlayer(t *testing.T, c client.Client, s scenario) *player {
	t.Helper()
	p := &player{fakeStore: newFakeStore(t, s.definition), t: t, c: c, queue: fmt.Sprintf("record-%s-%d", s.name, time.Now().UnixNano())}
	w := worker.New(c, p.queue, worker.Options{Identity: "recorder"})
	w.RegisterWorkflow(workflows.TaskWorkflow)
	w.RegisterActivity(&activities.Tasks{Store: p.fakeStore})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return p
}

func (p *player) options() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: workflows.TaskID(taskID), TaskQueue: p.queue, StaticSummary: workflows.TaskSummary(taskID, 42, "Math check"),
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
}

func (p *player) start() {
	p.t.Helper()
	r, err := p.c.ExecuteWorkflow(p.t.Context(), p.options(), workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
	require.NoError(p.t, err)
	p.ran(r)
	p.until(func() bool { return p.called("LoadTask") > 0 })
}

func (p *player) ran(r client.WorkflowRun) {
	if n := len(p.runs); n == 0 || p.runs[n-1] != r.GetRunID() {
		p.runs = append(p.runs, r.GetRunID())
	}
}

func (p *player) tell(events ...pipeline.Event) {
	p.t.Helper()
	for _, e := range events {
		r, err := p.c.SignalWithStartWorkflow(p.t.Context(), workflows.TaskID(taskID), workflows.SignalFor(e.Kind),
			activities.Wire(e), p.options(), workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
		require.NoError(p.t, err)
		p.ran(r)
	}
}

// settled waits until everything in the journal is applied.
func (p *player) settled() {
	p.t.Helper()
	p.until(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.applied.Seq == int64(len(p.journal))
	})
}

// then delivers events and waits until they are applied.
func (p *player) then(events ...pipeline.Event) {
	p.t.Helper()
	p.tell(events...)
	p.settled()
}

func (p *player) until(done func() bool) {
	p.t.Helper()
	require.Eventually(p.t, done, time.Minute, 10*time.Millisecond)
}

// closed waits for the end of the last run.
func (p *player) closed() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	_ = p.c.GetWorkflow(ctx, workflows.TaskID(taskID), "").Get(ctx, nil) // how it ended is in the history
	require.NoError(p.t, ctx.Err())
}

func (p *player) record(file string) {
	p.t.Helper()
	p.closed()
	for i, run := range p.runs {
		var h history.History
		events := p.c.GetWorkflowHistory(p.t.Context(), workflows.TaskID(taskID), run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			require.NoError(p.t, err)
			h.Events = append(h.Events, e)
		}
		name := file
		if len(p.runs) > 1 {
			name = fmt.Sprintf("%s-%d", file, i+1)
		}
		write(p.t, name, &h)
	}
}

// longHistory is when a recording is compressed.
const longHistory = 1000

func write(t *testing.T, name string, h *history.History) {
	t.Helper()
	raw, err := protojson.Marshal(h)
	require.NoError(t, err)
	var doc bytes.Buffer
	require.NoError(t, json.Indent(&doc, raw, "", " ")) // protojson's own spacing changes on purpose
	doc.WriteByte('\n')
	host, err := os.Hostname()
	require.NoError(t, err)
	text := strings.ReplaceAll(doc.String(), host, "recorder")
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
	if len(h.GetEvents()) < longHistory {
		require.NoError(t, os.WriteFile(name+".json", []byte(text), 0o600))
		return
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(name+".json.gz", packed.Bytes(), 0o600))
}
