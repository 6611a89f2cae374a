package workflows_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/workflows"
)

const uploadID = "0198c0de-0000-7000-8000-000000000001"

// fakeIngest stands for the activities of an upload: rows are done in steps.
type fakeIngest struct {
	mu    sync.Mutex
	calls []string
	// is grows by step with every call of IngestRows.
	is   activities.UploadProgress
	step int
	// fail, when set, answers a call in place of the activity.
	fail func(ctx context.Context, call string) error
	// ended is how the upload ended.
	ended activities.FinishUploadInput
}

func newFakeIngest() *fakeIngest {
	return &fakeIngest{step: 4, is: activities.UploadProgress{
		Status: store.UploadProcessing, RowsTotal: 10, BytesTotal: 1000,
	}}
}

func (f *fakeIngest) begin(ctx context.Context, call string) error {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	fail := f.fail
	f.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(ctx, call)
}

func (f *fakeIngest) InspectArchive(ctx context.Context, _ activities.UploadRef) (activities.UploadProgress, error) {
	err := f.begin(ctx, "InspectArchive")
	return f.progress(), err
}

func (f *fakeIngest) IngestRows(ctx context.Context, _ activities.UploadRef) (activities.UploadProgress, error) {
	if err := f.begin(ctx, "IngestRows"); err != nil {
		return activities.UploadProgress{}, err
	}
	f.mu.Lock()
	f.is.RowsDone = min(f.is.RowsTotal, f.is.RowsDone+f.step)
	f.is.Created, f.is.BytesDone = f.is.RowsDone, int64(f.is.RowsDone)*100
	f.is.Done = f.is.RowsDone == f.is.RowsTotal
	f.mu.Unlock()
	return f.progress(), nil
}

func (f *fakeIngest) FinishUpload(ctx context.Context, in activities.FinishUploadInput) (activities.FinishUploadResult, error) {
	if err := f.begin(ctx, "FinishUpload"); err != nil {
		return activities.FinishUploadResult{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = in
	out := activities.FinishUploadResult{Status: store.UploadCompleted, Reason: in.Reason, Created: f.is.Created, Failed: f.is.Failed}
	switch in.Reason {
	case store.UploadStopped, store.UploadOperator:
		out.Status = store.UploadCancelled
	case store.UploadTimeout, store.UploadArchive:
		out.Status = store.UploadFailed
	}
	return out, nil
}

func (f *fakeIngest) SweepUploads(ctx context.Context) (activities.SweepResult, error) {
	return activities.SweepResult{Expired: 1, Swept: 2, Rung: 3}, f.begin(ctx, "SweepUploads")
}

func (f *fakeIngest) progress() activities.UploadProgress {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.is
}

func (f *fakeIngest) called(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Count(strings.Join(f.calls, " ")+" ", name+" ")
}

// dock is the run of one upload in the test environment, whose clock jumps.
type dock struct {
	*fakeIngest
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment
}

func newDock(t *testing.T) *dock {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	d := &dock{fakeIngest: newFakeIngest(), t: t, env: s.NewTestWorkflowEnvironment()}
	d.env.SetTestTimeout(time.Minute)
	for name, f := range d.registered() {
		d.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return d
}

func (f *fakeIngest) registered() map[string]any {
	return map[string]any{
		"InspectArchive": f.InspectArchive, "IngestRows": f.IngestRows, "FinishUpload": f.FinishUpload, "SweepUploads": f.SweepUploads,
	}
}

func (d *dock) run() (out workflows.UploadResult, err error) {
	d.t.Helper()
	d.env.ExecuteWorkflow(workflows.UploadWorkflow, workflows.UploadInput{UploadID: uploadID})
	require.True(d.t, d.env.IsWorkflowCompleted(), "the run hangs")
	if err := d.env.GetWorkflowError(); err != nil {
		return out, err
	}
	err = d.env.GetWorkflowResult(&out)
	return out, err
}

func (d *dock) view() workflows.UploadView {
	d.t.Helper()
	v, err := d.env.QueryWorkflow(workflows.StateQuery)
	require.NoError(d.t, err)
	var out workflows.UploadView
	require.NoError(d.t, v.Get(&out))
	return out
}

// anyArgs are a context and an input.
func anyArgs() []any { return []any{mock.Anything, mock.Anything} }

func TestAnUploadIsUnpackedStepByStep(t *testing.T) {
	d := newDock(t)
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, workflows.UploadResult{Status: store.UploadCompleted, Created: 10}, got)
	require.Equal(t, []string{"InspectArchive", "IngestRows", "IngestRows", "IngestRows", "FinishUpload"}, d.calls)
	require.Empty(t, d.ended.Reason, "the counts decide")
	require.Equal(t, uploadID, d.ended.UploadID)
	require.Equal(t, workflows.UploadView{
		Phase: "finishing", Status: store.UploadProcessing, RowsTotal: 10, RowsDone: 10, Created: 10, BytesTotal: 1000, BytesDone: 1000,
	}, d.view())
}

func TestARefusedArchiveEndsTheRun(t *testing.T) {
	d := newDock(t)
	d.is = activities.UploadProgress{Over: true, Status: store.UploadFailed, Reason: store.UploadArchive}
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, workflows.UploadResult{Status: store.UploadFailed, Reason: store.UploadArchive}, got)
	require.Equal(t, []string{"InspectArchive"}, d.calls, "the activity has ended it, with the message")
}

func TestAnUploadThatEndedMeanwhileEndsTheRun(t *testing.T) {
	d := newDock(t)
	d.fail = func(_ context.Context, call string) error {
		if call == "IngestRows" {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.is.Over, d.is.Status, d.is.Reason = true, store.UploadCancelled, store.UploadStopped
		}
		return nil
	}
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, store.UploadCancelled, got.Status)
	require.Zero(t, d.called("FinishUpload"))
}

