package wirejson

import (
	"bytes"
	"encoding/json"
)

// Members calls yield with each member of an object: the decoded key, and the
// value as it stands in data. It stops when yield returns false.
func Members(data []byte, yield func(key string, value []byte) bool) {
	w := walker{data: data}
	w.space()
	w.pos++ // {
	for {
		w.space()
		if w.data[w.pos] == '}' {
			return
		}
		from := w.pos
		w.text()
		key := decodeKey(w.data[from:w.pos])
		w.space()
		w.pos++ // :
		w.space()
		from = w.pos
		w.value()
		if !yield(key, w.data[from:w.pos:w.pos]) {
			return
		}
		w.comma()
	}
}

// Elements calls yield with each element of an array, as it stands in data.
// It stops when yield returns false.
func Elements(data []byte, yield func(value []byte) bool) {
	w := walker{data: data}
	w.space()
	w.pos++ // [
	for {
		w.space()
		if w.data[w.pos] == ']' {
			return
		}
		from := w.pos
		w.value()
		if !yield(w.data[from:w.pos:w.pos]) {
			return
		}
		w.comma()
	}
}

// decodeKey reads a string literal; without escapes that is one copy.
func decodeKey(literal []byte) string {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1])
	}
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return string(literal)
	}
	return s
}

// walker steps over checked JSON, so it need not look for errors.
type walker struct {
	data []byte
	pos  int
}

func (w *walker) space() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return
		}
	}
}

// comma steps over the comma between two entries, if there is one.
func (w *walker) comma() {
	w.space()
	if w.data[w.pos] == ',' {
		w.pos++
	}
}

// text steps over a string literal: to the first quote that no backslash
// escapes.
func (w *walker) text() {
	w.pos++
	for {
		end := w.pos + bytes.IndexByte(w.data[w.pos:], '"')
		slashes := 0
		for w.data[end-1-slashes] == '\\' {
			slashes++
		}
		w.pos = end + 1
		if slashes%2 == 0 {
			return
		}
	}
}

// value steps over one value of any kind.
func (w *walker) value() {
	switch w.data[w.pos] {
	case '"':
		w.text()
	case '{', '[':
		w.nested()
	default:
		w.literal()
	}
}

// literal steps over a number, true, false or null.
func (w *walker) literal() {
	for w.pos < len(w.data) {
		switch w.data[w.pos] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
		w.pos++
	}
}

// nested steps over an object or an array by counting brackets.
func (w *walker) nested() {
	for depth := 0; ; {
		switch w.data[w.pos] {
		case '"':
			w.text()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		w.pos++
		if depth == 0 {
			return
		}
	}
}
