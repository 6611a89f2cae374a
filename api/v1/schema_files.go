package v1

import (
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// asPath describes a file upload field as callers fill it in: a task keeps the
// file, but a creation names its path in the archive.
func asPath(out *Field, f form.Field) {
	accept := slices.Concat(f.Accept, f.Rules.Accept)
	path := map[string]any{"type": "string", "minLength": 1, "maxLength": 1024}
	hint := "path of a file in the ZIP archive"
	out.JSONSchema, out.Example = path, seeding.ExamplePath(f)
	if f.Multiple {
		hint = "array of paths of files in the ZIP archive"
		out.JSONSchema = map[string]any{"type": "array", "items": path}
	}
	if len(accept) > 0 {
		hint += ": " + strings.Join(accept, ",")
	}
	out.FormatHint = hint
}
