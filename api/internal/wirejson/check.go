// Package wirejson reads JSON bodies more strictly than encoding/json and
// without copying them: a body that is not UTF-8 or not JSON is told from one
// of the wrong shape, duplicate keys are seen, and values are handed out as
// slices of the body.
package wirejson

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrUTF8 says that a body is not UTF-8 text.
var ErrUTF8 = errors.New("the body is not valid UTF-8")

// Check reports why data is not one JSON value in UTF-8. The other functions
// of the package need checked data.
func Check(data []byte) error {
	if !utf8.Valid(data) {
		return ErrUTF8
	}
	if json.Valid(data) {
		return nil
	}
	// Once more, for the place of the fault.
	var v discard
	err := json.Unmarshal(data, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if len(data) == 0 {
			return errors.New("the body is empty; send a JSON object")
		}
		return fmt.Errorf("the body is not valid JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	}
	return err
}

// discard takes any JSON value and keeps nothing: json.Unmarshal checks the
// whole text before it calls it.
type discard struct{}

func (*discard) UnmarshalJSON([]byte) error { return nil }

// Shape is the first byte of a value without white space before it: one of
// { [ " t f n or a number's first character.
func Shape(value []byte) byte {
	w := walker{data: value}
	w.space()
	if w.pos == len(value) {
		return 0
	}
	return value[w.pos]
}

// Describe names a value for a message.
func Describe(value []byte) string {
	switch Shape(value) {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}
