package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// Namespace is the one namespace that the product uses.
	Namespace = "default"
	// retention is short: what tasks did is in the product's own database,
	// and visibility costs about 20 kB for each run.
	retention = 72 * time.Hour
	// startTime is how long a fresh server may take to answer.
	startTime = 60 * time.Second
)

// prepareNamespace registers the namespace and returns when it can be used.
func prepareNamespace(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("client for the Temporal server: %w", err)
	}
	defer conn.Close()
	frontend := workflowservice.NewWorkflowServiceClient(conn)

	if err := until(ctx, func() error { return register(ctx, frontend) }); err != nil {
		return fmt.Errorf("register the namespace %q: %w", Namespace, err)
	}
	// A query by namespace goes through the server's own cache of namespaces.
	err = until(ctx, func() error {
		_, err := frontend.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: Namespace})
		return err
	})
	if err != nil {
		return fmt.Errorf("use the namespace %q: %w", Namespace, err)
	}
	return nil
}

// register makes the namespace if it is not there.
func register(ctx context.Context, frontend workflowservice.WorkflowServiceClient) error {
	_, err := frontend.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: Namespace})
	if status.Code(err) != codes.NotFound {
		return err
	}
	_, err = frontend.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: Namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	return err
}

// until calls do again and again until it succeeds or ctx ends.
func until(ctx context.Context, do func() error) error {
	poll := time.NewTicker(25 * time.Millisecond)
	defer poll.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}
