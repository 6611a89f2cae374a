package store

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// storable reports whether Postgres can hold the text: valid UTF-8 without NUL.
func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// storableJSON reports whether jsonb can hold the valid JSON document: its
// strings must be storable, and escapes must name no NUL and no half of a
// surrogate pair.
func storableJSON(raw []byte) bool {
	if !storable(string(raw)) {
		return false
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // whatever is escaped is no escape itself
		r, ok := escapedRune(raw[i-1:])
		if !ok {
			continue
		}
		if r == 0 {
			return false
		}
		if utf16.IsSurrogate(r) {
			low, ok := escapedRune(raw[min(i+5, len(raw)):])
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return false
			}
			i += 6
		}
	}
	return true
}

// escapedRune reads an escape such as \u00e9 at the start of raw.
func escapedRune(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}
