package workflows_test

import (
	"slices"
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

// A journal with a hole in it cannot be gone through. The run stands still until somebody
// has mended it, and does not ask for the missing event over and over.
func TestAHoleInTheJournalIsNotAskedForWithoutEnd(t *testing.T) {
	x := newDesk(t, solveAndCheck())
	x.at(time.Minute, func() {
		x.claim("solve", 7)
		later := x.submit("solve", 7)
		x.journal = slices.Delete(x.journal, 1, 2)
		x.tell(later)
	})
	x.env.ExecuteWorkflow(workflows.TaskWorkflow, workflows.TaskInput{TaskID: taskID})
	var failed *temporal.PanicError
	require.ErrorAs(t, x.env.GetWorkflowError(), &failed)
	require.Contains(t, failed.Error(), "has event 3 and not 2 before it")
	require.Equal(t, 1, x.called("LoadEvents"))
	require.Zero(t, x.called("ApplyStep"))
}
