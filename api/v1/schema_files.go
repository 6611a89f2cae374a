package v1

import (
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
)

// asPath describes a file upload field as callers fill it in: a task keeps the
// file, but a creation names its path in the archive.
func asPath(out *Field, f form.Field) {
	accept := slices.Concat(f.Accept, f.Rules.Accept)
	path := map[string]any{"type": "string", "minLength": 1, "maxLength": 1024}
	example, hint := "files/example"+extension(accept), "path of a file in the ZIP archive"
	out.JSONSchema, out.Example = path, example
	if f.Multiple {
		hint = "array of paths of files in the ZIP archive"
		out.JSONSchema, out.Example = map[string]any{"type": "array", "items": path}, []string{example}
	}
	if len(accept) > 0 {
		hint += ": " + strings.Join(accept, ",")
	}
	out.FormatHint = hint
}

// extension is one that a field takes.
func extension(accept []string) string {
	for _, a := range accept {
		group, _, _ := strings.Cut(a, "/")
		switch {
		case strings.HasPrefix(a, "."):
			return a
		case a == "application/pdf":
			return ".pdf"
		case group == "image":
			return ".png"
		case group == "audio":
			return ".mp3"
		case group == "video":
			return ".mp4"
		}
	}
	return ".txt"
}
