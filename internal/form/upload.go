package form

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Limits of file metadata.
const (
	maxFileNameChars = 255
	maxFileIDChars   = 200
	// MaxFileBytes is the largest file that a definition may allow: 5 GiB.
	MaxFileBytes = 5 << 30
)

// uploadKind is file_upload: {"file_id","name","size","content_type"?,"sha256"?}, an array of these when multiple.
// size is in bytes, sha256 has 64 lower-case hex digits. accept matches by the extension of the name or by the
// content type; that the bytes are what they claim is checked where they are stored.
type uploadKind struct {
	accept   []string
	multiple bool
	rules    Rules
}

func newUpload(f *Field) kind {
	k := uploadKind{accept: f.Accept, multiple: f.Multiple, rules: f.Rules}
	if len(k.accept) == 0 {
		k.accept = f.Rules.Accept
	}
	return k
}

func (k uploadKind) check(v *value, c *check) {
	if !k.multiple {
		k.file(v, c)
		return
	}
	if v.shape != array {
		c.expect("an array of files", v)
		return
	}
	c.count(len(v.items), k.rules.MinItems, k.rules.MaxItems, "file", "files")
	for i := range v.items {
		if c.full() {
			return
		}
		k.file(&v.items[i], c.item(i))
	}
}

func (k uploadKind) file(v *value, c *check) {
	if !c.object(v, "file_id", "name", "size", "content_type", "sha256") {
		return
	}
	label(v, "file_id", maxFileIDChars, c)
	name := label(v, "name", maxFileNameChars, c)
	size, _ := v.get("size")
	switch {
	case size.shape != number || size.num < 0 || size.num > maxSafeInteger || size.num != float64(int64(size.num)):
		c.at("size").expect("the size in bytes", &size)
	case k.rules.MaxBytes != nil && size.num > float64(*k.rules.MaxBytes):
		c.at("size").fail("the file has %s bytes, at most %d allowed", size.show(), *k.rules.MaxBytes)
	}
	contentType, _ := v.get("content_type")
	if contentType.shape != null && contentType.shape != text {
		c.at("content_type").expect("a media type", &contentType)
	}
	if sum, _ := v.get("sha256"); sum.shape != null && (len(sum.text) != 64 || strings.Trim(sum.text, "0123456789abcdef") != "") {
		c.at("sha256").expect("64 lower-case hex digits", &sum)
	}
	if name != "" && !accepted(k.accept, name, contentType.text) {
		c.fail("the file %s is not accepted; expected %s", quote(name), list(k.accept))
	}
}

// label reads a text of a file that must not be blank.
func label(v *value, key string, most int, c *check) string {
	s, _ := v.get(key)
	if s.shape != text || blank(s.text) || Count(s.text).Chars > most {
		c.at(key).expect(fmt.Sprintf("a text of 1 to %d characters", most), &s)
		return ""
	}
	return s.text
}

// accepted reports whether a file of that name and media type is on the list; everything is on an empty one.
func accepted(accept []string, name, contentType string) bool {
	ext := strings.ToLower(path.Ext(name))
	contentType, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	contentType = strings.TrimSpace(contentType)
	for _, a := range accept {
		a = strings.ToLower(a)
		group, all := strings.CutSuffix(a, "*")
		switch {
		case strings.HasPrefix(a, ".") && ext == a, contentType == a, all && strings.HasPrefix(contentType, group) && contentType != "":
			return true
		}
	}
	return len(accept) == 0
}

func (k uploadKind) define(d *definition) {
	if len(d.field.Accept) > 0 && len(d.field.Rules.Accept) > 0 {
		d.fail("/rules/accept", "give accept once: on the field or in rules")
	}
	d.distinct("/accept", "accepted type", k.accept, maxAccept)
	for i, a := range k.accept {
		group, sub, media := strings.Cut(a, "/")
		extension := strings.HasPrefix(a, ".") && len(a) > 1 && !strings.ContainsAny(a[1:], "./* ")
		if !extension && (!media || group == "" || sub == "" || strings.ContainsAny(group, "*. ") || strings.ContainsAny(sub, "/ ")) {
			d.fail("/accept/"+strconv.Itoa(i), `%s is neither an extension such as ".pdf" nor a media type such as "image/png" or "image/*"`, quote(a))
		}
	}
	if m := k.rules.MaxBytes; m != nil && (*m < 1 || *m > MaxFileBytes) {
		d.fail("/rules/max_bytes", "max_bytes must be 1 to %d, got %d", int64(MaxFileBytes), *m)
	}
	d.bounds("items", k.rules.MinItems, k.rules.MaxItems)
	if !k.multiple && (k.rules.MinItems != nil || k.rules.MaxItems != nil) {
		d.fail("/rules", "min_items and max_items need multiple: true")
	}
}

func (k uploadKind) hint() any {
	s := "file"
	if k.multiple {
		s = "array of files"
	}
	if len(k.accept) > 0 {
		s += ": " + strings.Join(k.accept, ",")
	}
	if k.rules.MaxBytes != nil {
		s += " up to " + bytesText(*k.rules.MaxBytes)
	}
	if k.multiple {
		s += span(k.rules.MinItems, k.rules.MaxItems, "files")
	}
	return s
}

// bytesText writes a size with the largest unit that divides it.
func bytesText(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "KB"}, {1000_000, "MB"}, {1000, "KB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func (k uploadKind) schema() fragment {
	file := fragment{
		"type": "object", "required": []string{"file_id", "name", "size"}, "additionalProperties": false,
		"properties": fragment{
			"file_id":      fragment{"type": "string", "minLength": 1, "maxLength": maxFileIDChars},
			"name":         fragment{"type": "string", "minLength": 1, "maxLength": maxFileNameChars},
			"size":         fragment{"type": "integer", "minimum": 0},
			"content_type": fragment{"type": []string{"string", "null"}},
			"sha256":       fragment{"type": []string{"string", "null"}, "pattern": "^[0-9a-f]{64}$"},
		},
	}
	if !k.multiple {
		return file
	}
	return fragment{"type": "array", "items": file}.set("minItems", k.rules.MinItems).set("maxItems", k.rules.MaxItems)
}

func (k uploadKind) example(lookup) any {
	name, contentType := "example.txt", "text/plain"
	if len(k.accept) > 0 {
		if strings.HasPrefix(k.accept[0], ".") {
			name, contentType = "example"+k.accept[0], "application/octet-stream"
		} else {
			name, contentType = "example", strings.Replace(k.accept[0], "*", "x-example", 1)
		}
	}
	file := map[string]any{"file_id": "file_1", "name": name, "size": 1, "content_type": contentType}
	if !k.multiple {
		return file
	}
	return repeated(file, k.rules.MinItems)
}
