// Package archive reads ZIP archives that strangers made. It opens them by
// ranges, judges every entry before a byte of it is unpacked, and holds each
// entry to what the directory declares, so that one bad entry costs its own row
// and a bad archive is refused with the way out (spec 4.2). Its memory is
// bounded by Limits, whatever the archive claims. It writes nowhere: names are
// judged for what they could do elsewhere and for being shown. It is pure: it
// reads only through the Source that it is given.
package archive

import (
	"archive/zip"
	"errors"
	"io"
	"sync"

	"github.com/taskloom/taskloom/internal/fault"
)

// Source is an archive that can be read by ranges.
type Source interface {
	io.ReaderAt
	// Size is the archive's size in bytes.
	Size() int64
	// Stream reads n bytes from off; for long stretches, which would only wash
	// out a cache.
	Stream(off, n int64) (io.ReadCloser, error)
}

// Limits bound what an archive may hold and declare. All must be set; see
// DefaultLimits.
type Limits struct {
	// Entries is the largest number of entries, folders and litter included.
	Entries int
	// TotalBytes bounds what all usable entries unpack to.
	TotalBytes int64
	// FileBytes bounds what one entry unpacks to.
	FileBytes int64
	// Ratio bounds unpacked by packed size of one entry. Entries that unpack to
	// less than 1 MiB may exceed it: small texts and blank images do.
	Ratio int
	// NameBytes is the longest path of an entry.
	NameBytes int
	// Depth is the largest number of folders in a path.
	Depth int
}

// DefaultLimits returns the limits of a deployment that sets none.
func DefaultLimits() Limits {
	return Limits{Entries: 100_000, TotalBytes: 20 << 30, FileBytes: 5 << 30, Ratio: 200, NameBytes: 1024, Depth: 16}
}

// Entry is one regular file of the archive.
type Entry struct {
	// Name is the path as written, in NFC, separated by "/", without a leading
	// "./". It is always safe to show: valid UTF-8 without control characters.
	// Where the archive has others, %XX stands for each of their bytes and Problem
	// says so. Where a name that cannot be used looks like another one, a number
	// follows it.
	Name string
	// Size is what the entry declares to unpack to; Read holds it to that.
	Size int64
	// Problem says why the entry cannot be used, naming it; "" when it can.
	Problem string

	offset int64 // of the local header
	packed int64
	crc    uint32
	method uint16
}

// Offset is where the entry begins in the archive, for reading entries in the
// archive's order. It costs no read; 0 when it is unknown.
func (e *Entry) Offset() int64 { return max(0, e.offset) }

// Skipped is an entry that is no file of the caller's: archive litter.
type Skipped struct{ Name, Reason string }

// EntryError says why one entry could not be read; the archive's other entries
// may be fine. Reading again gives the same.
type EntryError struct {
	// Name is the entry's.
	Name string
	// Message names the entry, says what is wrong and what to do.
	Message string
}

// Error returns the message.
func (e *EntryError) Error() string { return e.Message }

// Archive is a directory that was read and judged. It is safe for concurrent
// use when its Source is.
type Archive struct {
	// Entries are the regular files, usable or not, sorted by Name in byte order.
	Entries []*Entry
	// Folders are the names of the top-level folders that have entries of their own,
	// also where no file lies in them, in byte order. Not every tool writes such
	// entries: a file's path may name others.
	Folders []string
	// Skipped is the litter, in the directory's order.
	Skipped []Skipped
	// Bytes is what all usable entries unpack to, together: the exact amount
	// when each is read once.
	Bytes int64

	src   Source
	hints func() *hints
}

// Open reads and judges the directory of an archive. What the caller of the
// upload must mend is fault.Validation; an error of the source comes through
// unchanged.
func Open(src Source, l Limits) (*Archive, error) {
	w, err := findDirectory(src, &l)
	if err != nil {
		return nil, err
	}
	// ErrInsecurePath comes with a whole reader (GODEBUG zipinsecurepath=0): names
	// are judged here, one by one.
	zr, err := zip.NewReader(w, src.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errDirectory.Because(err)
	}
	if len(zr.File) > l.Entries {
		return nil, tooMany(uint64(len(zr.File)), &l)
	}
	a := &Archive{src: src}
	a.hints = sync.OnceValue(a.index)
	if err := a.list(zr.File, w, &l); err != nil {
		return nil, err
	}
	return a, nil
}

func refuse(format string, args ...any) *fault.Error {
	return fault.New(fault.Validation, format, args...)
}
