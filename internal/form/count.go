package form

import (
	"strings"
	"unicode/utf8"
)

// Counts are the sizes of a text as rules count them. The web app counts the same way; testdata/vectors/counting.json
// pins both.
type Counts struct {
	// Chars are Unicode code points: utf8.RuneCountInString in Go, [...s].length in TypeScript.
	Chars int `json:"chars"`
	// Words are maximal runs of characters that are not white space. Scripts that do not separate words, such as
	// Chinese, Japanese and Thai, count a whole run as one word.
	Words int `json:"words"`
	// Lines are the LFs plus one; a final LF begins no further line, and an empty text has none.
	Lines int `json:"lines"`
}

// Count measures s after CRLF became LF.
func Count(s string) Counts {
	s = NormalizeText(s)
	return Counts{Chars: utf8.RuneCountInString(s), Words: words(s), Lines: lines(s)}
}

// NormalizeText turns every CRLF into LF, as every text is before it is counted, compared or stored. A lone CR stays.
func NormalizeText(s string) string {
	if !strings.Contains(s, "\r\n") {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// isSpace is the white space of all rules, listed because Go's unicode.IsSpace lacks U+FEFF and JavaScript's \s lacks
// U+0085. In TypeScript: /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/u.
// The zero width space U+200B is not white space, as in both languages.
func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ':
		return true
	case r < 0x85:
		return false
	case r == 0x85, r == 0xA0, r == 0x1680, r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029,
		r == 0x202F, r == 0x205F, r == 0x3000, r == 0xFEFF:
		return true
	}
	return false
}

// blank reports whether s holds nothing but white space.
func blank(s string) bool {
	for _, r := range s {
		if !isSpace(r) {
			return false
		}
	}
	return true
}

func words(s string) int {
	n, inside := 0, false
	for _, r := range s {
		space := isSpace(r)
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return n
}

func lines(s string) int {
	if s == "" {
		return 0
	}
	n := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
