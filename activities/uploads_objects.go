package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/blob"
)

// Bucket makes an object store serve as Objects.
type Bucket struct{ *blob.Store }

// Archive reads an object by ranges.
func (b Bucket) Archive(ctx context.Context, key string, size int64, etag string) archive.Source {
	return b.Reader(ctx, key, blob.Object{Size: size, ETag: etag})
}
