package conformance

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/taskloom/taskloom/activities"
	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/store"
)

// bucketOf is the object store of the tests.
func bucketOf(t *testing.T) *blob.Store {
	t.Helper()
	require.NotEmpty(t, os.Getenv("S3_ENDPOINT"), "this test needs an object store: run `make test`, or set S3_ENDPOINT and its kin")
	return blob.Open(blob.Config{
		Endpoint: os.Getenv("S3_ENDPOINT"), Region: os.Getenv("S3_REGION"), Bucket: os.Getenv("S3_BUCKET"),
		AccessKeyID: os.Getenv("S3_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("S3_SECRET_ACCESS_KEY"),
	})
}

// ingest stands in for the worker until the test is over: it takes the steps
// of an upload's run one after the other, without Temporal. Task ids of one
// test's database would meet those of another there.
func ingest(t *testing.T, st *store.Store, bucket *blob.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	uploads := activities.NewUploads(st, activities.Bucket{Store: bucket}, archive.DefaultLimits())
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(uploads)
	step := func(activity, in any, out any) error {
		value, err := env.ExecuteActivity(activity, in)
		if err != nil {
			return err
		}
		return value.Get(out)
	}
	unpack := func(ref activities.UploadRef) error {
		var is activities.UploadProgress
		err := step(uploads.InspectArchive, ref, &is)
		for err == nil && !is.Over && !is.Done {
			err = step(uploads.IngestRows, ref, &is)
		}
		if err != nil || is.Over {
			return err
		}
		var end activities.FinishUploadResult
		return step(uploads.FinishUpload, activities.FinishUploadInput{UploadID: ref.UploadID}, &end)
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			rings, err := st.TakeUploads(ctx, 4)
			if err != nil {
				continue
			}
			for _, ring := range rings {
				if err := unpack(activities.UploadRef{UploadID: ring.ID.String()}); err != nil && ctx.Err() == nil {
					t.Errorf("upload %s: %s", ring.ID, err)
				}
				_ = st.DoneUpload(ctx, ring.ID, ring.Gen)
			}
		}
	}()
}
