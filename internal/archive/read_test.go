package archive_test

import (
	"archive/zip"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/archive"
)

// noise does not compress.
func noise(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func TestLongEntriesAreStreamedAndShortOnesAreNot(t *testing.T) {
	t.Parallel()
	long, short := noise(1<<20+1), noise(1<<19)
	data := build(t, "", file{name: "long", data: long}, file{name: "long stored", data: long, head: stored},
		file{name: "short", data: short}, file{name: "short stored", data: short, head: stored})
	src := source(data)
	a, err := archive.Open(src, limits())
	require.NoError(t, err)
	for name, want := range map[string]string{"long": long, "long stored": long, "short": short, "short stored": short} {
		before := src.streams
		got, err := content(t, a, name)
		require.NoError(t, err)
		require.Equal(t, crc32.ChecksumIEEE([]byte(want)), crc32.ChecksumIEEE([]byte(got)), name) // a failure shows no megabytes
		require.Equal(t, strings.HasPrefix(name, "long"), src.streams > before, name)
	}
}

func TestAReaderBehaves(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("some text ", 1000)
	a := open(t, build(t, "", file{name: "a", data: text}, file{name: "b", data: text, head: stored}))
	for _, e := range a.Entries {
		r, err := a.Read(e)
		require.NoError(t, err)
		require.NoError(t, iotest.TestReader(r, []byte(text)))
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		r, err = a.Read(e)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, fs.ErrClosed)
	}
}

func TestAnEntryIsHeldToItsSizeAndChecksum(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("some text ", 1000)
	long := noise(1<<20 + 100)
	size := func(by int) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) { h.UncompressedSize64 += uint64(by) }
	}
	sum := func(h *zip.FileHeader) { h.CRC32++ }
	for name, c := range map[string]struct {
		file  file
		patch func(data []byte) []byte
		says  string
	}{
		"more than declared":       {file: file{name: "a", data: text, head: size(-1)}, says: "more bytes than it declares"},
		"much more":                {file: file{name: "a", data: strings.Repeat("\x00", 15<<20), head: func(h *zip.FileHeader) { h.UncompressedSize64 = 100 }}, says: "more bytes than it declares"},
		"fewer than declared":      {file: file{name: "a", data: text, head: size(1)}, says: "fewer bytes than it declares"},
		"long, more than declared": {file: file{name: "a", data: long, head: size(-1)}, says: "more bytes"},
		"long, fewer":              {file: file{name: "a", data: long, head: size(1)}, says: "fewer bytes"},
		"checksum":                 {file: file{name: "a", data: text, head: sum}, says: "checksum"},
		"no checksum":              {file: file{name: "a", data: text, head: func(h *zip.FileHeader) { h.CRC32 = 0 }}, says: "checksum"},
		"stored checksum":          {file: file{name: "a", data: text, head: func(h *zip.FileHeader) { stored(h); sum(h) }}, says: "checksum"},
		"long checksum":            {file: file{name: "a", data: long, head: sum}, says: "checksum"},
		"packed data cut": {file: file{name: "a", data: long}, patch: func(data []byte) []byte {
			return patched(data, headers(data)[0]+20, le32(1<<20))
		}, says: "middle of its packed data"},
		"packed data damaged": {file: file{name: "a", data: text}, patch: func(data []byte) []byte {
			return patched(data, 31, []byte("\xff\xff\xff\xff"))
		}, says: "packed data that is damaged"},
		"no local header": {file: file{name: "a", data: text}, patch: func(data []byte) []byte {
			return patched(data, 0, []byte("XX"))
		}, says: "does not begin where"},
		"local method": {file: file{name: "a", data: text}, patch: func(data []byte) []byte {
			return patched(data, 8, le16(0))
		}, says: "contradict each other"},
		"local encryption": {file: file{name: "a", data: text}, patch: func(data []byte) []byte {
			return patched(data, 6, le16(1))
		}, says: "contradict each other"},
		"local name leads out": {file: file{name: "a", data: text}, patch: func(data []byte) []byte {
			return patched(data, 26, le16(0xffff))
		}, says: "outside of the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := build(t, "", c.file)
			if c.patch != nil {
				data = c.patch(data)
			}
			a := open(t, data)
			require.Empty(t, a.Entries[0].Problem)
			got, err := content(t, a, "a")
			var e *archive.EntryError
			require.ErrorAs(t, err, &e)
			require.Equal(t, "a", e.Name)
			require.Contains(t, e.Message, c.says)
			require.Contains(t, e.Message, `the entry "a"`)
			// Who counts bytes must not take it for whole.
			require.Less(t, int64(len(got)), a.Entries[0].Size)
		})
	}
}

func TestErrorsOfTheSourceComeThroughRead(t *testing.T) {
	t.Parallel()
	away := errors.New("the store is away")
	for name, head := range map[string]func(*zip.FileHeader){"deflated": nil, "stored": stored} {
		for _, n := range []int{100_000, 1<<20 + 1} {
			data := build(t, "", file{name: "a", data: noise(n), head: head})
			src := source(data)
			a, err := archive.Open(src, limits())
			require.NoError(t, err)
			for _, at := range []int64{0, 20, 31, 50, 50_000, int64(n - 10)} {
				src.fails, src.failsAt = away, at
				_, err = content(t, a, "a")
				require.ErrorIs(t, err, away, "%s, %d of %d", name, at, n)
				src.fails = io.EOF // the source is shorter than it says
				_, err = content(t, a, "a")
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s, %d of %d", name, at, n)
			}
		}
	}
}
