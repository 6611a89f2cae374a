package form

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits on every JSON value, whatever its type.
const (
	// MaxValueBytes is the largest value, in bytes of the JSON that was sent and of the JSON that jsonb gives back, which
	// writes exponents out; white space between tokens does not count. Rules may lower it for json, as it was sent.
	MaxValueBytes = 1 << 20
	// maxDepth is the deepest nesting of arrays and objects.
	maxDepth = 64
	// maxNumberChars and maxExponent keep numbers within what Postgres's numeric and a float64 can hold.
	maxNumberChars = 400
	maxExponent    = 999
	// maxParts is the largest number of values inside a value.
	maxParts = 100_000
)

var (
	errMalformed = errors.New("is not valid JSON")
	errUTF8      = errors.New("holds text that is not valid UTF-8")
	errNUL       = errors.New("holds the character U+0000, which cannot be stored")
	errSurrogate = errors.New(`holds half of a surrogate pair (\ud800 to \udfff alone), which cannot be stored`)
	errDepth     = fmt.Errorf("is nested deeper than %d levels", maxDepth)
	errNumber    = errors.New("holds a number that is out of range")
	errParts     = fmt.Errorf("has more than %d parts", maxParts)
)

// parser turns JSON text into a value in one pass. Beyond RFC 8259 it refuses what Postgres's jsonb cannot store.
type parser struct {
	data []byte
	pos  int
	// scan checks without building arrays and objects, so that a large json value costs no memory.
	scan  bool
	depth int
	parts int
	// grown is how many bytes more jsonb writes, since it knows no exponents: 1e-999 has a thousand digits there.
	grown int
}

// parse reads all of data as one JSON value.
func parse(data []byte) (value, error) { return (&parser{data: data}).document() }

// scan checks data as parse does and returns only its shape, or the whole value when it is a scalar.
func scan(data []byte) (value, error) { return (&parser{data: data, scan: true}).document() }

// errGrown tells that a value is small only as it was sent.
func errGrown(bytes, most int) error {
	return fmt.Errorf("has %d bytes when its numbers are stored, which is without exponents, at most %d allowed; "+
		"round these numbers or send them as texts", bytes, most)
}

func (p *parser) document() (value, error) {
	p.space()
	v, err := p.value()
	if err != nil {
		return value{}, err
	}
	p.space()
	if p.pos != len(p.data) {
		return value{}, errMalformed
	}
	return v, nil
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value() (value, error) {
	if p.parts++; p.parts > maxParts {
		return value{}, errParts
	}
	switch c := p.peek(); c {
	case '"':
		s, err := p.text()
		return value{shape: text, text: s}, err
	case '{', '[':
		if p.depth++; p.depth > maxDepth {
			return value{}, errDepth
		}
		defer func() { p.depth-- }()
		if c == '{' {
			return p.object()
		}
		return p.array()
	case 't':
		return value{shape: boolean, yes: true}, p.word("true")
	case 'f':
		return value{shape: boolean}, p.word("false")
	case 'n':
		return value{}, p.word("null")
	default:
		return p.number()
	}
}

func (p *parser) word(w string) error {
	if len(p.data)-p.pos < len(w) || string(p.data[p.pos:p.pos+len(w)]) != w {
		return errMalformed
	}
	p.pos += len(w)
	return nil
}

func (p *parser) array() (value, error) {
	v := value{shape: array}
	p.pos++
	p.space()
	if p.peek() == ']' {
		p.pos++
		return v, nil
	}
	for {
		p.space()
		item, err := p.value()
		if err != nil {
			return v, err
		}
		if !p.scan {
			v.items = append(v.items, item)
		}
		if done, err := p.next(']'); done || err != nil {
			return v, err
		}
	}
}

func (p *parser) object() (value, error) {
	v := value{shape: object}
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return v, nil
	}
	for {
		p.space()
		if p.peek() != '"' {
			return v, errMalformed
		}
		key, err := p.text()
		if err != nil {
			return v, err
		}
		p.space()
		if p.peek() != ':' {
			return v, errMalformed
		}
		p.pos++
		p.space()
		item, err := p.value()
		if err != nil {
			return v, err
		}
		if !p.scan {
			v.members = append(v.members, member{key, item})
		}
		if done, err := p.next('}'); done || err != nil {
			return v, err
		}
	}
}

// next steps over a comma, or over the closing byte, which it reports.
func (p *parser) next(closing byte) (bool, error) {
	p.space()
	c := p.peek()
	if c != ',' && c != closing {
		return false, errMalformed
	}
	p.pos++
	return c == closing, nil
}

func (p *parser) number() (value, error) {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	leading := p.peek()
	whole := p.digits()
	if whole == 0 || whole > 1 && leading == '0' {
		return value{}, errMalformed
	}
	fraction := 0
	if p.peek() == '.' {
		p.pos++
		if fraction = p.digits(); fraction == 0 {
			return value{}, errMalformed
		}
	}
	tooFar, exponent := false, 0
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		from := p.pos
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if p.digits() == 0 {
			return value{}, errMalformed
		}
		var err error
		exponent, err = strconv.Atoi(string(p.data[from:p.pos]))
		tooFar = err != nil || max(exponent, -exponent) > maxExponent
	}
	literal := string(p.data[start:p.pos])
	f, err := strconv.ParseFloat(literal, 64)
	if tooFar || len(literal) > maxNumberChars || err != nil || math.IsInf(f, 0) {
		return value{}, errNumber
	}
	if exponent != 0 {
		p.grown += max(0, writtenOut(whole, fraction, exponent)-len(strings.TrimPrefix(literal, "-")))
	}
	return value{shape: number, num: f, text: literal}, nil
}

// writtenOut is how many bytes a number of so many digits before and after the point takes without its exponent, a
// minus aside.
func writtenOut(whole, fraction, exponent int) int {
	n := max(1, whole+exponent)
	if after := fraction - exponent; after > 0 {
		n += 1 + after
	}
	return n
}

// Grown is how many bytes more a JSON number has when jsonb gives it back; 0 for what is no number.
func Grown(literal string) int {
	p := parser{data: []byte(literal)}
	if _, err := p.document(); err != nil {
		return 0
	}
	return p.grown
}

func (p *parser) digits() int {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos - start
}
