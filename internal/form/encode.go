package form

import (
	"strings"
	"unicode/utf8"
)

// appendJSON writes the value as compact JSON with CRLF in texts turned into LF. Numbers keep their literals and
// members their order.
func (v *value) appendJSON(out []byte) []byte {
	switch v.shape {
	case null:
		return append(out, "null"...)
	case boolean:
		if v.yes {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	case number:
		return append(out, v.text...)
	case text:
		return appendText(out, NormalizeText(v.text))
	case array:
		out = append(out, '[')
		for i := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = v.items[i].appendJSON(out)
		}
		return append(out, ']')
	case object:
		out = append(out, '{')
		for i := range v.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, v.members[i].key), ':')
			out = v.members[i].value.appendJSON(out)
		}
		return append(out, '}')
	}
	return out
}

// appendText writes s, which is valid UTF-8, as a JSON string, as JSON.stringify does.
func appendText(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range s {
		if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
			out = append(out, '\\', `"\bfnrt`[i])
			continue
		}
		if r < 0x20 {
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return append(out, '"')
}
