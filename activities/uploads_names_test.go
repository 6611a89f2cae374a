package activities_test

import (
	"archive/zip"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// Names that Windows wrote in its own encoding cannot be used, but each of the files
// is counted, and told by what can be shown of its name.
func TestFilesWhoseNamesCannotBeReadAreRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	h := newHall(t, dbtest.WithDefinition(dbtest.FileDefinition(dbtest.FileField("doc"))))
	entries := texts("a.txt")
	for _, name := range []string{"\xae\xe2\xe7\xa5\xe2.pdf", "\xa0\xaa\xe2.pdf", strings.Repeat("\xa5", 90) + ".pdf"} {
		body := []byte("a page")
		entries = append(entries, dbtest.ZipEntry{Body: body, Header: &zip.FileHeader{
			Name: name, NonUTF8: true, Method: zip.Store, CRC32: crc32.ChecksumIEEE(body),
			CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body)),
		}})
	}
	got, result := h.run(h.upload(dbtest.Zip(t, entries...)))
	require.Equal(t, store.UploadCompleted, got.Status, got.Message)
	require.Equal(t, []int{4, 1, 3}, []int{got.RowsTotal, got.SuccessCount, got.ErrorCount}, "%v", messages(result))
	require.Len(t, result.Errors, 3)
	for i, shown := range []string{`"%A0%AA%E2.pdf"`, `"%A5%A5%A5`, `"%AE%E2%E7%A5%E2.pdf"`} {
		require.Contains(t, result.Errors[i].Message, shown)
		require.Contains(t, result.Errors[i].Message, "not UTF-8")
	}
}
