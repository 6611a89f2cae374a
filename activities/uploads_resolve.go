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
// that it may name, are left for later: they are not looked at.
func (b *batch) resolve(waiting []store.UploadRow) {
	var size int64
	named := 0
	for _, w := range waiting {
		if size >= batchBytes || named >= batchRefs {
			break
		}
		r := &batchRow{index: w.Index, item: seeding.Item{Fields: w.Fields}, refs: map[string][]*batchFile{}}
		if b.upload.Derived {
			r.folder = b.folder(r.item)
		}
		b.rows = append(b.rows, r)
		errs, ok := seeding.PreCheck(b.pipeline, []seeding.Item{r.item}, nil)
		if b.upload.Derived && !ok[0] && b.unusable(r.item) {
			errs, ok[0] = nil, true // what is wrong with the entry says more than its name as it is shown
		}
		for _, e := range errs {
			r.tell(e.FieldName, e.Message)
		}
		if ok[0] {
			bytes, paths := b.find(r)
			size += bytes
			named += paths
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

// unusable tells whether a row names an entry that cannot be used.
func (b *batch) unusable(item seeding.Item) bool {
	refs, _ := seeding.FileRefs(b.pipeline, item)
	for _, paths := range refs {
		for _, path := range paths {
			if e, err := b.archive.Find(path); err == nil && e.Problem != "" {
				return true
			}
		}
	}
	return false
}

// find looks up the entries that a row names, and returns how many bytes are to
// be read for it, and how many paths it has, whether or not they lead anywhere. A row
// with an entry that cannot be used needs no bytes.
func (b *batch) find(r *batchRow) (size int64, paths int) {
	refs, problems := seeding.FileRefs(b.pipeline, r.item)
	for _, p := range problems {
		r.fail(p.Field, p.Message)
	}
	var found []*archive.Entry
	for _, field := range slices.Sorted(maps.Keys(refs)) {
		paths += len(refs[field])
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
		return 0, paths
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
	return size, paths
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
