package archive

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// noZIP says what a file without an end record is, as far as its first bytes
// tell.
func noZIP(src Source) error {
	head := make([]byte, min(262, src.Size()))
	if err := readAt(src, head, 0); err != nil {
		return err
	}
	begins := func(signs ...string) bool {
		for _, s := range signs {
			if strings.HasPrefix(string(head), s) {
				return true
			}
		}
		return false
	}
	what := ""
	switch {
	case begins(localSign, "PK\x07\x08"):
		return refuse("the ZIP ends before its directory: the upload was cut off; upload it again, whole")
	case begins("\x1f\x8b"):
		what = "a gzip file (.gz, .tgz)"
	case begins("Rar!"):
		what = "a RAR archive"
	case begins("7z\xbc\xaf\x27\x1c"):
		what = "a 7z archive"
	case begins("BZh"):
		what = "a bzip2 file"
	case begins("\xfd7zXZ"):
		what = "an xz file"
	case begins("\x28\xb5\x2f\xfd"):
		what = "a Zstandard file"
	case len(head) == 262 && string(head[257:]) == "ustar":
		what = "a tar archive"
	case begins("--"):
		return refuse("the file is not a ZIP but looks like a form (multipart): send the archive as the body of the PUT, such as with curl -T")
	}
	if what != "" {
		return refuse("the file is not a ZIP but %s: put the files into a ZIP and upload that", what)
	}
	return refuse("the file is not a ZIP, or was cut off: put the files into a ZIP and upload it whole")
}

// readAt fills p. A source that ends early is an error of the source.
func readAt(src io.ReaderAt, p []byte, off int64) error {
	n, err := src.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

// sizeText writes a size with a unit that keeps it short.
func sizeText(n uint64) string {
	for _, unit := range []struct {
		size uint64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		switch {
		case n >= unit.size && n%unit.size == 0:
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		case n >= unit.size:
			return fmt.Sprintf("%.1f %s (%d bytes)", float64(n)/float64(unit.size), unit.name, n)
		}
	}
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
