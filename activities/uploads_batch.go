package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// Bounds of a batch, which is written in one transaction: little is lost with a
// worker, and progress moves.
const (
	batchRows  = 500
	batchBytes = 256 << 20
	// batchRefs bounds how many files the rows name, each as often as it is named: a
	// reference is kept in memory and in the task, however small its file is. Such
	// that are not in the archive count, too.
	batchRefs = 10_000
	// batchTries is how often a batch is checked again because the pipeline got
	// a new version meanwhile.
	batchTries = 5
	// saveTime is how long the last write of a step that was called off may
	// take.
	saveTime = 15 * time.Second
)

// batch is some rows on their way to become tasks.
type batch struct {
	*ingestion
	*shape

	rows []*batchRow
	// files are those that the rows name, by entry.
	files map[*archive.Entry]*batchFile
}

// batchRow is a row with the files that its fields name.
type batchRow struct {
	index int
	// folder is where a derived row comes from.
	folder string
	item   seeding.Item
	refs   map[string][]*batchFile
	// errs are the first of its errors, more is how many others there are.
	errs []seeding.ItemError
	more int
}

// fail notes an error: they come in the order of their fields, and of many only the
// first are kept.
func (r *batchRow) fail(field, message string) {
	if len(r.errs) >= maxRowErrors {
		r.more++
		return
	}
	r.tell(field, message)
}

// tell notes an error, of those that are bounded already. It names the folder of a
// derived row, whose index the caller never saw.
func (r *batchRow) tell(field, message string) {
	if r.folder != "" && !strings.Contains(message, r.folder) {
		message = fmt.Sprintf("the folder %s: %s", quoted(r.folder), message)
	}
	r.errs = append(r.errs, seeding.ItemError{Index: r.index, FieldName: field, Message: message})
}

// batch brings rows to their end, as many from the first as a batch holds, and
// returns how many. When something fails on the way, the rows that are complete
// are written all the same.
func (i *ingestion) batch(ctx context.Context, waiting []store.UploadRow) (int, error) {
	files := map[*archive.Entry]*batchFile{}
	for range batchTries {
		s, err := i.shape(ctx)
		if err != nil {
			return 0, err
		}
		b := &batch{ingestion: i, shape: s, files: files}
		failed := b.prepare(ctx, waiting)
		if len(b.rows) == 0 {
			return 0, failed
		}
		err = b.finish(ctx)
		switch {
		case errors.Is(err, store.ErrVersionChanged), errors.Is(err, errClosed):
			continue
		case fault.Is(err, fault.Conflict):
			b.abandon()
			return 0, errOver
		case err != nil:
			return 0, errors.Join(failed, err)
		}
		i.keep(files)
		return len(b.rows), failed
	}
	return 0, fault.New(fault.Unavailable, "the workflow is published too often to create its tasks; the batch is tried again")
}

// prepare gets rows ready to be written. With an error, those that are not
// complete are left out.
func (b *batch) prepare(ctx context.Context, waiting []store.UploadRow) error {
	if b.closed != nil {
		for _, w := range waiting {
			r := &batchRow{index: w.Index}
			r.fail("", messageOf(b.closed))
			b.rows = append(b.rows, r)
		}
		return nil
	}
	for _, f := range b.files {
		f.fields = nil // of another version
	}
	b.resolve(waiting)
	if err := b.recall(ctx); err != nil {
		b.rows = nil
		return err
	}
	err := b.fetch(ctx)
	if err != nil {
		b.rows = slices.DeleteFunc(b.rows, func(r *batchRow) bool { return !b.complete(r) })
	}
	return err
}

// complete tells whether nothing more has to be read for a row.
func (b *batch) complete(r *batchRow) bool {
	for field, files := range r.refs {
		for _, f := range files {
			if len(r.errs) == 0 && !f.stored && f.problem == "" && b.refusal(field, f) == "" {
				return false
			}
		}
	}
	return true
}

// refusal tells why a field cannot take a file; "" when it can, or the file has
// not been looked at yet.
func (b *batch) refusal(field string, f *batchFile) string {
	_, refusal := b.take(field, f)
	return refusal
}

// take is refusal, and tells as what a field takes a file where that is not the type
// that its bytes show.
func (b *batch) take(field string, f *batchFile) (as, refusal string) {
	if f.contentType == nil {
		return "", ""
	}
	return b.fields[field].take(f.entry, f.contentType)
}

// abandon notes the files of a batch that came too late.
func (b *batch) abandon() {
	for _, f := range b.files {
		if f.fresh {
			b.orphans = append(b.orphans, f.id)
		}
	}
}

func (i *ingestion) fileKey(id uuid.UUID) string { return filesPrefix(i.upload) + id.String() }

// filesPrefix begins the keys of all files of an upload, so that those which no
// task came to have are found again.
func filesPrefix(u store.Upload) string { return fmt.Sprintf("org/%d/files/%s/", u.OrgID, u.ID) }

// messageOf is what the caller of an upload reads of an error.
func messageOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "the row could not be read"
}
