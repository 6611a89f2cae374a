package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// sluggish is a Temporal that takes its time to start a run.
type sluggish struct {
	workflowservice.UnimplementedWorkflowServiceServer

	takes time.Duration
}

func (s sluggish) StartWorkflowExecution(ctx context.Context, _ *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	pause(ctx, s.takes)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: uuid.NewString()}, ctx.Err()
}

// TestACallHasTheTimeThatItIsSaidToHave asserts, with the SDK between, that a call
// that takes less than callTimeout succeeds, and that none takes longer: the lease of
// a row is reckoned with that (TestTheTimesOfADeadWorkerAddUp).
func TestACallHasTheTimeThatItIsSaidToHave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		fails bool
	}{
		"slow": {callTimeout * 9 / 10, false},
		"away": {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				temporal := served(t, sluggish{takes: c.takes})
				untilAnswered(temporal)
				d := deliverer{runs: temporal, queue: "queue", signals: bucket(500)}
				lane := uploadLane{runs: temporal, queue: "queue"}
				for _, call := range []func() error{
					func() error { _, err := d.row(t.Context(), row(1, 1, pipeline.EventCreate)); return err },
					func() error { return lane.deliver(t.Context(), store.UploadRing{ID: uuid.New()}) },
				} {
					began := time.Now()
					err := call()
					took := time.Since(began)
					require.Equal(t, c.fails, err != nil, "%v after %v", err, took)
					require.Equal(t, min(c.takes, callTimeout), took.Round(100*time.Millisecond))
				}
			})
		})
	}
}
