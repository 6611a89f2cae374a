package console

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/taskloom/taskloom/internal/blob"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// Objects is the part of the object store that forms need.
type Objects interface {
	PresignGet(ctx context.Context, key string, d blob.Download, lives time.Duration) (string, error)
}

// linkLives is how long a link to a file works; the form asks for its claim
// again to get new ones.
const linkLives = 5 * time.Minute

// File is a file that the form shows, with a short-lived link to it.
type File struct {
	FileID      string    `json:"file_id" doc:"As in the field's value."`
	Name        string    `json:"name"`
	Size        int64     `json:"size" doc:"In bytes."`
	ContentType string    `json:"content_type" doc:"By the file's bytes, not by its name."`
	URL         string    `json:"url" doc:"Shows the file where its type is harmless to show, else saves it."`
	DownloadURL string    `json:"download_url" doc:"Saves the file."`
	ExpiresAt   time.Time `json:"expires_at" doc:"When the links stop working; get the claim again for new ones."`
}

// seededFiles links the files that the task was created with. What people
// wrote into a value links nothing: any id could stand there.
func (a *api) seededFiles(ctx context.Context, orgID int64, fields []Field, values form.Values) ([]File, error) {
	var ids []uuid.UUID
	for _, f := range fields {
		if f.Type == string(form.FileUpload) && f.Input == string(form.Seeded) {
			ids = append(ids, fileIDs(values[f.Name])...)
		}
	}
	out := []File{}
	if len(ids) == 0 || a.Objects == nil {
		return out, nil
	}
	found, err := a.Store.FilesByID(ctx, orgID, ids)
	if err != nil {
		return nil, err
	}
	until := a.Now().Add(linkLives).UTC()
	for _, f := range found {
		linked, err := a.link(ctx, f)
		if err != nil {
			return nil, err
		}
		linked.ExpiresAt = until
		out = append(out, linked)
	}
	return out, nil
}

func (a *api) link(ctx context.Context, f store.File) (File, error) {
	out := File{FileID: f.ID.String(), Name: f.Name, Size: f.Size, ContentType: f.ContentType}
	d := blob.Download{Name: f.Name, ContentType: f.ContentType}
	var err error
	if out.DownloadURL, err = a.Objects.PresignGet(ctx, f.Key, d, linkLives); err != nil {
		return out, err
	}
	d.Inline = true
	out.URL, err = a.Objects.PresignGet(ctx, f.Key, d, linkLives)
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
