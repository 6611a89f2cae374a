// Package filetype tells what a file is by its bytes. It is pure.
package filetype

import (
	"path"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// SniffBytes is how much of a file tells its type. It is the library's own
// limit: of less it would believe that the file ends there.
const SniffBytes = 4 << 10

var (
	anyBytes = mimetype.Lookup("application/octet-stream")
	gzipped  = mimetype.Lookup("application/gzip")
)

const plainText = "text/plain"

// Sniff tells a file's type by its beginning. Of gzip the library looks at two
// bytes, as one in 65,536 files of noise begins with; its third and fourth are
// fixed as well (RFC 1952).
func Sniff(head []byte) *mimetype.MIME {
	found := mimetype.Detect(head)
	if found == gzipped && (len(head) < 4 || head[2] != 8 || head[3]&0xe0 != 0) {
		return anyBytes
	}
	return found
}

// Of is the media type of a file with that name and beginning: by its bytes,
// and among kinds of plain text, which bytes cannot tell apart, by its name.
func Of(name string, head []byte) string { return Kinds(name, Sniff(head).String())[0] }

// Kinds are the media types that a file may pass for where one of them is asked for:
// the one that its bytes show, and, by its name, one that bytes cannot tell from it. Of
// plain texts the name tells more, so that its kind is the first.
func Kinds(name, shown string) []string {
	plain, _, _ := strings.Cut(shown, ";")
	guessed := plain == "text/csv" || plain == "text/tab-separated-values" // of any text with as many commas in each line
	kind, ok := textTypes[extension(name)]
	switch {
	case ok && (plain == plainText || guessed):
		return []string{kind, shown}
	case guessed:
		return []string{shown, plainText}
	}
	if kind, ok := soundTypes[container{extension(name), plain}]; ok {
		return []string{shown, kind}
	}
	return []string{shown}
}

// Honest reports whether a file may carry its name: one whose extension stands
// for a type that bytes show must have such bytes. Names of other kinds are
// always honest.
func Honest(name string, head []byte) bool {
	kinds, known := shownBy[extension(name)]
	if !known {
		return true
	}
	for found := Sniff(head); found != nil; found = found.Parent() {
		if slices.ContainsFunc(kinds, found.Is) {
			return true
		}
	}
	return false
}

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// textTypes are kinds of text that carry no scripts.
var textTypes = map[string]string{
	".csv": "text/csv; charset=utf-8", ".tsv": "text/tab-separated-values; charset=utf-8",
	".md": "text/markdown; charset=utf-8", ".json": "application/json",
	".srt": "application/x-subrip", ".vtt": "text/vtt; charset=utf-8",
	".yaml": "application/yaml", ".yml": "application/yaml",
}

// container is an extension with the type that the bytes of such a file may show.
type container struct{ extension, shown string }

// soundTypes are kinds of sound that lie in containers of films: whether there are
// pictures is not told by the beginning.
var soundTypes = map[container]string{
	{".webm", "video/webm"}: "audio/webm", {".weba", "video/webm"}: "audio/webm",
	{".m4a", "video/mp4"}: "audio/mp4", {".m4a", "audio/x-m4a"}: "audio/mp4",
}

// shownBy are the types that stand behind an extension, for formats that have a
// signature. A kind of a type counts as that type.
var shownBy = map[string][]string{
	".png": {"image/png"}, ".jpg": {"image/jpeg"}, ".jpeg": {"image/jpeg"}, ".gif": {"image/gif"},
	".webp": {"image/webp"}, ".bmp": {"image/bmp"}, ".tif": {"image/tiff"}, ".tiff": {"image/tiff"},
	".avif": {"image/avif"}, ".heic": {"image/heic", "image/heif"}, ".ico": {"image/x-icon"},
	".pdf": {"application/pdf"},
	".wav": {"audio/wav"}, ".flac": {"audio/flac"}, ".ogg": {"application/ogg"}, ".m4a": {"audio/x-m4a", "video/mp4", "audio/mp4"},
	".mp4": {"video/mp4"}, ".mov": {"video/quicktime", "video/mp4"}, ".webm": {"video/webm"}, ".mkv": {"video/x-matroska"},
	".avi": {"video/x-msvideo"},
	".zip": {"application/zip"}, ".gz": {"application/gzip"}, ".7z": {"application/x-7z-compressed"},
	".docx": {"application/zip"}, ".xlsx": {"application/zip"}, ".pptx": {"application/zip"},
	".odt": {"application/zip"}, ".ods": {"application/zip"}, ".odp": {"application/zip"}, ".epub": {"application/zip"},
}
