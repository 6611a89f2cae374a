package worker_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
	"github.com/taskloom/taskloom/workflows"
)

// signals are the names of those in the history of a task's newest run.
func (f *floor) signals(id int64) (names []string) {
	f.t.Helper()
	for _, e := range f.history(workflows.TaskID(id)) {
		if s := e.GetWorkflowExecutionSignaledEventAttributes(); s != nil {
			names = append(names, s.GetSignalName())
		}
	}
	return names
}

// told waits until Temporal has heard of everything.
func (f *floor) told() {
	f.t.Helper()
	f.until("an empty outbox", func() bool {
		s, err := f.Store.OutboxStats(f.t.Context())
		require.NoError(f.t, err)
		return s.Rows == 0
	})
}

// A standby that has not heard of a task takes over, and gives its number to one of
// another pipeline. The run of the lost one is still there.
func TestATaskWithTheNumberOfALostOneIsLedByItsOwnPipeline(t *testing.T) {
	t.Parallel()
	f := open(t, dbtest.WithDefinition(dbtest.Simple()))
	id := f.create(1)[0]
	f.until("the run to have read the task", func() bool {
		var view workflows.TaskView
		v, err := f.c.QueryWorkflow(t.Context(), workflows.TaskID(id), "", workflows.StateQuery)
		return err == nil && v.Get(&view) == nil && view.Seq == 1
	})
	f.told()
	for _, table := range []string{"task_nodes WHERE task_id", "task_events WHERE task_id", "tasks WHERE id"} {
		f.exec(`DELETE FROM `+table+` = $1`, id)
	}
	f.exec(fmt.Sprintf(`ALTER TABLE tasks ALTER COLUMN id RESTART WITH %d`, id))
	f.PipelineID, f.VersionID = f.AddPipeline(t, dbtest.Definition(), store.StatusActive)

	require.Equal(t, []int64{id}, f.create(1))
	f.told()
	require.Equal(t, []string{workflows.ControlSignal}, f.signals(id), "the run is to read what has its number now, also when nobody claims it")
	f.submit(f.claim(f.Contributors[0], pipeline.KindSubtask))
	f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
	f.becomes(id, task.Finished)
	f.told()
}

// The SDK asks for a start again when its answer was lost.
func TestAStartThatIsAskedForAgainIsNoConflict(t *testing.T) {
	t.Parallel()
	f := prepare(t)
	starts := 0
	var err error
	f.c, err = client.NewLazyClient(client.Options{
		HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: namespace(), Logger: sdklog.NewStructuredLogger(quiet()),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, in, out any, cc *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
				err := call(ctx, method, in, out, cc, o...)
				if _, is := in.(*workflowservice.StartWorkflowExecutionRequest); is && err == nil {
					starts++
					err = call(ctx, method, in, out, cc, o...)
				}
				return err
			},
		)}},
	})
	require.NoError(t, err)
	t.Cleanup(f.c.Close)
	f.runs.Client = f.c
	f.start()
	t.Cleanup(func() { f.stop() })
	id := f.create(1)[0]
	f.told()
	require.Equal(t, 1, starts)
	require.Empty(t, f.signals(id))
	f.submit(f.claim(f.Contributors[0], pipeline.KindSubtask))
	f.review(f.claim(f.Reviewers[0], pipeline.KindReview), store.VerdictApprove)
	f.becomes(id, task.Finished)
	f.drained()
}
