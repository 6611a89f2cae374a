package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
)

// wholeBytes is the longest body that is read before it is sent, so that a
// failed request can be sent again and its content is signed.
const wholeBytes = 256 << 10

var buffers = sync.Pool{New: func() any { return new([wholeBytes]byte) }}

// Put stores size bytes from a reader, which is read to its end, only once, and
// not after Put has returned, and tells their SHA-256 in hexadecimal digits. A
// reader that fails or has another length leaves no object; its error comes
// through, ErrLength for the length. With any other error the caller begins again
// with a new reader: an object is stored whole or not at all, and storing it again
// changes nothing.
func (s *Store) Put(ctx context.Context, key, contentType string, size int64, from io.Reader) (sum string, err error) {
	in := &s3.PutObjectInput{
		Bucket: &s.config.Bucket, Key: &key, ContentType: &contentType, ContentLength: aws.Int64(size),
	}
	b := newBody(ctx, from, size)
	if size <= wholeBytes {
		err = s.putWhole(ctx, in, b)
	} else {
		err = s.putStream(ctx, in, b)
	}
	complete, own := b.close()
	switch {
	case own != nil:
		return "", fmt.Errorf("put %s: %w", key, own)
	case err != nil:
		return "", translate(ctx, "put "+key, err)
	case !complete:
		return "", translate(ctx, "put "+key, errUnread)
	}
	return b.hash(), nil
}

func (s *Store) putWhole(ctx context.Context, in *s3.PutObjectInput, b *body) error {
	buffer, _ := buffers.Get().(*[wholeBytes]byte)
	defer buffers.Put(buffer)
	whole := buffer[:b.size]
	if _, err := io.ReadFull(b, whole); err != nil {
		return err
	}
	if _, err := b.Read(nil); !errors.Is(err, io.EOF) { // an empty body has not been asked for its end yet
		return err
	}
	ctx, stalled := watchStall(ctx, s.stall)
	defer stalled.stop()
	sent := &held{stalled: stalled, from: bytes.NewReader(whole)}
	defer sent.close() // before the buffer goes back
	in.Body = sent
	_, err := s.client.PutObject(ctx, in, s3.WithAPIOptions(signing(b.hash())))
	if err == nil && sent.left() > 0 {
		return errUnread
	}
	return stallCause(ctx, err)
}

// signing has a request sign a body whose hash is known, so that the SDK does not
// hash it once more.
func signing(hash string) func(*middleware.Stack) error {
	id := (&v4.ComputePayloadSHA256{}).ID()
	return func(stack *middleware.Stack) error {
		_, err := stack.Finalize.Swap(id, middleware.FinalizeMiddlewareFunc(id, func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			return next.HandleFinalize(v4.SetPayloadHash(ctx, hash), in)
		}))
		return err
	}
}

// putStream sends a body as it comes. Its hash is not known when the headers
// go, so the signature covers them alone.
func (s *Store) putStream(ctx context.Context, in *s3.PutObjectInput, b *body) error {
	ctx, stalled := watchStall(ctx, s.stall)
	defer stalled.stop()
	b.ctx, b.stalled = ctx, stalled
	in.Body = b
	_, err := s.client.PutObject(ctx, in, once, s3.WithAPIOptions(v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware))
	return stallCause(ctx, err)
}

// stallCause says that a call failed because it stood still, which the SDK
// only knows as cancelled.
func stallCause(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errors.Join(errStalled, err)
	}
	return err
}

// held is a body in a buffer that somebody else will use next.
type held struct {
	stalled *stallWatch

	mu     sync.Mutex
	from   *bytes.Reader
	closed bool
}

// Read implements io.Reader.
func (h *held) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, errOver
	}
	h.stalled.moved()
	return h.from.Read(p)
}

// Seek implements io.Seeker: the SDK finds the length and rewinds with it.
func (h *held) Seek(offset int64, whence int) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, errOver
	}
	return h.from.Seek(offset, whence)
}

func (h *held) left() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.from.Len()
}

func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}
