package dbtest

import (
	"archive/zip"
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// FileField is a required file_upload field that is seeded.
func FileField(name string, accept ...string) form.Field {
	return form.Field{Name: name, Title: name, Type: form.FileUpload, Input: form.Seeded, Required: true, Accept: accept}
}

// FileDefinition is a pipeline with one subtask, which shows the seeded fields
// and asks for a label. Without fields it shows a caption and a file, doc.
func FileDefinition(seeded ...form.Field) pipeline.Definition {
	if len(seeded) == 0 {
		seeded = []form.Field{
			{Name: "caption", Title: "Caption", Type: form.ShortText, Input: form.Seeded, Required: true}, FileField("doc"),
		}
	}
	label := form.Field{Name: "label", Title: "Label", Type: form.ShortText, Input: form.Contributor, Required: true}
	return pipeline.Definition{
		Name: "Label files",
		Nodes: []pipeline.Node{
			{Key: "start", Kind: pipeline.KindStart},
			{Key: "label", Kind: pipeline.KindSubtask, Title: "Label the file", Fields: append(seeded, label)},
			{Key: "end", Kind: pipeline.KindEnd},
		},
		Edges: []pipeline.Edge{{From: "start", To: "label"}, {From: "label", To: "end"}},
	}
}

// ZipEntry is a file of an archive.
type ZipEntry struct {
	Name string
	Body []byte
	// Header, when set, is written as it is; Body is then the packed bytes.
	Header *zip.FileHeader
}

// Zip packs entries in their order.
func Zip(t testing.TB, entries ...ZipEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		if e.Header != nil {
			w, err := z.CreateRaw(e.Header)
			require.NoError(t, err)
			_, err = w.Write(e.Body)
			require.NoError(t, err)
			continue
		}
		w, err := z.Create(e.Name)
		require.NoError(t, err)
		_, err = w.Write(e.Body)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// AddUpload makes a confirmed upload of the world's pipeline, whose run has not
// been told yet. Without rows they come from the archive.
func (w *World) AddUpload(t testing.TB, key string, size int64, etag string, rows ...store.UploadRow) store.Upload {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	u, _, err := w.Store.CreateUpload(t.Context(), store.NewUpload{
		ID: id, OrgID: w.OrgID, PipelineID: w.PipelineID, Actor: w.Admin, ObjectKey: key, Lives: time.Hour, Rows: rows,
	})
	require.NoError(t, err)
	u, _, err = w.Store.ConfirmUpload(t.Context(), store.ConfirmUpload{
		OrgID: w.OrgID, PipelineID: w.PipelineID, ID: u.ID, ArchiveBytes: size, ArchiveETag: etag,
	})
	require.NoError(t, err)
	return u
}

// LoadUpload returns where an upload stands.
func (w *World) LoadUpload(t testing.TB, id uuid.UUID) (store.Upload, store.UploadResult) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	u, err := w.Store.LoadUpload(ctx, id)
	require.NoError(t, err)
	r, err := w.Store.UploadResult(ctx, u.OrgID, id)
	require.NoError(t, err)
	return u, r
}
