package apply

import (
	"bytes"
	"encoding/json"
	"reflect"
	"unicode/utf8"

	"github.com/taskloom/taskloom/internal/fault"
)

// Limits of a document. All but the first count with YAML's aliases written out,
// so that a few lines cannot fill the memory. Without aliases no document has
// more text than bytes.
const (
	MaxBytes = 64 << 20
	maxNodes = 5_000_000
	maxDepth = 200
	maxText  = MaxBytes
	// maxItems is how many bytes the items of all lists may take in memory.
	maxItems = 512 << 20
	// maxMistakes is how many problems of the shape are told.
	maxMistakes = 10_000
)

// Read reads a document in YAML or JSON. One that is neither is an error;
// whatever else is wrong with it is told by Document.Problems.
func Read(data []byte) (Document, error) {
	t, err := readTree(data, maxNodes)
	if err != nil {
		return Document{}, err
	}
	if n := t.textSize(); n > maxText {
		return Document{}, unreadable("the document has %d bytes of text, aliases written out; at most %d are allowed", n, maxText)
	}
	var d Document
	dec := decoder{most: maxMistakes, room: maxItems}
	if t.kind == null {
		dec.add("organizations", t.line, "the document is empty; it needs organizations")
	} else {
		dec.storable("", t)
		dec.decode("", t, reflect.ValueOf(&d).Elem())
	}
	d.unreadable = dec.problems
	return d, nil
}

// readTree reads a document of either syntax with at most so many nodes.
func readTree(data []byte, most int) (t tree, err error) {
	if len(data) > MaxBytes {
		return t, unreadable("the document has %d bytes; at most %d are allowed", len(data), MaxBytes)
	}
	if !utf8.Valid(data) {
		return t, unreadable("the document is not UTF-8 text")
	}
	if json.Valid(data) {
		t, err = readJSON(data)
	} else {
		t, err = readYAML(data, most)
	}
	if err != nil {
		return t, err
	}
	if t.size > most {
		return t, tooMany(most)
	}
	return t, nil
}

func unreadable(format string, args ...any) error {
	return fault.New(fault.Validation, format, args...)
}

// readJSON turns valid JSON into a tree.
func readJSON(data []byte) (tree, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{Decoder: dec, data: data, line: 1}
	return r.value(1)
}

// jsonReader reads JSON and counts its lines.
type jsonReader struct {
	*json.Decoder
	data []byte
	// line is that of the byte at offset at.
	line, at int
}

// here is the line of what was read last.
func (r *jsonReader) here() int {
	to := int(r.InputOffset())
	r.line += bytes.Count(r.data[r.at:to], []byte{'\n'})
	r.at = to
	return r.line
}

func (r *jsonReader) value(depth int) (tree, error) {
	if depth > maxDepth {
		return tree{}, tooDeep()
	}
	token, err := r.Token()
	if err != nil {
		return tree{}, unreadable("the document cannot be read: %s", err)
	}
	t := tree{size: 1, line: r.here()}
	switch v := token.(type) {
	case nil:
	case bool:
		t.kind, t.text = boolean, "false"
		if v {
			t.text = "true"
		}
	case json.Number:
		t.kind, t.text = number, v.String()
	case string:
		t.kind, t.text = text, v
	case json.Delim:
		return r.items(v, depth)
	}
	return t, nil
}

func (r *jsonReader) items(open json.Delim, depth int) (tree, error) {
	t := tree{kind: list, size: 1, line: r.here()}
	if open == '{' {
		t.kind = object
	}
	for r.More() {
		if t.kind == object {
			key, err := r.value(depth)
			if err != nil {
				return tree{}, err
			}
			t.keys = append(t.keys, key.text)
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return tree{}, err
		}
		t.add(item)
	}
	if _, err := r.Token(); err != nil {
		return tree{}, unreadable("the document cannot be read: %s", err)
	}
	return t, nil
}

func tooMany(most int) error {
	return unreadable("the document holds more than %d values, merges and aliases written out", most)
}

func tooDeep() error {
	return unreadable("the document is nested deeper than %d levels", maxDepth)
}
