package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"time"
)

// ErrLength is for a body that is not as long as its writer said. Another try
// with the same body does not help.
var ErrLength = errors.New("the body is not as long as announced")

var (
	errStalled = errors.New("the transfer stood still for too long")
	errUnread  = errors.New("the store said that all is well before it had the whole body")
	errOver    = errors.New("the body is read after its end")
)

// body hands a writer's bytes to the transport and keeps what the SDK would
// lose: the reader's own error, and whether the length was right. The last
// bytes are held back until the reader has ended, so that an object that is too
// long is never complete for the store.
type body struct {
	ctx     context.Context // of the call that reads it: io.Reader has no room for one
	stalled *stallWatch

	mu       sync.Mutex
	from     io.Reader
	sum      hash.Hash // SHA-256 of what was read
	size     int64
	left     int64
	err      error // the reader's own, or ErrLength
	complete bool
	closed   bool
}

func newBody(ctx context.Context, from io.Reader, size int64) *body {
	return &body{ctx: ctx, from: from, sum: sha256.New(), size: size, left: size}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return 0, errOver
	case b.err != nil:
		return 0, b.err
	case b.ctx.Err() != nil: // the transport would go on until the next write
		return 0, context.Cause(b.ctx)
	case b.complete:
		return 0, io.EOF
	case len(p) == 0 && b.left > 0:
		return 0, nil
	}
	b.stalled.moved()
	defer b.stalled.moved()
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n := 0
	if b.left > 0 {
		n, b.err = b.from.Read(p)
		b.sum.Write(p[:n])
		b.left -= int64(n)
	}
	if b.left == 0 && (b.err == nil || errors.Is(b.err, io.EOF)) {
		if b.err = b.end(); b.err == nil {
			b.complete = true
			return n, io.EOF
		}
		return 0, b.err
	}
	if errors.Is(b.err, io.EOF) {
		b.err = fmt.Errorf("%w: it ended %d bytes before %d", ErrLength, b.left, b.size)
	}
	return n, b.err
}

// end asks the reader for a byte more than it may have.
func (b *body) end() error {
	if errors.Is(b.err, io.EOF) {
		return nil
	}
	var more [1]byte
	for range 100 { // as patient as bufio with readers that give nothing
		n, err := b.from.Read(more[:])
		switch {
		case n > 0:
			return fmt.Errorf("%w: it goes on after %d bytes", ErrLength, b.size)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}

// hash is the SHA-256 of what was read, in hexadecimal digits.
func (b *body) hash() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return hex.EncodeToString(b.sum.Sum(nil))
}

// close ends the reading: the transport may still be at it when a call has
// failed, and the reader is its owner's again.
func (b *body) close() (complete bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.complete, b.err
}

// pace is how many bytes of an answer must come while a transfer may stand
// still: a store that gives one now and then is none to wait for.
const pace = 64 << 10

// stallWatch ends a context when nothing has moved for a while. A nil one
// watches nothing.
type stallWatch struct {
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelCauseFunc

	// For answers, whose reader takes pauses: what is left of after, since when
	// bytes are asked for, and how many came.
	left time.Duration
	from time.Time
	came int
}

// watchStall makes a context that ends with errStalled; stop must be called.
func watchStall(ctx context.Context, after time.Duration) (context.Context, *stallWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &stallWatch{after: after, left: after, from: time.Now(), cancel: cancel}
	w.timer = time.AfterFunc(after, func() { cancel(errStalled) })
	return ctx, w
}

func (w *stallWatch) moved() {
	if w != nil {
		w.timer.Reset(w.after)
	}
}

// ask starts the clock where it stopped: bytes are asked for.
func (w *stallWatch) ask() {
	w.from = time.Now()
	w.timer.Reset(w.left)
}

// pause stops the clock until bytes are asked for again. So many came, and once
// they are enough the clock begins anew.
func (w *stallWatch) pause(n int) {
	w.timer.Stop()
	w.left = max(0, w.left-time.Since(w.from))
	if w.came += n; w.came >= pace {
		w.came, w.left = 0, w.after
	}
}

func (w *stallWatch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}
