package seeding

import (
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// ExampleFields are the fields of an item that creates a task, all seeded fields with
// a value that their rules take; of file fields, paths in an archive. Where the rules
// leave none to find the value is null, or the field, which need not be given, is missing.
func ExampleFields(p *pipeline.Pipeline) form.Values {
	out := form.Values{}
	for _, e := range p.Seed.Schema() {
		if e.Required || string(e.Example) != "null" {
			out[e.Name] = e.Example
		}
	}
	for _, f := range fileFields(p) {
		out[f.Name] = encode(ExamplePath(f))
	}
	return out
}

// ExamplePath is what a creation gives for a file_upload field: the path of a file that
// it takes, in the archive, or an array of such a path where it takes several.
func ExamplePath(f form.Field) any {
	path := "files/example" + extension(slices.Concat(f.Accept, f.Rules.Accept))
	if !f.Multiple {
		return path
	}
	n := 1
	if least := f.Rules.MinItems; least != nil {
		n = max(n, min(*least, maxFiles))
	}
	return slices.Repeat([]string{path}, n)
}

// extension is one that a field takes.
func extension(accept []string) string {
	for _, a := range accept {
		group, _, _ := strings.Cut(a, "/")
		byType, known := extensions[a]
		switch {
		case strings.HasPrefix(a, "."):
			return a
		case known:
			return byType
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

// extensions are those by which files of a type are known, where a group is not enough.
var extensions = map[string]string{
	"application/pdf": ".pdf", "application/json": ".json", "application/yaml": ".yaml", "application/x-subrip": ".srt",
	"text/markdown": ".md", "text/csv": ".csv", "text/tab-separated-values": ".tsv", "text/vtt": ".vtt",
}
