package activities

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gabriel-vasile/mimetype"
	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/filetype"
	"github.com/taskloom/taskloom/internal/store"
)

// How many files of an archive are on their way at a time, unless people wait.
// Large ones fill the line by themselves, and are slow to begin again.
const (
	filesAtOnce = 16
	largeBytes  = 64 << 20
	// keptBytes is from which size on a stored file is remembered for rows of
	// later batches that name it, too.
	keptBytes   = 1 << 20
	largeAtOnce = 4
)

// batchFile is an entry of the archive on its way to become a file.
type batchFile struct {
	entry  *archive.Entry
	id     uuid.UUID
	fields []string // that name it

	// contentType is known once the file was looked at.
	contentType *mimetype.MIME
	problem     string // why the entry cannot be read
	stored      bool
	fresh       bool // stored by this batch
	file        store.File
}

func (f *batchFile) wantedBy(field string) {
	if !slices.Contains(f.fields, field) {
		f.fields = append(f.fields, field)
	}
}

// recall takes in what is known of a file that was stored before.
func (f *batchFile) recall(k store.File) {
	f.stored, f.file = true, k
	f.contentType = mimetype.Lookup(k.ContentType)
}

// fetch stores the files that are missing, in the order of the archive.
func (b *batch) fetch(ctx context.Context) error {
	var missing []*batchFile
	for _, f := range b.files {
		if !f.stored && f.problem == "" && b.wanted(f) {
			missing = append(missing, f)
		}
	}
	slices.SortFunc(missing, func(x, y *batchFile) int { return cmp.Compare(x.entry.Offset(), y.entry.Offset()) })
	g, going := errgroup.WithContext(ctx)
	large := make(chan struct{}, largeAtOnce)
	var next atomic.Int64
	for range min(filesAtOnce, len(missing)) {
		// Each takes one file after the other: a goroutine for each file would grow
		// its stack to the depth of the SDK's calls each time.
		g.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(missing)); i = next.Add(1) - 1 {
				if err := b.storeInTurn(going, missing[i], large); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// storeInTurn is store when one more file may be on its way, and one more of the
// large ones. A panic costs the entry: it would end the whole worker, whose steps the
// SDK guards in their own goroutines only, and then the next worker, which tries again.
func (b *batch) storeInTurn(ctx context.Context, f *batchFile, large chan struct{}) error {
	defer func() {
		if cause := recover(); cause != nil {
			f.problem = b.panicked(ctx, f, cause).Message
		}
	}()
	if f.entry.Size >= largeBytes {
		large <- struct{}{}
		defer func() { <-large }()
	}
	leave, err := b.turns.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return b.store(ctx, f)
}

// panicked makes a panic over an entry, of which the log tells, an error of that entry:
// what reads files stumbles over their bytes.
func (b *batch) panicked(ctx context.Context, f *batchFile, cause any) *archive.EntryError {
	activity.GetLogger(ctx).Error("Reading an entry of an archive panicked.",
		"upload", b.upload.ID.String(), "file", f.id.String(), "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	return &archive.EntryError{Name: f.entry.Name, Message: fmt.Sprintf(
		"the entry %s could not be read; the operator's log says what went wrong", quoted(f.entry.Name))}
}

// wanted tells whether a field that names the file may take it, as far as is
// known.
func (b *batch) wanted(f *batchFile) bool {
	return slices.ContainsFunc(f.fields, func(field string) bool { return b.refusal(field, f) == "" })
}

var heads = sync.Pool{New: func() any { return new([filetype.SniffBytes]byte) }}

// store unpacks one entry into the object store. What is wrong with the entry
// is noted with it and no error.
func (b *batch) store(ctx context.Context, f *batchFile) error {
	body, err := b.archive.Read(f.entry)
	if err != nil {
		return f.broken(err)
	}
	defer body.Close()
	in := &watched{from: body, panicked: func(cause any) error { return b.panicked(ctx, f, cause) }}
	head, _ := heads.Get().(*[filetype.SniffBytes]byte)
	defer heads.Put(head)
	n, err := io.ReadFull(in, head[:])
	if in.err != nil {
		return f.broken(in.err)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	f.contentType = filetype.Sniff(head[:n])
	if !b.wanted(f) {
		return nil
	}
	key := b.fileKey(f.id)
	sum, err := b.Objects.Put(ctx, key, f.contentType.String(), f.entry.Size, io.MultiReader(bytes.NewReader(head[:n]), in))
	if err != nil {
		switch {
		case in.err != nil:
			return f.broken(in.err)
		case fault.Is(err, fault.PayloadTooLarge): // at each try
			f.problem = fmt.Sprintf("the entry %s is larger than the object store takes: make it smaller", quoted(f.entry.Name))
			return nil
		}
		return err
	}
	f.stored, f.fresh = true, true
	f.file = store.File{
		ID: f.id, OrgID: b.upload.OrgID, Key: key, Name: path.Base(f.entry.Name), Size: f.entry.Size,
		SHA256: sum, ContentType: f.contentType.String(),
	}
	return nil
}

// keep remembers what later batches shall not read again.
func (i *ingestion) keep(files map[*archive.Entry]*batchFile) {
	for e, f := range files {
		if bad := !f.stored && (f.problem != "" || f.contentType != nil); bad || f.stored && e.Size >= keptBytes {
			f.fresh = false
			i.kept[e] = f
		}
	}
}

// broken sorts out an error of reading the entry: its own fault is noted, that
// of the archive is returned.
func (f *batchFile) broken(err error) error {
	if own, ok := errors.AsType[*archive.EntryError](err); ok {
		f.problem = own.Message
		return nil
	}
	return ofArchive(err)
}

// watched remembers how a reader failed, which its consumer may not tell.
type watched struct {
	from io.Reader
	// panicked makes an error of a panic: the object store reads in goroutines of its
	// own, where nobody else would recover it.
	panicked func(cause any) error
	err      error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// read is a read of the reader that panics no more.
func (w *watched) read(p []byte) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			n, err = 0, w.panicked(cause)
		}
	}()
	return w.from.Read(p)
}
