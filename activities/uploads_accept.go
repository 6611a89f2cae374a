package activities

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/taskloom/taskloom/internal/archive"
	"github.com/taskloom/taskloom/internal/filetype"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// packedTypes are the types of archives and compressed files. Documents that
// are ZIPs inside have types of their own; where the beginning of one does not
// tell, its name does.
var (
	packedTypes = []string{
		"application/zip", "application/x-7z-compressed", "application/x-rar-compressed", "application/x-tar",
		"application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd",
	}
	packedDocuments = []string{".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".jar", ".epub", ".apk"}
)

// take tells why a field cannot take a file, "" when it can; and as what it takes it,
// where that is not the type that the bytes show but another one that the file may
// pass for. It is asked before the file is stored, and decides by the file alone.
func (f fileField) take(e *archive.Entry, contentType *mimetype.MIME) (as, refusal string) {
	if !f.wants(e, contentType) {
		return "", fmt.Sprintf("the entry %s is itself an archive (%s), which the field does not name among its types: "+
			"put its files into the ZIP instead", quoted(e.Name), contentType.String())
	}
	shown := contentType.String()
	refusal = f.refusal(e, shown)
	if refusal == "" {
		return "", ""
	}
	for _, kind := range filetype.Kinds(e.Name, shown) {
		if kind != shown && f.refusal(e, kind) == "" {
			return kind, ""
		}
	}
	return "", refusal
}

// refusal tells what the field's own rules say against a file of that type.
func (f fileField) refusal(e *archive.Entry, contentType string) string {
	problems := f.one.CheckSeed(form.Values{f.Name: seeding.FileValue(seeding.File{
		FileID: "unknown", Name: path.Base(e.Name), Size: e.Size, ContentType: contentType,
	})}, form.NewBudget())
	if len(problems) == 0 {
		return ""
	}
	return fmt.Sprintf("the entry %s: %s", quoted(e.Name), problems[0].Message)
}

// wants tells whether the field may take a file of that type at all: archives
// only where it names them.
func (f fileField) wants(e *archive.Entry, contentType *mimetype.MIME) bool {
	extension := strings.ToLower(path.Ext(e.Name))
	if !slices.ContainsFunc(packedTypes, contentType.Is) || slices.Contains(packedDocuments, extension) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(f.Accept, f.Rules.Accept), func(accept string) bool {
		accept = strings.ToLower(accept)
		return accept == extension || accept == contentType.Extension() || contentType.Is(accept)
	})
}

// quoted shows a name in a message, shortened.
func quoted(name string) string {
	const most = 200
	if r := []rune(name); len(r) > most {
		name = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", name)
}
