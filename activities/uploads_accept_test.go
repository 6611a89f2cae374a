package activities_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

func TestNoiseIsNoGzip(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("text"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("doc"))))
	got, result := h.run(h.upload(dbtest.Zip(t,
		dbtest.ZipEntry{Name: "noise", Body: []byte("\x1f\x8b\x99\xff noise")},
		dbtest.ZipEntry{Name: "short", Body: []byte("\x1f\x8b")},
		dbtest.ZipEntry{Name: "text.gz", Body: packed.Bytes()},
		dbtest.ZipEntry{Name: "paper.docx", Body: dbtest.Zip(t, texts("[Content_Types].xml")...)}, // its beginning does not tell
	)))
	require.Equal(t, store.UploadCompleted, got.Status)
	require.Len(t, result.Errors, 1)
	require.Contains(t, result.Errors[0].Message, "text.gz")
}

// Bytes tell neither kinds of plain text apart nor sound from films. A field takes
// such files by their names; they are served as what their bytes show.
func TestAFieldTakesWhatBytesCannotTellByItsName(t *testing.T) {
	t.Parallel()
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("doc", "text/markdown", "audio/*"))))
	got, result := h.run(h.upload(dbtest.Zip(t,
		dbtest.ZipEntry{Name: "a.md", Body: []byte("# Notes")},
		dbtest.ZipEntry{Name: "b.md", Body: []byte("<!doctype html><script>alert(1)</script>")},
		dbtest.ZipEntry{Name: "c.md", Body: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)},
		dbtest.ZipEntry{Name: "d.txt", Body: []byte("# Notes")},
		dbtest.ZipEntry{Name: "e.webm", Body: []byte("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82\x84webm and so on")},
	)))
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, []int{5, 2, 3}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount}, "%v", messages(result))
	require.Len(t, result.Errors, 3)
	for i, name := range []string{"b.md", "c.md", "d.txt"} {
		require.Contains(t, result.Errors[i].Message, name)
		require.Contains(t, result.Errors[i].Message, "not accepted")
	}
	for i, c := range []struct{ as, shown string }{
		{"text/markdown; charset=utf-8", "text/plain; charset=utf-8"}, {"audio/webm", "video/webm"},
	} {
		var value seeding.File
		require.NoError(t, json.Unmarshal(h.input(result.TaskIDs[i])["doc"], &value))
		require.Equal(t, c.as, value.ContentType)
		files, err := h.Store.FilesByID(t.Context(), h.OrgID, []uuid.UUID{uuid.MustParse(value.FileID)})
		require.NoError(t, err)
		require.Equal(t, c.shown, files[0].ContentType)
	}
}
