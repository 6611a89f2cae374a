package form

import (
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a JSON string. The common one, without escapes, is one copy.
func (p *parser) text() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			raw := p.data[start:p.pos]
			p.pos++
			if !utf8.Valid(raw) {
				return "", errUTF8
			}
			return string(raw), nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", errMalformed
		default:
			p.pos++
		}
	}
	return "", errMalformed
}

// escaped reads the rest of a string that has escapes.
func (p *parser) escaped(start int) (string, error) {
	out := append(make([]byte, 0, p.pos-start+32), p.data[start:p.pos]...)
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		p.pos++
		switch {
		case c == '"':
			if !utf8.Valid(out) {
				return "", errUTF8
			}
			return string(out), nil
		case c < 0x20:
			return "", errMalformed
		case c != '\\':
			out = append(out, c)
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		}
	}
	return "", errMalformed
}

// escape reads what follows a backslash.
func (p *parser) escape() (rune, error) {
	c := p.peek()
	p.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicode()
	}
	return 0, errMalformed
}

// unicode reads the digits of \u, and the second half of a surrogate pair with them.
func (p *parser) unicode() (rune, error) {
	r, err := p.hex()
	switch {
	case err != nil:
		return 0, err
	case r == 0:
		return 0, errNUL
	case !utf16.IsSurrogate(r):
		return r, nil
	case len(p.data)-p.pos < 6 || p.data[p.pos] != '\\' || p.data[p.pos+1] != 'u':
		return 0, errSurrogate
	}
	p.pos += 2
	low, err := p.hex()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, errSurrogate
	}
	return r, nil
}

func (p *parser) hex() (rune, error) {
	if len(p.data)-p.pos < 4 {
		return 0, errMalformed
	}
	n := rune(0)
	for _, c := range p.data[p.pos : p.pos+4] {
		n <<= 4
		switch {
		case '0' <= c && c <= '9':
			n |= rune(c - '0')
		case 'a' <= c && c <= 'f':
			n |= rune(c-'a') + 10
		case 'A' <= c && c <= 'F':
			n |= rune(c-'A') + 10
		default:
			return 0, errMalformed
		}
	}
	p.pos += 4
	return n, nil
}
