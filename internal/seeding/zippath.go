package seeding

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Limits of what one field may refer to.
const (
	maxPathBytes = 1024
	// maxFiles keeps the stored value, some 300 bytes a file, below form.MaxValueBytes.
	maxFiles = 1000
)

// FileRefs returns, by file_upload seed field, the paths in the archive that an
// item names, in the order given, and a problem for each value that is no path.
// A value is a text; of a multiple field an array of texts, or one text. Fields
// that are absent or empty have no entry.
func FileRefs(p *pipeline.Pipeline, item Item) (map[string][]string, []form.Problem) {
	return fileRefs(fileFields(p), item.Fields)
}

func fileRefs(fields []form.Field, values form.Values) (map[string][]string, []form.Problem) {
	refs := make(map[string][]string)
	var problems []form.Problem
	for i := range fields {
		name := fields[i].Name
		raw, sent := values[name]
		if !sent {
			continue
		}
		paths, wrong := readRefs(&fields[i], raw)
		problems = append(problems, wrong...)
		if len(paths) > 0 {
			refs[name] = paths
		}
	}
	return refs, problems
}

// plain checks what every value must be: JSON that can be stored, of a bounded
// size.
var plain = form.New([]form.Field{{Name: "value", Type: form.JSON, Input: form.Seeded}})

// readRefs reads the paths of one field.
func readRefs(field *form.Field, raw json.RawMessage) (paths []string, problems []form.Problem) {
	fail := func(path, format string, args ...any) {
		if len(problems) < maxErrors {
			problems = append(problems, form.Problem{Field: field.Name, Path: path, Message: fmt.Sprintf(format, args...)})
		}
	}
	for _, p := range plain.CheckValue("value", raw, nil) {
		fail("", "%s", p.Message)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil || len(problems) > 0 {
		if err != nil && len(problems) == 0 {
			fail("", "the value is not valid JSON")
		}
		return nil, problems
	}
	values, listed := value.([]any)
	path, text := value.(string)
	switch {
	case value == nil, text && strings.TrimSpace(path) == "":
		return nil, nil // not answered
	case listed && !field.Multiple:
		fail("", `expected the path of one file in the archive, such as "photo.png", got an array`)
		return nil, problems
	case !listed:
		values = []any{value}
	case len(values) > maxFiles:
		fail("", "names %d files, at most %d allowed", len(values), maxFiles)
		return nil, problems
	}
	for i, v := range values {
		at := ""
		if listed {
			at = fmt.Sprintf("/%d", i)
		}
		path, text = v.(string)
		if wrong := badPath(path, text, v); wrong != "" {
			fail(at, "%s", wrong)
		}
		paths = append(paths, path)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return paths, nil
}

// badPath says why a value cannot be a path in an archive; "" when it can.
func badPath(path string, text bool, v any) string {
	parts := strings.Split(strings.TrimPrefix(path, "./"), "/")
	switch {
	case !text:
		return `expected the path of a file in the archive, such as "photo.png", got ` + shape(v)
	case strings.TrimSpace(path) == "":
		return "the path is empty: name a file in the archive"
	case len(path) > maxPathBytes:
		return fmt.Sprintf("the path has %d bytes, at most %d allowed", len(path), maxPathBytes)
	case strings.ContainsFunc(path, unicode.IsControl):
		return "the path " + quote(path) + " has control characters"
	case strings.Contains(path, `\`):
		return "the path " + quote(path) + ` has a backslash: write "/" between folders`
	case strings.HasPrefix(path, "/"):
		return "the path " + quote(path) + ` is absolute: give the path inside of the archive, without "/" in front`
	case strings.Contains(path, "://"):
		return quote(path) + " is an address: name a file in the archive"
	case slices.Contains(parts, ".."):
		return "the path " + quote(path) + ` leads out with "..": give the path inside of the archive`
	case strings.HasSuffix(path, "/"):
		return "the path " + quote(path) + " is a folder's: name a file"
	case slices.Contains(parts, ""), slices.Contains(parts, "."):
		return "the path " + quote(path) + " has an empty part: give it as it is in the archive"
	}
	return ""
}

// shape names the JSON kind of a value that is no text.
func shape(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case float64:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}
