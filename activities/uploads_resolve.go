package activities

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// resolve checks what can be checked before a file is read, and finds the
// entries that the rows name. Rows beyond the batch's bytes, or beyond the files
// that it may name, are left for later.
func (b *batch) resolve(waiting []store.UploadRow) {
	items := make([]seeding.Item, len(waiting))
	for n, w := range waiting {
		items[n] = seeding.Item{Fields: w.Fields}
	}
	errs, ok := seeding.PreCheck(b.pipeline, items, nil)
	var size int64
	named := 0
	for n, w := range waiting {
		if size >= batchBytes || named >= batchRefs {
			break
		}
		r := &batchRow{index: w.Index, item: items[n], refs: map[string][]*batchFile{}}
		if b.upload.Derived {
			r.folder = b.folder(items[n])
		}
		b.rows = append(b.rows, r)
		if ok[n] {
			size += b.find(r)
		}
		for _, files := range r.refs {
			named += len(files)
		}
	}
	for _, e := range errs {
		if e.Index < len(b.rows) {
			b.rows[e.Index].fail(e.FieldName, e.Message)
		}
	}
}

// folder is the top-level folder of a derived row; "" when it is a file.
func (b *batch) folder(item seeding.Item) string {
	refs, _ := seeding.FileRefs(b.pipeline, item)
	for _, paths := range refs {
		for _, path := range paths {
			if folder, _, inside := strings.Cut(path, "/"); inside {
				return folder
			}
		}
	}
	return ""
}

// find looks up the entries that a row names, and returns how many bytes are to
// be read for it. A row with an entry that cannot be used needs none.
func (b *batch) find(r *batchRow) (size int64) {
	refs, problems := seeding.FileRefs(b.pipeline, r.item)
	for _, p := range problems {
		r.fail(p.Field, p.Message)
	}
	var found []*archive.Entry
	for _, field := range slices.Sorted(maps.Keys(refs)) {
		for _, path := range refs[field] {
			e, err := b.archive.Find(path)
			switch {
			case err != nil:
				r.fail(field, messageOf(err))
			case e.Problem != "":
				r.fail(field, e.Problem)
			default:
				found = append(found, e)
				r.refs[field] = append(r.refs[field], &batchFile{entry: e})
			}
		}
	}
	if len(r.errs) > 0 {
		return 0
	}
	for _, e := range found {
		if known := b.kept[e]; b.files[e] == nil && known != nil {
			known.fields = nil // of another batch
			b.files[e] = known
		}
		if b.files[e] == nil {
			b.files[e] = &batchFile{entry: e, id: fileID(b.upload.ID, e.Name)}
			size += e.Size
		}
	}
	for field, files := range r.refs {
		for n := range files {
			files[n] = b.files[files[n].entry]
			files[n].wantedBy(field)
		}
	}
	return size
}

// recall finds files that were stored before, by an earlier batch.
func (b *batch) recall(ctx context.Context) error {
	byID := make(map[uuid.UUID]*batchFile, len(b.files))
	for _, f := range b.files {
		byID[f.id] = f
	}
	known, err := b.Store.FilesByID(ctx, b.upload.OrgID, slices.Collect(maps.Keys(byID)))
	for _, k := range known {
		byID[k.ID].recall(k)
	}
	return err
}
