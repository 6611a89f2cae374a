package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/config"
)

// faultyTemporal lists the same run on a first page, where there is one, and then
// fails. A query that it does not know is refused.
type faultyTemporal struct {
	client.Client

	run     string // the run's id, "" for no first page
	unknown string // what a query must not ask for, "" where all is known
}

func (f faultyTemporal) ListWorkflow(
	_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	switch {
	case f.unknown != "" && strings.Contains(in.GetQuery(), f.unknown):
		return nil, serviceerror.NewInvalidArgument("no such attribute")
	case f.unknown != "":
		return &workflowservice.ListWorkflowExecutionsResponse{}, nil
	case f.run == "" || len(in.GetNextPageToken()) > 0:
		return nil, serviceerror.NewUnavailable("visibility is\ndown")
	}
	return &workflowservice.ListWorkflowExecutionsResponse{
		Executions:    []*workflow.WorkflowExecutionInfo{{Execution: &common.WorkflowExecution{WorkflowId: f.run}}},
		NextPageToken: []byte("2"),
	}, nil
}

// A part that fails in the middle costs the checks that need it, each by its name
// and with the cause. What they had found by then, and what all others find, is
// told, and the command does not end as if all were well.
func TestWhatFailsOnTheWayIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	key := fmt.Sprintf("org/%d/files/x", w.OrgID)
	w.file(w.OrgID, key, nil)
	var out bytes.Buffer
	d := &doctor{
		store: w.Store, config: config.Config{S3: config.S3{Bucket: "away"}},
		objects:    blob.Open(blob.Config{Endpoint: "http://127.0.0.1:1", Region: "r", Bucket: "away", AccessKeyID: "k", SecretAccessKey: "s"}),
		temporalUp: true, temporal: faultyTemporal{run: fmt.Sprintf("task/%d", w.failed)},
	}
	sick, err := d.deep(t.Context(), &app{out: &out, err: io.Discard}, deepOptions{json: true, files: -1}, nil)
	require.NoError(t, err)
	require.True(t, sick)
	var doc struct {
		Promises []deepFinding `json:"promises"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc), out.String())
	told := map[string]deepFinding{}
	for _, f := range doc.Promises {
		told[f.Name] = f
	}
	const noTemporal = "because Temporal, asked for its open runs, failed: visibility is down; "
	for name, c := range map[string]struct {
		verdict verdict
		advice  string
	}{
		"node-summary":    {fine, ""},
		"runs-end":        {failure, noTemporal},
		"runs-have-tasks": {skipped, noTemporal},
		"runs-work":       {failure, noTemporal},
		"files-there":     {skipped, "because the object store, which did not show 1 of 1 objects, " + key + " first, failed: connection refused; "},
		"files-whole":     {skipped, "because the object store, which did not show 1 of 1 objects, " + key + " first, failed: connection refused; "},
		"no-orphans":      {skipped, "because the object store, asked what is in it, failed: connection refused; "},
	} {
		require.Equal(t, c.verdict, told[name].Verdict, "%s: %+v", name, told[name])
		require.Contains(t, told[name].Advice, c.advice, name)
	}
	require.Equal(t, []string{fmt.Sprintf("task %d has ended, its run task/%d is open", w.failed, w.failed)}, told["runs-end"].Violations)
	require.Equal(t, fmt.Sprintf("taskloom repair run --task %d --apply", w.failed), told["runs-end"].Heal)
}

// Nothing found and not everything seen is no health.
func TestWhatIsNotSeenIsNotWell(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	for name, c := range map[string]struct {
		temporal client.Client
		sick     bool
	}{
		"at once":                 {faultyTemporal{}, true},
		"an older Temporal":       {faultyTemporal{unknown: "TemporalReportedProblems"}, false},
		"no Temporal from before": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			d := &doctor{store: w.Store, temporal: c.temporal, temporalUp: c.temporal != nil}
			sick, err := d.deep(t.Context(), &app{out: &out, err: io.Discard}, deepOptions{}, nil)
			require.NoError(t, err)
			require.Equal(t, c.sick, sick, out.String())
			require.NotContains(t, out.String(), "FAIL")
			require.Contains(t, section(t, out.String(), "runs-work"), "skip  runs-work: ")
		})
	}
}

// Who ends the command is told that, and not that a part is away.
func TestADoctorThatIsSentAwayStops(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	d := &doctor{store: w.Store, temporal: sendsAway{cancel: cancel}, temporalUp: true}
	_, err := d.deep(ctx, &app{out: &out, err: io.Discard}, deepOptions{}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, out.String(), "runs-end")
}

// sendsAway ends the command when it is asked.
type sendsAway struct {
	client.Client

	cancel context.CancelFunc
}

func (s sendsAway) ListWorkflow(
	ctx context.Context, _ *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.cancel()
	return nil, ctx.Err()
}
