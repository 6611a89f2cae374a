// Package zipgen makes archives of any size without keeping them anywhere: the
// same bytes come each time that one is written.
package zipgen

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// Archive is files of equal size with contents that no compressor can shrink.
type Archive struct {
	Files int
	Size  int64 // of each file
	// Deflated writes the entries as most programs do, which deflate whatever
	// they are given: blocks of stored bytes, since nothing is to be gained.
	Deflated bool
	Seed     uint64
}

// Name is the name of a file, by its number from 0. Names are in order.
func (a Archive) Name(i int) string { return fmt.Sprintf("scan-%06d.bin", i) }

// Bytes is the size of all files together.
func (a Archive) Bytes() int64 { return int64(a.Files) * a.Size }

// Content reads a file.
func (a Archive) Content(i int) io.Reader {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], a.Seed)
	binary.LittleEndian.PutUint64(seed[8:], uint64(i)) //nolint:gosec // files count from 0
	return io.LimitReader(rand.NewChaCha8(seed), a.Size)
}

// Length is the exact size of the archive. It depends on the sizes of the files
// alone, so files of zeros tell it.
func (a Archive) Length() (int64, error) {
	var n counter
	err := a.write(&n, func(int) io.Reader { return io.LimitReader(zeros{}, a.Size) })
	return int64(n), err
}

// Write writes the archive.
func (a Archive) Write(w io.Writer) error { return a.write(w, a.Content) }

func (a Archive) write(w io.Writer, content func(i int) io.Reader) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.NoCompression) })
	method := zip.Store
	if a.Deflated {
		method = zip.Deflate
	}
	buffer := make([]byte, 256<<10)
	for i := range a.Files {
		entry, err := z.CreateHeader(&zip.FileHeader{
			Name: a.Name(i), Method: method, Modified: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC),
		})
		if err != nil {
			return fmt.Errorf("begin %s: %w", a.Name(i), err)
		}
		if _, err := io.CopyBuffer(entry, content(i), buffer); err != nil {
			return fmt.Errorf("write %s: %w", a.Name(i), err)
		}
	}
	return z.Close()
}

// Sums are the SHA-256 of the files, by their numbers.
func (a Archive) Sums() ([][sha256.Size]byte, error) {
	sums := make([][sha256.Size]byte, a.Files)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range sums {
		g.Go(func() error {
			h := sha256.New()
			if _, err := io.Copy(h, a.Content(i)); err != nil {
				return err
			}
			h.Sum(sums[i][:0])
			return nil
		})
	}
	return sums, g.Wait()
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
