package demo

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
)

// largeArchive is an archive that is never held whole: its bytes follow from
// its seed, so it can be written twice, once to learn its size.
type largeArchive struct {
	seed     uint64
	files    int
	fileSize int64
}

func (a largeArchive) name(i int) string { return fmt.Sprintf("file-%06d.bin", i) }

// content is what file i holds; it does not compress.
func (a largeArchive) content(i int) io.Reader {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], a.seed)
	binary.LittleEndian.PutUint64(seed[8:], uint64(i))
	return io.LimitReader(rand.NewChaCha8(seed), a.fileSize)
}

// sum is the SHA-256 of file i.
func (a largeArchive) sum(i int) string {
	h := sha256.New()
	_, _ = io.Copy(h, a.content(i)) // neither side fails
	return hex.EncodeToString(h.Sum(nil))
}

// writeTo writes the archive. Every second file is deflated, in blocks that
// are stored as they are: that is quick, and the size does not depend on the
// content.
func (a largeArchive) writeTo(w io.Writer, content func(i int) io.Reader) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.NoCompression) })
	for i := range a.files {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.name(i), Method: []uint16{zip.Store, zip.Deflate}[i%2]})
		if err == nil {
			_, err = io.Copy(f, content(i))
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// open returns the archive as a stream, and its size.
func (a largeArchive) open() (io.ReadCloser, int64, error) {
	var n counter
	err := a.writeTo(&n, func(int) io.Reader { return io.LimitReader(zeros{}, a.fileSize) })
	if err != nil {
		return nil, 0, err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(a.writeTo(w, a.content)) }()
	return r, int64(n), nil
}

// zeros stand in for content where only the size matters.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
