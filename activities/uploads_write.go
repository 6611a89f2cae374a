package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// errClosed says that the pipeline stopped taking tasks meanwhile.
var errClosed = errors.New("the pipeline takes no tasks")

// maxRowErrors is how many errors one row reports.
const maxRowErrors = 20

// finish checks the rows with their real files and writes what became of them.
// It goes on for a while when the step was called off: what is complete shall
// not be lost.
func (b *batch) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	in := b.assemble()
	err := b.write(ctx, in)
	if err != nil {
		return err
	}
	used := map[*batchFile]bool{}
	for _, r := range b.rows {
		if len(r.errs) == 0 {
			for _, files := range r.refs {
				for _, f := range files {
					used[f] = true
				}
			}
		}
	}
	for _, f := range b.files {
		if f.fresh && !used[f] {
			b.orphans = append(b.orphans, f.id)
		}
	}
	return nil
}

// assemble makes tasks of the rows whose files fit, and errors of the others.
func (b *batch) assemble() store.FinishRows {
	in := store.FinishRows{UploadID: b.upload.ID, VersionID: b.versionID}
	var items []seeding.Item
	var good []*batchRow
	for _, r := range b.rows {
		if fields := b.values(r); len(r.errs) == 0 {
			items, good = append(items, seeding.Item{Fields: fields}), append(good, r)
		}
	}
	rows, errs := seeding.Rows(b.pipeline, items, nil)
	for _, e := range errs {
		good[e.Index].tell(e.FieldName, e.Message)
	}
	counted := map[*batchFile]bool{}
	for _, t := range rows {
		r := good[t.Index]
		task := store.UploadTask{Index: r.index, Input: t.Input, State: t.State}
		for _, files := range r.refs {
			for _, f := range files {
				task.Files = append(task.Files, f.file)
				if f.fresh && !counted[f] { // a file that many rows have is one file
					task.Bytes += f.file.Size
				}
				counted[f] = true
			}
		}
		in.Created = append(in.Created, task)
	}
	for _, r := range b.rows {
		if len(r.errs) > 0 {
			in.Failed = append(in.Failed, store.UploadRow{Index: r.index, Errors: r.sorted()})
		}
	}
	return in
}

// values are the fields of a row with its files in place of their paths.
func (b *batch) values(r *batchRow) form.Values {
	fields := maps.Clone(r.item.Fields)
	for _, field := range slices.Sorted(maps.Keys(r.refs)) {
		var stored []seeding.File
		for _, f := range r.refs[field] {
			as, wrong := "", f.problem
			if wrong == "" {
				as, wrong = b.take(field, f)
			}
			if wrong != "" {
				r.fail(field, wrong)
				continue
			}
			stored = append(stored, seeding.File{
				FileID: f.id.String(), Name: f.file.Name, Size: f.file.Size, ContentType: cmp.Or(as, f.file.ContentType), SHA256: f.file.SHA256,
			})
		}
		fields[field] = seeding.FilesValue(b.fields[field].Multiple, stored)
	}
	return fields
}

// sorted are the errors of a row, by field.
func (r *batchRow) sorted() []seeding.ItemError {
	slices.SortStableFunc(r.errs, func(x, y seeding.ItemError) int { return cmp.Compare(x.FieldName, y.FieldName) })
	if r.more == 0 {
		return r.errs
	}
	return append([]seeding.ItemError{{Index: r.index, Message: fmt.Sprintf(
		"has %d problems, of which the first %d are listed", len(r.errs)+r.more, len(r.errs))}}, r.errs...)
}

// write writes a batch. What Postgres cannot hold, which should have been
// refused earlier, fails its own row and no other.
func (b *batch) write(ctx context.Context, in store.FinishRows) error {
	_, err := b.Store.FinishRows(ctx, in)
	if !fault.Is(err, fault.Validation) {
		return err
	}
	if s, err := b.ingestion.shape(ctx); err != nil || s.closed != nil {
		return cmp.Or(err, errClosed)
	}
	first, second, ok := halves(in)
	if !ok {
		_, err := b.Store.FinishRows(ctx, unfit(in, messageOf(err)))
		return err
	}
	if err := b.write(ctx, first); err != nil {
		return err
	}
	return b.write(ctx, second)
}

// halves splits a batch in two; not that of one row.
func halves(in store.FinishRows) (first, second store.FinishRows, ok bool) {
	first, second = in, in
	c, f := len(in.Created)/2, len(in.Failed)/2
	if len(in.Created) == 1 && len(in.Failed) > 0 {
		c = 1
	}
	first.Created, second.Created = in.Created[:c], in.Created[c:]
	first.Failed, second.Failed = in.Failed[:f], in.Failed[f:]
	return first, second, len(in.Created)+len(in.Failed) > 1
}

// unfit is a batch of one row that fails with a message of ours.
func unfit(in store.FinishRows, message string) store.FinishRows {
	index := 0
	for _, t := range in.Created {
		index = t.Index
	}
	for _, r := range in.Failed {
		index = r.Index
	}
	in.Created = nil
	in.Failed = []store.UploadRow{{Index: index, Errors: []seeding.ItemError{{Index: index, Message: message}}}}
	return in
}
