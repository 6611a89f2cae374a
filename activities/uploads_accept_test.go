package activities_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
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
