package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Plain clients of the three parts, as the product has them.

func temporalClient(t *testing.T, env map[string]string) workflowservice.WorkflowServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(env["TEMPORAL_ADDRESS"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return workflowservice.NewWorkflowServiceClient(conn)
}

func tryWorkflow(ctx context.Context, client workflowservice.WorkflowServiceClient, id string) error {
	_, err := client.StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
		Namespace: "default", WorkflowId: id, RequestId: id,
		WorkflowType: &commonpb.WorkflowType{Name: "Any"},
		TaskQueue:    &taskqueuepb.TaskQueue{Name: "nobody-polls"},
	})
	return err
}

func startWorkflow(t *testing.T, env map[string]string, id string) {
	t.Helper()
	client := temporalClient(t, env)
	require.NoError(t, tryWorkflow(t.Context(), client, id))
}

func workflowRuns(t *testing.T, env map[string]string, id string) bool {
	t.Helper()
	res, err := temporalClient(t, env).DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: "default", Execution: &commonpb.WorkflowExecution{WorkflowId: id},
	})
	require.NoError(t, err)
	return res.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

func s3Client(env map[string]string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(env["S3_ENDPOINT"]), Region: env["S3_REGION"], UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(env["S3_ACCESS_KEY_ID"], env["S3_SECRET_ACCESS_KEY"], ""),
	})
}

func putObject(t *testing.T, env map[string]string, key, text string) {
	t.Helper()
	_, err := s3Client(env).PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(env["S3_BUCKET"]), Key: &key, Body: strings.NewReader(text),
	})
	require.NoError(t, err)
}

func getObject(t *testing.T, env map[string]string, key string) string {
	t.Helper()
	res, err := s3Client(env).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(env["S3_BUCKET"]), Key: &key})
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(text)
}

// get asks for a page that must be there.
func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	return string(body)
}
