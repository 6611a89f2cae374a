package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	filesPage = 1000
	// headsAtOnce bounds the questions to the object store under way.
	headsAtOnce = 16
	// orphanAfter is how old an object must be before the sweeps must have
	// looked at it.
	orphanAfter = 48 * time.Hour
)

// deepFiles checks promise I8 in the object store: what rows refer to is there,
// and nothing else stays.
func (d *doctor) deepFiles(ctx context.Context, _ *app, o deepOptions) ([]deepFinding, error) {
	there := deepFinding{
		Name: "files-there", Promise: "I8", Says: "every file that a row refers to is in the object store, with its size", Verdict: fine,
		Advice: "bring the objects back from the bucket's versions or its copy; the keys are those above",
	}
	whole := deepFinding{
		Name: "files-whole", Promise: "I8", Says: "what is in the object store is what was stored, by sha256", Verdict: fine,
		Advice: "the object was overwritten or damaged: bring it back from the bucket's versions or its copy",
	}
	orphans := deepFinding{
		Name: "no-orphans", Promise: "I8", Says: "no object stays for two days to which nothing refers", Verdict: fine,
		Advice: "see whether the schedule sweep-uploads runs in Temporal; what is left after that can be deleted with the tools of the object store",
	}
	if !d.config.S3.Configured() {
		for _, f := range []*deepFinding{&there, &whole, &orphans} {
			f.Verdict, f.Advice = skipped, "S3_BUCKET is not set"
		}
		return []deepFinding{there, whole, orphans}, nil
	}
	if err := d.compareFiles(ctx, o, &there, &whole); err != nil {
		return nil, err
	}
	if err := d.findOrphans(ctx, &orphans, time.Now().Add(-orphanAfter)); err != nil {
		return nil, err
	}
	for _, f := range []*deepFinding{&there, &whole, &orphans} {
		f.complete()
	}
	return []deepFinding{there, whole, orphans}, nil
}

// compareFiles asks for every object, and reads some of them, spread evenly.
func (d *doctor) compareFiles(ctx context.Context, o deepOptions, there, whole *deepFinding) error {
	all, err := d.store.CountReferencedFiles(ctx)
	if err != nil {
		return err
	}
	every := int64(1)
	if o.files >= 0 {
		every = all/int64(max(o.files, 1)) + 1
	}
	var mu sync.Mutex
	broke := func(f *deepFinding, format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		f.broke(0, format, args...)
	}
	n := int64(0)
	for _, peoples := range []bool{false, true} {
		for after := uuid.Nil; ; {
			page, err := d.store.ReferencedFiles(ctx, peoples, after, filesPage)
			if err != nil {
				return err
			}
			g, gctx := errgroup.WithContext(ctx)
			g.SetLimit(headsAtOnce)
			for _, f := range page {
				n++
				read := o.files != 0 && n%every == 0
				g.Go(func() error { return d.compareFile(gctx, f, read, there, whole, broke) })
			}
			if err := g.Wait(); err != nil {
				return err
			}
			if len(page) < filesPage {
				break
			}
			after = page[len(page)-1].ID
		}
	}
	return nil
}

func (d *doctor) compareFile(
	ctx context.Context, f store.File, read bool, there, whole *deepFinding, broke func(*deepFinding, string, ...any),
) error {
	is, err := d.objects.Head(ctx, f.Key)
	switch {
	case fault.Is(err, fault.NotFound):
		broke(there, "file %s of organization %d: nothing is at %s", f.ID, f.OrgID, f.Key)
		return nil
	case err != nil:
		return fmt.Errorf("look at file %s: %w", f.ID, err)
	case is.Size != f.Size:
		broke(there, "file %s of organization %d: %s has %d bytes, not %d", f.ID, f.OrgID, f.Key, is.Size, f.Size)
		return nil
	case !read:
		return nil
	}
	in, err := d.objects.Reader(ctx, f.Key, is).Stream(0, is.Size)
	if err != nil {
		return fmt.Errorf("read file %s: %w", f.ID, err)
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return fmt.Errorf("read file %s: %w", f.ID, err)
	}
	if have := hex.EncodeToString(sum.Sum(nil)); have != f.SHA256 {
		broke(whole, "file %s of organization %d: %s has the sha256 %s, not %s", f.ID, f.OrgID, f.Key, have, f.SHA256)
	}
	return nil
}

// findOrphans lists what is stored for organizations and asks who needs it.
func (d *doctor) findOrphans(ctx context.Context, orphans *deepFinding, before time.Time) error {
	for after := ""; ; {
		page, err := d.objects.ListObjects(ctx, "org/", after)
		if err != nil || len(page) == 0 {
			return err
		}
		var old []string
		for _, o := range page {
			if o.Modified.Before(before) {
				old = append(old, o.Key)
			}
		}
		left, err := d.store.Unreferenced(ctx, old)
		if err != nil {
			return err
		}
		for _, key := range left {
			orphans.broke(0, "object %s", key)
		}
		after = page[len(page)-1].Key
	}
}
