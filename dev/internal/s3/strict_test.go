package s3

import (
	"bytes"
	"os"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/s3response"
)

// TestAPartIsWhereItIsSought asserts that what is sent on its way to the disk is
// where the backend keeps it: it tells nobody, and another version of it may
// keep parts elsewhere.
func TestAPartIsWhereItIsSought(t *testing.T) { //nolint:paralleltest // the backend changes the working directory
	c := Config{Dir: t.TempDir()}
	t.Chdir(c.Dir)
	backend, err := c.backend()
	require.NoError(t, err)
	s := strict{backend}
	bucket, key, body := "files", "some/where/a.png", []byte("part")
	require.NoError(t, os.Mkdir(bucket, 0o700))
	ctx := t.Context()
	up, err := s.CreateMultipartUpload(ctx, s3response.CreateMultipartUploadInput{Bucket: &bucket, Key: &key})
	require.NoError(t, err)
	length, number := int64(len(body)), int32(3)
	_, err = s.UploadPart(ctx, &aws.UploadPartInput{
		Bucket: &bucket, Key: &key, UploadId: &up.UploadId, PartNumber: &number, ContentLength: &length, Body: bytes.NewReader(body),
	})
	require.NoError(t, err)
	got, err := os.ReadFile(partPath(bucket, key, up.UploadId, number))
	require.NoError(t, err)
	require.Equal(t, body, got)
}
