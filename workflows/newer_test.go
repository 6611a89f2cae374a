package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/workflows"
)

// While versions are mixed an older worker meets events that only a newer one
// knows. Its workflow task fails, so that Temporal gives it to another; had it
// passed over them, what they mean would be lost.
func TestAnEventOfANewerVersionIsNotPassedOver(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		x.tell(x.add(pipeline.Event{Kind: "delegate", Node: "solve", Iteration: 1}), x.claim("solve", 7))
	})
	x.env.ExecuteWorkflow(workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
	var failed *temporal.PanicError
	require.ErrorAs(t, x.env.GetWorkflowError(), &failed)
	require.Contains(t, failed.Error(), `event 2 is of kind "delegate"`)
	require.Zero(t, x.called("ApplyStep"), "neither it nor what comes after it is written")
}
