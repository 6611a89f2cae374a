package worker

import (
	"context"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Reach asks whether Temporal is there and takes runs in the namespace. A server
// that is well, and does not know us there, is as good as none.
func Reach(ctx context.Context, c client.Client, namespace string) error {
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("ask Temporal for its health: %w", err)
	}
	return ReachNamespace(ctx, c, namespace)
}

// ReachNamespace asks whether there is the namespace, and runs may start in it.
func ReachNamespace(ctx context.Context, c client.Client, namespace string) error {
	is, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("ask Temporal for the namespace %s: %w", namespace, err)
	}
	switch state := is.GetNamespaceInfo().GetState(); state {
	case enums.NAMESPACE_STATE_DEPRECATED, enums.NAMESPACE_STATE_DELETED:
		return fmt.Errorf("no run can start in the Temporal namespace %s: it is %s", namespace, state)
	case enums.NAMESPACE_STATE_REGISTERED, enums.NAMESPACE_STATE_UNSPECIFIED:
	}
	return nil
}
