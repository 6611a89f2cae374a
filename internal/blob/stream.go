package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/taskloom/taskloom/internal/fault"
)

const (
	// reopenings in a row after which a stream gives up.
	reopenings = 3
	// progress is how much a reopened stream must bring to count as mended: a
	// way that breaks every megabyte is slow, but it is a way.
	progress = 64 << 10
	// firstPause is before the first reopening of a store that has given
	// nothing; it doubles.
	firstPause = 100 * time.Millisecond
)

// errRange is for a store that gives other bytes than it was asked for.
var errRange = errors.New("the object store does not honour ranges; it, or a proxy before it, is no S3 store that can be used")

// stream is one stretch of an object. It goes on where the connection broke.
type stream struct {
	reader    *Reader
	off, left int64
	body      io.ReadCloser // nil while it is broken
	stalled   *stallWatch
	failed    error // why it is broken
	broken    int   // breaks in a row
	brought   int64 // bytes since the last one
}

// Stream reads n bytes from off with one request, past the cache. It must be
// closed.
func (r *Reader) Stream(off, n int64) (io.ReadCloser, error) {
	if off < 0 || n < 0 || off > r.is.Size-n {
		return nil, fmt.Errorf("read %s: bytes %d+%d are not within its %d", r.key, off, n, r.is.Size)
	}
	s := &stream{reader: r, off: off, left: n}
	if n == 0 {
		return s, nil
	}
	for {
		err := s.open()
		if err == nil {
			return s, nil
		}
		if err := s.again(err); err != nil {
			return nil, err
		}
	}
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for s.left > 0 {
		if s.failed != nil {
			if err := s.again(s.failed); err != nil {
				return 0, err
			}
			s.failed = nil
		}
		if s.body == nil {
			if s.failed = s.open(); s.failed != nil {
				continue
			}
		}
		if n := s.read(p[:min(int64(len(p)), s.left)]); n > 0 {
			return n, nil // what failed comes up when more is wanted
		}
	}
	return 0, io.EOF
}

// read reads what there is, and notes when there is no more.
func (s *stream) read(p []byte) int {
	s.stalled.ask()
	n, err := s.body.Read(p)
	s.stalled.pause(n)
	s.off, s.left, s.brought = s.off+int64(n), s.left-int64(n), s.brought+int64(n)
	if s.brought >= progress {
		s.broken = 0
	}
	if err == nil || s.left == 0 {
		return n
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if cause := context.Cause(s.reader.ctx); cause != nil {
		s.failed = cause
	} else {
		s.failed = away(fmt.Errorf("get %s: broken off %d bytes before the end: %w", s.reader.key, s.left, err))
	}
	_ = s.Close()
	return n
}

// open asks for what is left.
func (s *stream) open() error {
	r := s.reader
	ctx, stalled := watchStall(r.ctx, r.store.stall)
	out, err := r.store.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &r.store.config.Bucket, Key: &r.key, IfMatch: &r.is.ETag,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", s.off, s.off+s.left-1)),
	}, impatient) // again tries again
	stalled.pause(pace) // the answer has begun
	if err != nil {
		err = translate(r.ctx, "get "+r.key, stallCause(ctx, err))
		stalled.stop()
		return err
	}
	if err := s.verify(out); err != nil {
		stalled.stop() // before closing, which would read the rest
		_ = out.Body.Close()
		return fmt.Errorf("get %s: %w", r.key, err)
	}
	s.body, s.stalled, s.brought = out.Body, stalled, 0
	return nil
}

// verify makes sure that the answer is what was asked for: a gateway that
// ignores Range or If-Match would give the wrong bytes without a word.
func (s *stream) verify(out *s3.GetObjectOutput) error {
	if raw, ok := awsmiddleware.GetRawResponse(out.ResultMetadata).(*smithyhttp.Response); !ok || raw.StatusCode != http.StatusPartialContent {
		return errRange
	}
	var first, last, size int64
	given := aws.ToString(out.ContentRange)
	if _, err := fmt.Sscanf(given, "bytes %d-%d/%d", &first, &last, &size); err != nil {
		return fmt.Errorf("%w: Content-Range is %q", errRange, given)
	}
	if size != s.reader.is.Size || out.ETag != nil && *out.ETag != s.reader.is.ETag {
		return errChanged
	}
	if first != s.off || last != s.off+s.left-1 {
		return fmt.Errorf("%w: Content-Range is %q", errRange, given)
	}
	return nil
}

// again waits for the next try, or returns the error if there is none.
func (s *stream) again(err error) error {
	if !fault.Is(err, fault.Unavailable) || s.broken == reopenings {
		return err
	}
	s.broken++
	if s.broken == 1 && s.brought > 0 {
		return nil
	}
	wait := time.NewTimer(firstPause << (s.broken - 1))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-s.reader.ctx.Done():
		return context.Cause(s.reader.ctx)
	}
}

// Close implements io.Closer.
func (s *stream) Close() error {
	if s.body == nil {
		return nil
	}
	s.stalled.stop() // before closing, which would read the rest
	err := s.body.Close()
	s.body = nil
	if s.left > 0 {
		return nil // closed before its end: what the transport says about that is nobody's
	}
	return err
}
