package activities

import (
	"context"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// shape is what the pipeline's current version asks of a row.
type shape struct {
	versionID int64
	pipeline  *pipeline.Pipeline
	fields    map[string]fileField
	// closed says why the pipeline takes no tasks now; nil when it does.
	closed error
}

// fileField is a seeded file_upload field.
type fileField struct {
	form.Field

	// one is the field for a single file: what is asked of each by itself.
	one *form.Form
}

// shape reads which version new tasks get. Nearly always that is the one that
// it was before.
func (i *ingestion) shape(ctx context.Context) (*shape, error) {
	row, err := i.Store.Pipeline(ctx, i.upload.OrgID, i.upload.PipelineID)
	if err != nil {
		return nil, err
	}
	if row.VersionID == nil {
		return nil, &unusable{"the workflow has no published version; publish one and make a new upload"}
	}
	if i.known == nil || i.known.versionID != *row.VersionID {
		p, err := i.Store.Version(ctx, *row.VersionID)
		if err != nil {
			return nil, err
		}
		i.known = &shape{versionID: *row.VersionID, pipeline: p, fields: fileFields(p)}
	}
	i.known.closed = nil
	if !pipeline.AcceptsTasks(row.Status) {
		i.known.closed = store.NotAccepting(row.Status)
	}
	return i.known, nil
}

func fileFields(p *pipeline.Pipeline) map[string]fileField {
	out := map[string]fileField{}
	for _, f := range p.Seed.Fields() {
		if f.Type != form.FileUpload || f.Input != form.Seeded {
			continue
		}
		one := form.Field{Name: f.Name, Title: f.Title, Type: f.Type, Input: f.Input, Accept: f.Accept}
		one.Rules.Accept, one.Rules.MaxBytes = f.Rules.Accept, f.Rules.MaxBytes
		out[f.Name] = fileField{Field: f, one: form.New([]form.Field{one})}
	}
	return out
}
