package worker

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/workflows"
)

// direct has TaskWorkflow called as the function that it is. The SDK calls workflows
// by reflection, and what that needs stands on the stack of every run for as long as
// the run waits, which is nearly always. Without it a stack takes 8 KB instead of 16,
// of the 32 that a run in memory took (docs/costs.md, TestARunThatWaitsHasFewCallsOnItsStack).
type direct struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow stands before the call of a run's function.
func (*direct) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &directRun{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type directRun struct {
	interceptor.WorkflowInboundInterceptorBase
}

// ExecuteWorkflow is the last of its kind for TaskWorkflow, whose input no other
// workflow has: no interceptor may stand behind it.
func (r *directRun) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	if len(in.Args) == 1 {
		if input, ok := in.Args[0].(workflows.TaskInput); ok {
			return workflows.TaskWorkflow(ctx, input)
		}
	}
	return r.Next.ExecuteWorkflow(ctx, in)
}
