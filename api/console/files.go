package console

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// Objects is the part of the object store that forms need.
type Objects interface {
	PresignGet(ctx context.Context, key string, d blob.Download, lives time.Duration) (string, error)
	PresignPutSized(ctx context.Context, key, contentType string, size int64, lives time.Duration) (string, error)
	Head(ctx context.Context, key string) (blob.Object, error)
	Reader(ctx context.Context, key string, o blob.Object) *blob.Reader
	Put(ctx context.Context, key, contentType string, size int64, from io.Reader) (sum string, err error)
	Delete(ctx context.Context, key string) error
}

// taskFiles is the part of the database that uploads of people need.
type taskFiles interface {
	UploadField(ctx context.Context, c store.Claim, name string) (form.Field, error)
	CreateTaskFile(ctx context.Context, c store.Claim, f store.TaskFile) error
	TaskFile(ctx context.Context, c store.Claim, id uuid.UUID) (store.TaskFile, error)
	SettledTaskFile(ctx context.Context, c store.Claim, id uuid.UUID) (store.TaskFile, error)
	CompleteTaskFile(ctx context.Context, c store.Claim, f store.File) (bool, error)
	TaskFiles(ctx context.Context, orgID, taskID int64, ids []uuid.UUID) ([]store.File, error)
}

// linkLives is how long a link to a file works; the form asks for its claim
// again to get new ones.
const linkLives = 5 * time.Minute

// File is a file that the form shows, with a short-lived link to it.
type File struct {
	FileID      string    `json:"file_id" doc:"As in the field's value."`
	Name        string    `json:"name"`
	Size        int64     `json:"size" doc:"In bytes."`
	ContentType string    `json:"content_type" doc:"By the file's bytes; among types that bytes cannot tell apart, by its name."`
	URL         string    `json:"url" doc:"Shows the file where its type is harmless to show, else saves it."`
	DownloadURL string    `json:"download_url" doc:"Saves the file."`
	ExpiresAt   time.Time `json:"expires_at" doc:"When the links stop working; get the claim again for new ones."`
}

// filesIn links the files of a task that values of its fields name: those that
// it was created with, which the task's own values name, and those that people uploaded
// for it, which whatever they wrote may name. What else people wrote into a value links
// nothing: any id could stand there.
func (a *api) filesIn(ctx context.Context, orgID, taskID int64, fields []Field, own form.Values, written ...form.Values) ([]File, error) {
	var seeded, uploaded []uuid.UUID
	for _, f := range fields {
		switch {
		case f.Type != string(form.FileUpload):
		case f.Input == string(form.Seeded):
			seeded = append(seeded, fileIDs(own[f.Name])...)
		case f.Input == string(form.Contributor):
			for _, values := range append(written, own) {
				uploaded = append(uploaded, fileIDs(values[f.Name])...)
			}
		}
	}
	if a.Objects == nil {
		return []File{}, nil
	}
	var found []store.File
	if len(seeded) > 0 {
		files, err := a.Store.FilesByID(ctx, orgID, seeded)
		if err != nil {
			return nil, err
		}
		found = files
	}
	if len(uploaded) > 0 {
		files, err := a.Store.TaskFiles(ctx, orgID, taskID, uploaded)
		if err != nil {
			return nil, err
		}
		found = append(found, files...)
	}
	return a.links(ctx, found)
}

func (a *api) links(ctx context.Context, files []store.File) ([]File, error) {
	out := make([]File, len(files))
	until := a.Now().Add(linkLives).UTC()
	for i, f := range files {
		var err error
		if out[i], err = a.link(ctx, f); err != nil {
			return nil, err
		}
		out[i].ExpiresAt = until
	}
	return out, nil
}

func (a *api) link(ctx context.Context, f store.File) (File, error) {
	out := File{FileID: f.ID.String(), Name: f.Name, Size: f.Size, ContentType: f.ContentType}
	d := blob.Download{Name: f.Name, ContentType: f.ContentType}
	var err error
	if out.DownloadURL, err = a.Objects.PresignGet(ctx, f.Key, d, linkLives+blob.LinkSlack); err != nil {
		return out, err
	}
	d.Inline = true
	out.URL, err = a.Objects.PresignGet(ctx, f.Key, d, linkLives+blob.LinkSlack)
	return out, err
}

// fileIDs reads the ids of a file_upload value: one file, or an array of them.
func fileIDs(value json.RawMessage) []uuid.UUID {
	type file struct {
		ID string `json:"file_id"`
	}
	var all []file
	if json.Unmarshal(value, &all) != nil {
		var one file
		if json.Unmarshal(value, &one) != nil {
			return nil
		}
		all = []file{one}
	}
	var ids []uuid.UUID
	for _, f := range all {
		if id, err := uuid.Parse(f.ID); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