func TestAStepIsRepeatedForAsLongAsItTakes(t *testing.T) {
	d := newDock(t)
	tries := 0
	d.fail = func(_ context.Context, call string) error {
		// The test environment gives up after ten attempts, a server does not.
		if tries++; tries%10 != 0 && call != "FinishUpload" {
			return temporal.NewApplicationError("the object store is away", string(fault.Unavailable))
		}
		return nil
	}
	start := d.env.Now()
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Equal(t, 30, d.called("IngestRows"))
	require.Less(t, d.env.Now().Sub(start), 15*time.Minute, "at most half a minute between two tries")
}

func TestCancellingAnUpload(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(*dock)
		reason string
	}{
		"by its signal":   {func(d *dock) { d.env.SignalWorkflow(workflows.CancelSignal, nil) }, store.UploadStopped},
		"by an operator":  {func(d *dock) { d.env.CancelWorkflow() }, store.UploadOperator},
		"by both at once": {func(d *dock) { d.env.SignalWorkflow(workflows.CancelSignal, nil); d.env.CancelWorkflow() }, store.UploadStopped},
	} {
		for _, call := range []string{"InspectArchive", "IngestRows"} {
			t.Run(name+" in "+call, func(t *testing.T) {
				d := newDock(t)
				d.env.OnActivity(call, anyArgs()...).After(time.Hour).Return(activities.UploadProgress{}, nil)
				d.env.RegisterDelayedCallback(func() { c.do(d) }, time.Minute)
				got, err := d.run()
				if c.reason == store.UploadOperator {
					require.ErrorContains(t, err, "canceled")
				} else {
					require.NoError(t, err)
					require.Equal(t, store.UploadCancelled, got.Status)
				}
				require.Equal(t, c.reason, d.ended.Reason)
				require.Equal(t, 1, d.called("FinishUpload"))
			})
		}
	}
}

func TestACancelBeforeTheFirstStep(t *testing.T) {
	d := newDock(t)
	d.env.RegisterDelayedCallback(func() { d.env.SignalWorkflow(workflows.CancelSignal, nil) }, 0)
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, store.UploadCancelled, got.Status)
	require.Zero(t, d.called("IngestRows"))
}

