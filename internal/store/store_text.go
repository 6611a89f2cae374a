package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/taskloom/taskloom/internal/form"
)

// Why a text or a document cannot be kept. The messages continue "the body
// holds …".
const (
	badText   = "a character that cannot be stored: NUL (\\u0000) or half of a surrogate pair"
	badNumber = "a number that cannot be stored: it must be below 1.8e308, with at most 400 digits after the point"
)

// Storable reports whether Postgres can hold the text: valid UTF-8 without NUL.
func Storable(s string) bool { return storable(s) }

func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// storableJSON reports whether jsonb can hold the valid JSON document: its
// strings must be storable, escapes must name no NUL and no half of a surrogate
// pair, and numbers must be of a size that comes back as it was.
func storableJSON(raw []byte) bool { return unstorable(raw) == "" }

// Unstorable tells why jsonb cannot hold the valid JSON document, and where: ""
// when it can. The place is a path such as values.answer[2]; it ends early in
// documents that are very deep.
func Unstorable(raw []byte) (place, why string) {
	why = unstorable(raw)
	if why == "" {
		return "", ""
	}
	// Every level is read once more, so their number is bounded.
	const levels = 8
	var path strings.Builder
	for range levels {
		step, inner := unstorableMember(raw)
		if inner == nil {
			break
		}
		path.WriteString(step)
		raw = inner
	}
	return strings.TrimPrefix(path.String(), "."), why
}

// unstorableMember finds the member or item that cannot be held; nil when it is
// a key, or raw is neither object nor list.
func unstorableMember(raw json.RawMessage) (step string, inner json.RawMessage) {
	var members map[string]json.RawMessage
	var items []json.RawMessage
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); {
	case len(raw) == 0:
	case raw[0] == '{' && json.Unmarshal(raw, &members) == nil:
		for key, value := range members {
			if !storableJSON(value) {
				return "." + strings.ToValidUTF8(cut(key), ""), value
			}
		}
	case raw[0] == '[' && json.Unmarshal(raw, &items) == nil:
		for i, value := range items {
			if !storableJSON(value) {
				return "[" + strconv.Itoa(i) + "]", value
			}
		}
	}
	return "", nil
}

// unstorable steps over the tokens of a valid JSON document.
func unstorable(raw []byte) (why string) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return badText
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			n, ok := stringLiteral(raw[i:])
			if !ok {
				return badText
			}
			i += n
		case c == '-' || c >= '0' && c <= '9':
			n := numberLength(raw[i:])
			if !storableNumber(string(raw[i : i+n])) {
				return badNumber
			}
			i += n
		default:
			i++
		}
	}
	return ""
}

// storedBytes is how many bytes a JSON document that can be stored has when jsonb
// gives it back, white space aside: it writes the exponents of numbers out.
func storedBytes(raw []byte) int {
	total := len(raw)
	for i := 0; i < len(raw); {
		n := 1
		switch c := raw[i]; {
		case c == '"':
			n, _ = stringLiteral(raw[i:])
		case c == '-' || c >= '0' && c <= '9':
			n = numberLength(raw[i:])
			if literal := string(raw[i : i+n]); strings.ContainsAny(literal, "eE") {
				total += form.Grown(literal)
			}
		}
		i += max(n, 1)
	}
	return total
}

// stringLiteral returns the length of the string at the start of raw, and
// whether it can be stored.
func stringLiteral(raw []byte) (n int, ok bool) {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			return i + 1, true
		case '\\':
			length, ok := escape(raw[i:])
			if !ok {
				return 0, false
			}
			i += length - 1
		}
	}
	return len(raw), true
}

// escape returns the length of the escape at the start of raw, both halves of a
// surrogate pair together.
func escape(raw []byte) (n int, ok bool) {
	const short, long = 2, 6
	r, named := escapedRune(raw)
	switch {
	case !named:
		return short, true // whatever is escaped is no escape itself
	case r == 0:
		return 0, false
	case !utf16.IsSurrogate(r):
		return long, true
	}
	low, named := escapedRune(raw[long:])
	return 2 * long, named && utf16.DecodeRune(r, low) != utf8.RuneError
}

// escapedRune reads an escape such as \u00e9 at the start of raw.
func escapedRune(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

func numberLength(raw []byte) int {
	n := bytes.IndexFunc(raw, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) })
	if n < 0 {
		return len(raw)
	}
	return n
}

// storableNumber bounds a number far below what jsonb can hold: jsonb writes
// exponents out, so a few bytes could come back as many thousands.
func storableNumber(literal string) bool {
	const maxDecimals = 400
	if _, err := strconv.ParseFloat(literal, 64); err != nil {
		return false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			return false
		}
	}
	return len(fraction)-shift <= maxDecimals
}
