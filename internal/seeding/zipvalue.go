package seeding

import (
	"encoding/json"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// File is a stored file as a value of a file_upload field describes it.
type File struct {
	FileID      string `json:"file_id"`
	Name        string `json:"name"`
	Size        int64  `json:"size"`
	ContentType string `json:"content_type,omitempty"`
	SHA256      string `json:"sha256,omitempty"`
}

// FileValue is the value of a file_upload field that takes one file.
func FileValue(f File) json.RawMessage { return encode(f) }

// FilesValue is the value of a file_upload field: an array when it is multiple,
// else the first file. Without files it is not answered.
func FilesValue(multiple bool, fs []File) json.RawMessage {
	switch {
	case len(fs) == 0:
		return json.RawMessage("null")
	case multiple:
		return encode(fs)
	}
	return FileValue(fs[0])
}

// encode marshals texts and numbers, which cannot fail.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// fileFields returns the fields that a ZIP fills, in form order.
func fileFields(p *pipeline.Pipeline) []form.Field {
	var out []form.Field
	for _, f := range p.Seed.Fields() {
		if f.Input == form.Seeded && f.Type == form.FileUpload {
			out = append(out, f)
		}
	}
	return out
}
