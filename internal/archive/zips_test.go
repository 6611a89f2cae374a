package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/archive"
)

// memory is a Source that counts what is asked of it.
type memory struct {
	*bytes.Reader
	streams, read int64
	// fails is what reads from failsAt on answer, when it is set.
	fails   error
	failsAt int64
}

func source(data []byte) *memory { return &memory{Reader: bytes.NewReader(data)} }

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	if m.fails != nil && off+int64(len(p)) > m.failsAt {
		n, _ := m.Reader.ReadAt(p[:max(0, min(int64(len(p)), m.failsAt-off))], off)
		return n, m.fails
	}
	n, err := m.Reader.ReadAt(p, off)
	m.read += int64(n)
	return n, err
}

func (m *memory) Stream(off, n int64) (io.ReadCloser, error) {
	m.streams++
	return io.NopCloser(io.NewSectionReader(m, off, n)), nil
}

// file is one entry to write. Data that is not packed already is deflated.
type file struct {
	name string
	data string
	// head changes the header before it is written; sizes and checksum are set.
	head func(*zip.FileHeader)
}

func deflated(t testing.TB, data string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	require.NoError(t, err)
	_, err = io.WriteString(w, data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

// build writes an archive whose headers say what the files' head functions make
// them say.
func build(t testing.TB, comment string, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	x := deflated(t, "x") // what most files hold
	for _, f := range files {
		packed := x
		if f.data != "x" {
			packed = deflated(t, f.data)
		}
		h := &zip.FileHeader{
			Name: f.name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE([]byte(f.data)), CreatorVersion: 3<<8 | 20,
			CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(f.data)),
		}
		if strings.HasSuffix(f.name, "/") {
			h.Method, h.CompressedSize64, packed = zip.Store, 0, ""
		}
		if f.head != nil {
			f.head(h)
		}
		if h.Method == zip.Store {
			packed = f.data
		}
		e, err := w.CreateRaw(h)
		require.NoError(t, err)
		_, err = io.WriteString(e, packed)
		require.NoError(t, err)
	}
	require.NoError(t, w.SetComment(comment))
	require.NoError(t, w.Close())
	return out.Bytes()
}

// stored makes an entry that is not compressed.
func stored(h *zip.FileHeader) {
	h.Method, h.CompressedSize64 = zip.Store, h.UncompressedSize64
}

// headers returns where the directory's headers begin.
func headers(data []byte) []int {
	var at []int
	for i := 0; ; {
		next := bytes.Index(data[i:], []byte("PK\x01\x02"))
		if next < 0 {
			return at
		}
		at = append(at, i+next)
		i += next + 4
	}
}

// patched is a copy with bytes from at on replaced.
func patched(data []byte, at int, with []byte) []byte {
	data = bytes.Clone(data)
	copy(data[at:], with)
	return data
}

func le16(n uint16) []byte { return binary.LittleEndian.AppendUint16(nil, n) }
func le32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func le64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// limits are small ones, so that tests need no large archives.
func limits() archive.Limits {
	l := archive.DefaultLimits()
	l.Entries, l.FileBytes, l.TotalBytes = 1000, 16<<20, 32<<20
	return l
}

func open(t testing.TB, data []byte) *archive.Archive {
	t.Helper()
	a, err := archive.Open(source(data), limits())
	require.NoError(t, err)
	return a
}

func names(a *archive.Archive) []string {
	out := []string{}
	for _, e := range a.Entries {
		out = append(out, e.Name)
	}
	return out
}

func content(t testing.TB, a *archive.Archive, name string) (string, error) {
	t.Helper()
	e, err := a.Find(name)
	require.NoError(t, err)
	r, err := a.Read(e)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	require.NoError(t, r.Close())
	return string(data), err
}
