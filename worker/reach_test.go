package worker

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// namespaces is a Temporal that is well, and knows one namespace in some state,
// or answers with the error.
type namespaces struct {
	workflowservice.UnimplementedWorkflowServiceServer

	state enums.NamespaceState
	err   error
}

func (n namespaces) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if n.err != nil {
		return nil, serviceerror.ToStatus(n.err).Err()
	}
	return &workflowservice.DescribeNamespaceResponse{NamespaceInfo: &namespace.NamespaceInfo{State: n.state}}, nil
}

// A worker whose namespace is gone says in its heartbeats that it does not reach
// Temporal, however well the server is.
func TestATemporalWithoutOurNamespaceIsNotReached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		is   namespaces
		says string // "": it is reached
	}{
		"registered":    {namespaces{state: enums.NAMESPACE_STATE_REGISTERED}, ""},
		"not there":     {namespaces{err: serviceerror.NewNamespaceNotFound("taskloom")}, "not found"},
		"deleted":       {namespaces{state: enums.NAMESPACE_STATE_DELETED}, "Deleted"},
		"deprecated":    {namespaces{state: enums.NAMESPACE_STATE_DEPRECATED}, "Deprecated"},
		"not for us":    {namespaces{err: serviceerror.NewPermissionDenied("not for you", "")}, "not for you"},
		"not logged in": {namespaces{err: status.Error(codes.Unauthenticated, "who are you")}, "who are you"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				err := reachable(t.Context(), Deps{Client: served(t, c.is), Namespace: "taskloom"})
				if c.says == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.says)
				if c.is.err != nil {
					require.True(t, outage(err), "%v", err)
				}
			})
		})
	}
}

// What Temporal does not know, or does not want, of one row is the row's: the others
// go on.
func TestOneRowIsNoOutage(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		serviceerror.NewNotFound("no such run"), serviceerror.NewInvalidArgument("no"), serviceerror.NewFailedPrecondition("no"),
		serviceerror.NewWorkflowExecutionAlreadyStarted("ended", "", ""), nil,
	} {
		if err != nil {
			err = serviceerror.FromStatus(serviceerror.ToStatus(err)) // as it comes from the server
		}
		require.False(t, outage(err), "%v", err)
	}
	for _, err := range []error{
		serviceerror.NewNamespaceNotActive("taskloom", "here", "there"),
		serviceerror.NewNamespaceInvalidState("taskloom", enums.NAMESPACE_STATE_DELETED, nil),
		serviceerror.NewNamespaceUnavailable("taskloom"),
	} {
		require.True(t, outage(serviceerror.FromStatus(serviceerror.ToStatus(err))), "%v", err)
	}
}
