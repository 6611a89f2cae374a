package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/filetype"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/store"
)

// completionsAtOnce bounds the files that one process reads at a time; each
// takes a few hundred kilobytes of memory, whatever its size.
const completionsAtOnce = 4

// errNotPut is for a completion that comes too early.
var errNotPut = fault.New(fault.Conflict,
	"the file's bytes have not arrived in the object store; put them to the upload_url, then complete it")

// errUploadOver is for a completion that comes too late: the sweep deletes what was put.
var errUploadOver = fault.New(fault.Validation, "the upload of this file began more than a day ago, so it is given up: upload it again")

func (a *api) completeFile(ctx context.Context, in *onFileInput) (*completedFileOutput, error) {
	claim, err := a.Store.LiveClaim(ctx, caller(ctx).ID, in.ClaimID)
	if err != nil {
		return nil, err
	}
	id, err := uuid.Parse(in.FileID)
	if err != nil {
		return nil, fault.New(fault.NotFound, "file not found: file_id in the path is a UUID")
	}
	file, err := a.Store.TaskFile(ctx, claim, id)
	if err != nil {
		return nil, err
	}
	if a.Objects == nil {
		return nil, errNoObjects
	}
	if file.CompletedAt == nil {
		edge.From(ctx).Leave() // copying has a line of its own
		if file.File, err = a.settle(ctx, claim, file); err != nil {
			return nil, err
		}
	}
	linked, err := a.link(ctx, file.File)
	linked.ExpiresAt = a.Now().Add(linkLives).UTC()
	return &completedFileOutput{Body: CompletedFile{File: linked, SHA256: file.SHA256}}, err
}

// settle makes the file of what was put: looked at and copied to where nobody
// but us can write, in one reading. Whoever of two callers is first decides.
func (a *api) settle(ctx context.Context, claim store.Claim, file store.TaskFile) (store.File, error) {
	select {
	case a.completions <- struct{}{}:
		defer func() { <-a.completions }()
	case <-ctx.Done():
		return store.File{}, context.Cause(ctx)
	}
	field, err := a.Store.UploadField(ctx, claim, file.Field)
	if err != nil {
		return store.File{}, err
	}
	settled, err := a.copyFile(ctx, claim, field, file)
	if err != nil {
		a.dropCopy(ctx, claim, settled) // a transfer that was cut may have arrived
		// Somebody who was faster has deleted what was put.
		if now, e := a.Store.TaskFile(ctx, claim, file.ID); e == nil && now.CompletedAt != nil {
			return now.File, nil
		}
		return store.File{}, err
	}
	// From here on it is done to its end, also when the caller has left: a statement
	// that is given up may be carried out all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	first, err := a.Store.CompleteTaskFile(ctx, claim, settled)
	if err != nil {
		a.dropCopy(ctx, claim, settled)
		return store.File{}, err
	}
	if first {
		a.dropObject(ctx, file.UploadKey)
		return settled, nil
	}
	a.dropObject(ctx, settled.Key)
	file, err = a.Store.TaskFile(ctx, claim, file.ID)
	if err == nil && file.CompletedAt == nil {
		err = errUploadOver
	}
	return file.File, err
}

// copyFile copies what was put, if the field takes it. The key is another one
// at each try, so that nothing that somebody completed is ever overwritten.
func (a *api) copyFile(ctx context.Context, claim store.Claim, field form.Field, file store.TaskFile) (store.File, error) {
	out := file.File
	there, err := a.Objects.Head(ctx, file.UploadKey)
	if fault.Is(err, fault.NotFound) {
		return out, errNotPut
	}
	if err != nil {
		return out, err
	}
	if there.Size != file.Size {
		return out, unfitFile(field.Name, fmt.Sprintf("the file was announced with %d bytes, but %d arrived: upload it again", file.Size, there.Size))
	}
	body, err := a.Objects.Reader(ctx, file.UploadKey, there).Stream(0, there.Size) //nolint:contextcheck // the Reader has it
	if err != nil {
		return out, changed(err)
	}
	defer body.Close()
	head := make([]byte, min(filetype.SniffBytes, there.Size))
	if _, err := io.ReadFull(body, head); err != nil {
		return out, changed(err)
	}
	kinds := filetype.Kinds(file.Name, filetype.Sniff(head).String())
	if !filetype.Honest(file.Name, head) {
		return out, unfitFile(field.Name, fmt.Sprintf("the file %q is not what its name says: its content is %s", file.Name, kinds[0]))
	}
	if out.ContentType, err = fitting(field, file.Name, file.Size, kinds); err != nil {
		return out, err
	}
	out.Key = store.TaskFileCopy(claim.OrgID, claim.TaskID, file.ID, rand.Text()[:8])
	if out.SHA256, err = a.Objects.Put(ctx, out.Key, out.ContentType, file.Size, io.MultiReader(bytes.NewReader(head), body)); err != nil {
		return out, changed(err)
	}
	return out, nil
}

// changed says of an object that was put again while it was read what to do.
func changed(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && (f.Kind == fault.Conflict || f.Kind == fault.NotFound) {
		return fault.New(fault.Conflict, "the file was put again while it was looked at; complete it once more").Because(err)
	}
	return err
}

// dropObject deletes what is not needed any more. What stays is swept.
func (a *api) dropObject(ctx context.Context, key string) {
	if err := a.Objects.Delete(ctx, key); err != nil {
		edge.From(ctx).Note(slog.String("object_left", key), slog.String("object_error", err.Error()))
	}
}

// settleTime bounds what is done for somebody who may not wait for it any more: noting
// what the file is, and deleting a copy.
const settleTime = 10 * time.Second

// dropCopy deletes a copy that did not become the file, also when the caller has
// left: the sweep finds it a day later only. It stays for the sweep where it cannot be
// asked whether it became the file all the same: once what is under way with the file
// is over, for a submission must not name a file whose bytes are gone.
func (a *api) dropCopy(ctx context.Context, claim store.Claim, copied store.File) {
	if copied.Key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	now, err := a.Store.SettledTaskFile(ctx, claim, copied.ID)
	if planted.Enabled && planted.Is(planted.CopyUnasked) {
		now.Key, err = "", nil
	}
	switch {
	case err == nil && now.Key != copied.Key, fault.Is(err, fault.NotFound):
		a.dropObject(ctx, copied.Key)
	case err != nil:
		edge.From(ctx).Note(slog.String("object_left", copied.Key), slog.String("object_error", err.Error()))
	}
}

func mustEncode(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers
	}
	return doc
}
