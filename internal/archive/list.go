package archive

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
)

// smallBytes is the unpacked size up to which the ratio does not matter.
const smallBytes = 1 << 20

// list judges the files of the directory. Of the standard library's records
// nothing is kept.
func (a *Archive) list(files []*zip.File, w *window, l *Limits) error {
	var names []named
	var misnamed []*Entry
	spans := make([]span, 0, len(files))
	size := a.src.Size()
	for _, f := range files {
		name, wrong := readName(f, l)
		e := &Entry{
			Name: name, Size: whole(f.UncompressedSize64), packed: whole(f.CompressedSize64),
			offset: w.offsetOf(f), crc: f.CRC32, method: f.Method,
		}
		outside := e.offset < 0 || e.offset > size-localBytes || e.packed > size-localBytes-e.offset
		if !outside && e.packed > 0 {
			spans = append(spans, span{from: e.offset, to: e.offset + localBytes + e.packed, name: name})
		}
		if folder(f) {
			a.addFolder(strings.TrimSuffix(name, "/"), &names, l)
			continue
		}
		if reason := litter(name); reason != "" {
			a.Skipped = append(a.Skipped, Skipped{Name: clean(name, l.NameBytes), Reason: reason})
			continue
		}
		if wrong == "" {
			names = append(names, named{key: fold(name), entry: e})
			wrong = judge(f, e, outside, l)
		} else {
			misnamed = append(misnamed, e)
		}
		if wrong != "" {
			e.refuse(wrong)
		}
		a.Entries = append(a.Entries, e)
	}
	if err := overlaps(spans); err != nil {
		return err
	}
	markTwins(names)
	tellApart(a.Entries, misnamed, l.NameBytes)
	a.sort()
	return a.total(l)
}

// addFolder notes a folder that has an entry of its own, unless its name cannot be used.
func (a *Archive) addFolder(path string, names *[]named, l *Limits) {
	if judgeName(path, l) != "" {
		return
	}
	*names = append(*names, named{key: fold(path) + "/"})
	top, _, inside := strings.Cut(path, "/")
	if !inside && litter(top) == "" {
		a.Folders = append(a.Folders, top)
	}
}

// refuse keeps the first reason.
func (e *Entry) refuse(wrong string) {
	if e.Problem == "" {
		e.Problem = "the entry " + quote(e.Name) + " " + wrong
	}
}

// folder tells entries that only name a folder. Some tools mark those by their
// attributes alone, and some give them packed bytes that unpack to none.
func folder(f *zip.File) bool {
	return f.UncompressedSize64 == 0 && (strings.HasSuffix(f.Name, "/") || f.Mode().IsDir())
}

// judge tells what is wrong with an entry whose name is fine.
func judge(f *zip.File, e *Entry, outside bool, l *Limits) string {
	const encrypted = 1 | 1<<6 | 1<<13 // any of it: the data, strongly, the directory
	kind := f.Mode().Type()
	switch {
	case kind&fs.ModeSymlink != 0:
		return "is a symbolic link: put the file itself into the archive"
	case kind != 0:
		return "is no regular file: put only files into the archive"
	case f.Flags&encrypted != 0:
		return "is encrypted: make the archive without a password"
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Sprintf("is compressed with %s: use Deflate, which every tool has", methodName(f.Method))
	case e.Size == 0:
		return "is empty (0 bytes): leave it out, or put the right file there"
	case f.UncompressedSize64 > uint64(l.FileBytes): //nolint:gosec // limits are not negative
		return fmt.Sprintf("unpacks to %s, at most %s allowed: make it smaller", sizeText(f.UncompressedSize64), sizeText(uint64(l.FileBytes))) //nolint:gosec // likewise
	case outside:
		return "claims to lie outside of the archive, which is damaged: make the archive anew"
	case f.Method == zip.Store && e.packed != e.Size:
		return fmt.Sprintf("contradicts itself: it is stored as it is, but as %d bytes of %d; make the archive anew", e.packed, e.Size)
	case e.Size >= smallBytes && e.packed < e.Size/int64(max(1, l.Ratio)):
		return fmt.Sprintf("unpacks to more than %d times its packed size, as bombs do: store it without compression", l.Ratio)
	}
	return ""
}

func methodName(method uint16) string {
	switch method {
	case 9:
		return "Deflate64"
	case 12:
		return "bzip2"
	case 14:
		return "LZMA"
	case 93:
		return "Zstandard"
	case 95:
		return "xz"
	}
	return fmt.Sprintf("method %d", method)
}

// whole reads a declared size; what no file can have becomes the largest.
func whole(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// sort orders the folders, and the entries by name; of equal ones, which have problems all but
// perhaps one, what can be used comes first.
func (a *Archive) sort() {
	slices.Sort(a.Folders)
	a.Folders = slices.Compact(a.Folders)
	slices.SortFunc(a.Entries, func(x, y *Entry) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Problem, y.Problem), cmp.Compare(x.offset, y.offset))
	})
}

// total adds up what will be unpacked. What is not usable is not read, so one
// liar does not spoil the others.
func (a *Archive) total(l *Limits) error {
	for _, e := range a.Entries {
		if e.Problem != "" {
			continue
		}
		if e.Size > l.TotalBytes-a.Bytes {
			return refuse("the ZIP's files unpack to more than %s together, the most allowed: split it into several uploads",
				sizeText(uint64(l.TotalBytes))) //nolint:gosec // limits are not negative
		}
		a.Bytes += e.Size
	}
	return nil
}

// span is what one entry takes of the archive, at the least.
type span struct {
	from, to int64
	name     string
}

// overlaps refuses archives that unpack the same bytes more than once, the way
// in which bombs get past a ratio. Apart from that, it bounds the packed sizes
// by the archive's size.
func overlaps(spans []span) error {
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	for i := 1; i < len(spans); i++ {
		if last := spans[i-1]; spans[i].from < last.to {
			return refuse("the ZIP's entries %s and %s claim the same bytes, as in a bomb or a damaged archive: make the archive anew",
				quote(last.name), quote(spans[i].name))
		}
	}
	return nil
}
