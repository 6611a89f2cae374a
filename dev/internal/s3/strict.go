package s3

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	aws "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// strict is the posix backend, save that it refuses a body that ends before its
// declared length. The plain backend takes the end of a cut connection for the
// end of the object and publishes what has arrived so far. And it sends what it
// has stored on its way to the disk.
type strict struct {
	*posix.Posix
}

// PutObject stores an object whole or not at all.
func (s strict) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	in.Body = exactly(in.Body, in.ContentLength)
	out, err := s.Posix.PutObject(ctx, in)
	if err == nil && in.Bucket != nil && in.Key != nil {
		toDisk(filepath.Join(*in.Bucket, *in.Key))
	}
	return out, err
}

// UploadPart stores a part whole or not at all.
func (s strict) UploadPart(ctx context.Context, in *aws.UploadPartInput) (*aws.UploadPartOutput, error) {
	whole := *in
	whole.Body = exactly(in.Body, in.ContentLength)
	return s.Posix.UploadPart(ctx, &whole)
}

// exactly wraps a body of known length.
func exactly(body io.Reader, length *int64) io.Reader {
	if body == nil || length == nil {
		return body
	}
	return &exact{from: body, left: *length}
}

// exact turns an early end into an error. It must be an S3 error: the backend's
// hashing reader takes io.ErrUnexpectedEOF for an ordinary end.
type exact struct {
	from io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		err = s3err.GetAPIError(s3err.ErrIncompleteBody)
	}
	return n, err
}
