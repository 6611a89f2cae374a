package blob

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	blockBytes = 1 << 20
	// cacheBlocks bounds the memory of one Reader to 24 MiB, and what is on its
	// way to those who wait for it.
	cacheBlocks = 24
	// aheadBlocks are fetched beyond a block that follows another one.
	aheadBlocks = 2
)

// Reader reads one object by ranges, as it was when it was looked at: an
// object that has been changed since is fault.Conflict, one that is gone
// fault.NotFound. It is safe for concurrent use.
type Reader struct {
	ctx   context.Context // io.ReaderAt has no room for one; the Reader lives as long as its caller's work
	store *Store
	key   string
	is    Object

	mu    sync.Mutex
	cache *simplelru.LRU[int64, *block]
}

// block is a part of the object; whoever puts it into the cache fetches it,
// the others wait.
type block struct {
	fetched chan struct{}
	bytes   []byte
	err     error
	used    bool // by a caller, and not only read ahead; under the Reader's mutex
}

// Reader makes a reader of the object that Head has found. It asks nobody, and
// works until ctx ends; there is nothing to close.
func (s *Store) Reader(ctx context.Context, key string, o Object) *Reader {
	cache, _ := simplelru.NewLRU[int64, *block](cacheBlocks, nil) // fails for sizes below 1 only
	return &Reader{ctx: ctx, store: s, key: key, is: o, cache: cache}
}

// Size returns the length of the object.
func (r *Reader) Size() int64 { return r.is.Size }

// ReadAt implements io.ReaderAt, by way of a small cache.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s: offset %d lies before its beginning", r.key, off)
	}
	n := 0
	for n < len(p) && off < r.is.Size {
		b, err := r.block(off / blockBytes)
		if err != nil {
			return n, err
		}
		copied := copy(p[n:], b[off%blockBytes:])
		n += copied
		off += int64(copied)
	}
	if n < len(p) || off > r.is.Size {
		return n, io.EOF
	}
	return n, nil
}

// block returns a block from the cache, or from the store.
func (r *Reader) block(i int64) ([]byte, error) {
	r.mu.Lock()
	b, found := r.cache.Get(i)
	if !found {
		b = r.promise(i)
	}
	if !b.used {
		b.used = true
		r.ahead(i)
	}
	r.mu.Unlock()
	if !found {
		r.fetch(i, b)
	}
	select {
	case <-b.fetched:
		return b.bytes, b.err
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// promise puts a block into the cache that the caller is going to fetch.
func (r *Reader) promise(i int64) *block {
	b := &block{fetched: make(chan struct{})}
	r.cache.Add(i, b)
	return b
}

// ahead fetches what comes next if somebody reads on: the block before has
// been used, too.
func (r *Reader) ahead(i int64) {
	if before, ok := r.cache.Peek(i - 1); !ok || !before.used {
		return
	}
	for next := i + 1; next <= i+aheadBlocks && next*blockBytes < r.is.Size; next++ {
		if !r.cache.Contains(next) {
			b := r.promise(next)
			go r.fetch(next, b)
		}
	}
}

func (r *Reader) fetch(i int64, b *block) {
	defer close(b.fetched)
	from := i * blockBytes
	b.bytes, b.err = r.read(from, min(blockBytes, r.is.Size-from))
	if b.err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept, ok := r.cache.Peek(i); ok && kept == b {
		r.cache.Remove(i) // the next one tries again
	}
}

func (r *Reader) read(off, n int64) ([]byte, error) {
	s, err := r.Stream(off, n)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	bytes := make([]byte, n)
	if _, err := io.ReadFull(s, bytes); err != nil {
		return nil, err
	}
	return bytes, nil
}