func TestAnUploadThatTakesADayFails(t *testing.T) {
	d := newDock(t)
	d.env.OnActivity("IngestRows", anyArgs()...).After(30*time.Hour).Return(activities.UploadProgress{}, nil)
	start := d.env.Now()
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, workflows.UploadResult{Status: store.UploadFailed, Reason: store.UploadTimeout}, got)
	require.InDelta(t, 24*time.Hour, d.env.Now().Sub(start), float64(time.Hour))
}

func TestWhatTimeCannotCureEndsTheUpload(t *testing.T) {
	d := newDock(t)
	d.fail = func(_ context.Context, call string) error {
		if call == "IngestRows" {
			return temporal.NewNonRetryableApplicationError("the step failed", string(fault.Validation), nil)
		}
		return nil
	}
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, workflows.UploadResult{Status: store.UploadFailed, Reason: store.UploadArchive}, got)
	require.Equal(t, 1, d.called("IngestRows"))
}

func TestARunWithoutItsUploadFails(t *testing.T) {
	d := newDock(t)
	d.fail = func(context.Context, string) error {
		return temporal.NewNonRetryableApplicationError("there is no such upload", string(fault.NotFound), nil)
	}
	_, err := d.run()
	require.ErrorContains(t, err, "there is no such upload")
	require.Equal(t, []string{"InspectArchive", "FinishUpload"}, d.calls)
}

func TestTheEndIsWrittenWhenPostgresIsBack(t *testing.T) {
	d := newDock(t)
	down := 5
	d.fail = func(_ context.Context, call string) error {
		if call == "FinishUpload" {
			if down--; down >= 0 {
				return temporal.NewApplicationError("the database is away", string(fault.Unavailable))
			}
		}
		return nil
	}
	got, err := d.run()
	require.NoError(t, err)
	require.Equal(t, store.UploadCompleted, got.Status)
}

func TestTheStateOfAnUploadCanBeAsked(t *testing.T) {
	d := newDock(t)
	d.env.OnActivity("IngestRows", anyArgs()...).After(time.Hour).Return(
		activities.UploadProgress{Done: true, Status: store.UploadProcessing, RowsDone: 10, RowsTotal: 10}, nil)
	asked := false
	d.env.RegisterDelayedCallback(func() {
		asked = true
		v := d.view()
		require.Equal(t, "ingesting", v.Phase)
		require.Equal(t, 10, v.RowsTotal)
	}, time.Minute)
	_, err := d.run()
	require.NoError(t, err)
	require.True(t, asked)
}

func TestASweepIsOneActivity(t *testing.T) {
	d := newDock(t)
	d.env.ExecuteWorkflow(workflows.SweepUploads)
	require.NoError(t, d.env.GetWorkflowError())
	var got activities.SweepResult
	require.NoError(t, d.env.GetWorkflowResult(&got))
	require.Equal(t, activities.SweepResult{Expired: 1, Swept: 2, Rung: 3}, got)
}

// An attempt that hands the rest to the next one is no failure: none is one too many.
func TestASweepTakesAsManyAttemptsAsItNeeds(t *testing.T) {
	d := newDock(t)
	d.fail = func(context.Context, string) error {
		if d.called("SweepUploads") < 8 {
			return temporal.NewApplicationError("the sweep goes on where it was", "unfinished")
		}
		return nil
	}
	d.env.ExecuteWorkflow(workflows.SweepUploads)
	require.NoError(t, d.env.GetWorkflowError())
	require.Equal(t, 8, d.called("SweepUploads"))
}

func TestNamesOfUploads(t *testing.T) {
	require.Equal(t, "upload/"+uploadID, workflows.UploadRunID(uploadID))
	require.Equal(t, "upload "+uploadID+" · pipeline 42 · Math check", workflows.UploadSummary(uploadID, 42, "Math \n check"))
	require.LessOrEqual(t, len(workflows.UploadSummary(uploadID, 42, strings.Repeat("ü", 500))), 400)
}
