package workflows_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

// TestRecordUploadHistories is TestRecordHistories for uploads.
func TestRecordUploadHistories(t *testing.T) {
	c := recorder(t)
	for _, s := range uploadScenarios() {
		t.Run(s.name, func(t *testing.T) {
			file := unrecorded(t, s.name)
			p := newLoader(t, c, s.name)
			s.play(p)
			p.record(file)
		})
	}
}

// uploadScenario is an upload's life that is recorded.
type uploadScenario struct {
	name string
	play func(*loader)
}

func uploadScenarios() []uploadScenario {
	outage := temporal.NewApplicationErrorWithOptions("away", string(fault.Unavailable),
		temporal.ApplicationErrorOptions{NextRetryDelay: 50 * time.Millisecond})
	return []uploadScenario{
		{"upload-done", func(p *loader) { p.start() }},
		{"upload-refused", func(p *loader) {
			p.is = activities.UploadProgress{Over: true, Status: store.UploadFailed, Reason: store.UploadArchive}
			p.start()
		}},
		{"upload-cancelled", func(p *loader) {
			p.hang("IngestRows")
			p.start()
			p.until(func() bool { return p.called("IngestRows") > 0 })
			p.cancel()
		}},
		{"upload-cancelled-at-once", func(p *loader) { p.cancel() }}, // a run that its cancellation starts
		{"upload-cancelled-twice", func(p *loader) {
			p.hang("InspectArchive")
			p.start()
			p.until(func() bool { return p.called("InspectArchive") > 0 })
			p.cancel()
			p.cancel()
		}},
		{"upload-operator", func(p *loader) {
			p.hang("IngestRows")
			p.start()
			p.until(func() bool { return p.called("IngestRows") > 0 })
			require.NoError(p.t, p.c.CancelWorkflow(p.t.Context(), p.options().ID, ""))
		}},
		{"upload-outage", func(p *loader) {
			tries := 0
			p.fail = func(context.Context, string) error {
				p.mu.Lock()
				defer p.mu.Unlock()
				if tries++; tries%4 != 0 {
					return outage
				}
				return nil
			}
			p.start()
		}},
		{"upload-broken", func(p *loader) {
			p.fail = func(_ context.Context, call string) error {
				if call != "IngestRows" {
					return nil
				}
				return temporal.NewNonRetryableApplicationError("the step failed", string(fault.Validation), nil)
			}
			p.start()
		}},
		{"sweep", func(p *loader) {
			r, err := p.c.ExecuteWorkflow(p.t.Context(), p.options(), workflows.SweepUploads)
			require.NoError(p.t, err)
			p.run = r
		}},
	}
}

// loader plays a scenario on a real server.
type loader struct {
	*fakeIngest
	t     *testing.T
	c     client.Client
	queue string
	id    string
	run   client.WorkflowRun
}

func newLoader(t *testing.T, c client.Client, name string) *loader {
	t.Helper()
	p := &loader{
		fakeIngest: newFakeIngest(), t: t, c: c, queue: fmt.Sprintf("record-%s-%d", name, time.Now().UnixNano()), id: uuid.NewString(),
	}
	w := worker.New(c, p.queue, worker.Options{Identity: "recorder", MaxHeartbeatThrottleInterval: 100 * time.Millisecond})
	w.RegisterWorkflow(workflows.UploadWorkflow)
	w.RegisterWorkflow(workflows.SweepUploads)
	for name, f := range p.registered() {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return p
}

func (p *loader) options() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: workflows.UploadRunID(p.id), TaskQueue: p.queue, StaticSummary: workflows.UploadSummary(p.id, 42, "Math check"),
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
}

func (p *loader) start() {
	p.t.Helper()
	r, err := p.c.ExecuteWorkflow(p.t.Context(), p.options(), workflows.UploadWorkflow, workflows.UploadInput{UploadID: p.id})
	require.NoError(p.t, err)
	p.run = r
}

func (p *loader) cancel() {
	p.t.Helper()
	r, err := p.c.SignalWithStartWorkflow(p.t.Context(), p.options().ID, workflows.CancelSignal, nil, p.options(),
		workflows.UploadWorkflow, workflows.UploadInput{UploadID: p.id})
	require.NoError(p.t, err)
	p.run = r
}

// hang makes a call work until it is called off.
func (p *loader) hang(call string) {
	p.fail = func(ctx context.Context, name string) error {
		for name == call && ctx.Err() == nil {
			activity.RecordHeartbeat(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
		return ctx.Err()
	}
}

func (p *loader) until(done func() bool) {
	p.t.Helper()
	require.Eventually(p.t, done, time.Minute, 10*time.Millisecond)
}

func (p *loader) record(file string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	_ = p.run.Get(ctx, nil) // how it ended is in the history
	require.NoError(p.t, ctx.Err())
	var h history.History
	events := p.c.GetWorkflowHistory(p.t.Context(), p.run.GetID(), p.run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(p.t, err)
		h.Events = append(h.Events, e)
	}
	write(p.t, file, &h)
}
