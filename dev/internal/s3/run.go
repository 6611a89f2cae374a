// Package s3 runs an S3 gateway in this process, with a directory as its store.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pkg/xattr"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/taskloom/taskloom/dev/internal/child"
)

// Config says where the gateway listens, where it keeps objects and who may ask.
type Config struct {
	Addr   string // host:port
	Dir    string // absolute; holds the objects and, if need be, their metadata
	Bucket string
	Region string
	// AccessKeyID and SecretKey are the one account; requests are signed (SigV4).
	AccessKeyID, SecretKey string
	// Origin is where pages may come from that read and write the bucket, beside
	// any port of this machine; empty for nowhere else.
	Origin string
}

const (
	maxConnections = 1024
	maxRequests    = 512
	maxParts       = 10_000  // S3's own limit
	maxCopy        = 5 << 30 // S3's own limit; zero would refuse every copy
)

// Run serves until ctx ends. It changes the working directory of the whole
// process, as the backend's way of keeping inside its root, and can run once
// per process only.
func Run(ctx context.Context, c Config, report *child.Reporter) error {
	backend, err := c.backend()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, strict{backend}, &embedgw.Config{
			RootUserAccess: c.AccessKeyID, RootUserSecret: c.SecretKey, Region: c.Region,
			Ports:          []string{c.Addr},
			MaxConnections: maxConnections, MaxRequests: maxRequests, MultipartMaxParts: maxParts,
			KeepAlive: true, DisableACLs: true, Quiet: true,
		})
	}()

	report.Doing("preparing the bucket")
	prepared := make(chan error, 1)
	go func() { prepared <- prepareBucket(ctx, c) }()
	select {
	case err := <-ended:
		return fmt.Errorf("the gateway ended while it started: %w", err)
	case err := <-prepared:
		if err != nil {
			return err
		}
	}
	report.Ready()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the gateway ended: %w", err)
	}
	return nil
}

// backend keeps metadata in extended attributes where the file system has
// them, else in a directory beside the objects.
func (c Config) backend() (*posix.Posix, error) {
	objects := filepath.Join(c.Dir, "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return nil, fmt.Errorf("make the object directory: %w", err)
	}
	opts := posix.PosixOpts{CopyObjectThreshold: maxCopy}
	var store meta.MetadataStorer = meta.XattrMeta{}
	sidecar := filepath.Join(c.Dir, "metadata")
	_, err := os.Stat(sidecar)
	if used := err == nil; used || !hasAttributes(objects) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("metadata directory: %w", err)
		}
		if err := os.MkdirAll(sidecar, 0o700); err != nil {
			return nil, fmt.Errorf("make the metadata directory: %w", err)
		}
		side, err := meta.NewSideCar(sidecar)
		if err != nil {
			return nil, fmt.Errorf("open the metadata directory: %w", err)
		}
		store, opts.SideCarDir = side, sidecar
	}
	backend, err := posix.New(objects, store, opts)
	if err != nil {
		return nil, fmt.Errorf("open the object directory: %w", err)
	}
	return backend, nil
}

func hasAttributes(dir string) bool {
	const name = "user.taskloom.probe"
	if err := xattr.Set(dir, name, []byte("1")); err != nil {
		return false
	}
	return xattr.Remove(dir, name) == nil
}
