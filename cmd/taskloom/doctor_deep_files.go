package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

const (
	filesPage = 1000
	// headsAtOnce bounds the questions to the object store under way.
	headsAtOnce = 16
	// headTries is how often an object is asked for, each time for headTime, with a
	// rest of headRest in between: nobody waits for the doctor, and a busy store has
	// slow moments.
	headTries = 3
	headTime  = 10 * time.Second
	headRest  = time.Second
	// unseenMost is how many objects the store may fail to show: with more of them it
	// is away, and all others would take their time for nothing.
	unseenMost = 20
	// orphanAge is how old an object must be before the sweeps must have looked at
	// it, whatever kept them, unless --orphan-age says otherwise. What a row leads
	// them to is no orphan before that, however old it is.
	orphanAge = 48 * time.Hour
)

// deepFiles checks promise I8 in the object store: what rows refer to is there,
// and nothing else stays. What fails on the way is told in the findings that it
// costs.
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
		Name: "no-orphans", Promise: "I8", Says: "no object stays to which nothing refers", Verdict: fine,
		Advice: "see whether the schedule sweep-uploads runs in Temporal; what is left after that can be deleted with the tools of the object store",
	}
	if !d.config.S3.Configured() {
		for _, f := range []*deepFinding{&there, &whole, &orphans} {
			f.Verdict, f.Advice = skipped, "S3_BUCKET is not set"
		}
		return []deepFinding{there, whole, orphans}, nil
	}
	cutShort(d.compareFiles(ctx, o, &there, &whole), &there, &whole)
	cutShort(d.findOrphans(ctx, o, &orphans, time.Now().Add(-o.orphanAge)), &orphans)
	for _, f := range []*deepFinding{&there, &whole, &orphans} {
		f.complete()
	}
	return []deepFinding{there, whole, orphans}, nil
}

// comparing is the comparison of rows with their objects under way.
type comparing struct {
	*doctor

	there, whole *deepFinding
	patience     time.Duration

	mu     sync.Mutex // of the findings, and of what follows
	asked  int        // objects asked for
	unseen int        // those that the store failed to show
	first  *partError // of them
}

// errAway ends the comparison with a store that shows too little.
var errAway = errors.New("the object store is away")

// compareFiles asks for every object, and reads some of them, spread evenly.
func (d *doctor) compareFiles(ctx context.Context, o deepOptions, there, whole *deepFinding) error {
	all, err := d.store.CountReferencedFiles(ctx, o.patience)
	if err != nil {
		return err
	}
	c := &comparing{doctor: d, there: there, whole: whole, patience: o.patience}
	n, every := int64(0), readEvery(all, o.files)
	for _, peoples := range []bool{false, true} {
		for after := uuid.Nil; ; {
			page, err := d.store.ReferencedFiles(ctx, o.patience, peoples, after, filesPage)
			if err != nil {
				return err
			}
			g, gctx := errgroup.WithContext(ctx)
			g.SetLimit(headsAtOnce)
			for _, f := range page {
				n++
				read := o.files != 0 && n%every == 0
				g.Go(func() error { return c.file(gctx, peoples, f, read) })
			}
			if err := g.Wait(); err != nil {
				if errors.Is(err, errAway) {
					return c.notSeen()
				}
				return err
			}
			if len(page) < filesPage {
				break
			}
			after = page[len(page)-1].ID
		}
	}
	return c.notSeen()
}

// readEvery is how many objects there are for each that is read, so that no more
// than so many of all are; 1 when files is negative.
func readEvery(all int64, files int) int64 {
	if files < 0 {
		return 1
	}
	n := int64(max(files, 1))
	return max(1, (all+n-1)/n)
}

// file compares one row with its object.
func (c *comparing) file(ctx context.Context, peoples bool, f store.File, read bool) error {
	is, sum, err := c.look(ctx, f, read)
	switch {
	case fault.Is(err, fault.NotFound):
		return c.broke(ctx, c.there, peoples, f, "nothing is at "+f.Key)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return c.missed(f.Key, err)
	case is.Size != f.Size:
		return c.broke(ctx, c.there, peoples, f, fmt.Sprintf("%s has %d bytes, not %d", f.Key, is.Size, f.Size))
	case sum != f.SHA256:
		return c.broke(ctx, c.whole, peoples, f, fmt.Sprintf("%s has the sha256 %s, not %s", f.Key, sum, f.SHA256))
	}
	return nil
}

// look asks for an object, and reads it, several times if need be.
func (c *comparing) look(ctx context.Context, f store.File, read bool) (is blob.Object, sum string, err error) {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	for try := range headTries {
		if try > 0 {
			select {
			case <-time.After(headRest):
			case <-ctx.Done():
			}
		}
		is, err = c.objects.HeadWithin(ctx, f.Key, headTime)
		sum = f.SHA256
		if err == nil && is.Size == f.Size && read {
			sum, err = c.sum(ctx, f.Key, is)
		}
		if err == nil || fault.Is(err, fault.NotFound) || ctx.Err() != nil {
			break
		}
	}
	return is, sum, err
}

// missed notes an object that the store failed to show, and fails when there are
// too many of them.
func (c *comparing) missed(key string, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unseen++; c.first == nil {
		c.first = &partError{key, err}
	}
	if c.unseen > unseenMost {
		return errAway
	}
	return nil
}

// notSeen says how many objects the store failed to show, with the first cause.
func (c *comparing) notSeen() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unseen == 0 {
		return nil
	}
	return &partError{
		fmt.Sprintf("the object store, which did not show %d of %d objects, %s first,", c.unseen, c.asked, c.first.part), c.first.err,
	}
}

// sum reads an object whole and returns its sha256.
func (c *comparing) sum(ctx context.Context, key string, is blob.Object) (string, error) {
	in, err := c.objects.Reader(ctx, key, is).Stream(0, is.Size)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// broke notes a file whose object is not as its row says, unless the row was
// given up since it was read: the sweep, which is at work meanwhile, then has
// deleted the object.
func (c *comparing) broke(ctx context.Context, in *deepFinding, peoples bool, f store.File, what string) error {
	still, err := c.store.StillReferenced(ctx, c.patience, peoples, f)
	if err != nil || !still {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	in.broke(0, "file %s of organization %d: %s", f.ID, f.OrgID, what)
	return nil
}

// findOrphans lists what is stored for organizations and asks who needs it.
func (d *doctor) findOrphans(ctx context.Context, o deepOptions, orphans *deepFinding, before time.Time) error {
	for after := ""; ; {
		page, err := d.objects.ListObjects(ctx, "org/", after)
		if err != nil {
			return &partError{"the object store, asked what is in it,", err}
		}
		if len(page) == 0 {
			return nil
		}
		var old []string
		for _, o := range page {
			if o.Modified.Before(before) {
				old = append(old, o.Key)
			}
		}
		left, err := d.store.Unreferenced(ctx, o.patience, old)
		if err != nil {
			return err
		}
		for _, key := range left {
			orphans.broke(0, "object %s", key)
		}
		after = page[len(page)-1].Key
	}
}
