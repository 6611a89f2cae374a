package form

import (
	"slices"
	"strings"
)

// shape is the JSON kind of a value.
type shape uint8

const (
	null shape = iota
	boolean
	number
	text
	array
	object
)

// String names the shape as messages do.
func (s shape) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "an array", "an object"}[s]
}

// value is a parsed JSON value. The zero value is null, which is also what an absent field holds.
type value struct {
	shape   shape
	yes     bool     // of a boolean
	num     float64  // of a number: the nearest one; literal keeps its text
	text    string   // of a text: decoded; of a number: the literal
	items   []value  // of an array
	members []member // of an object, in the order of the text; of equal keys the last one counts
}

type member struct {
	key   string
	value value
}

// get returns the member called key of an object, and whether there is one.
func (v *value) get(key string) (value, bool) {
	for _, v0 := range slices.Backward(v.members) {
		if v0.key == key {
			return v0.value, true
		}
	}
	return value{}, false
}

// weight is how much there is to go through: the values inside, and the bytes of their texts and keys.
func (v *value) weight() int {
	n := 1 + len(v.text)
	for i := range v.items {
		n += v.items[i].weight()
	}
	for i := range v.members {
		n += len(v.members[i].key) + v.members[i].value.weight()
	}
	return n
}

// empty reports whether the value means "not answered": null, "", a text of white space, [] and {}.
func (v *value) empty() bool {
	switch v.shape {
	case null:
		return true
	case boolean, number:
		return false
	case text:
		return blank(v.text)
	case array:
		return len(v.items) == 0
	case object:
		return len(v.members) == 0
	}
	return true
}

// equal compares two values: numbers by size, texts after CRLF became LF, arrays in order, objects by key. All empty
// values are equal.
func equal(a, b *value) bool {
	if a.empty() || b.empty() {
		return a.empty() && b.empty()
	}
	if a.shape != b.shape {
		return false
	}
	switch a.shape {
	case null:
		return true
	case boolean:
		return a.yes == b.yes
	case number:
		return a.num == b.num
	case text:
		return NormalizeText(a.text) == NormalizeText(b.text)
	case array:
		if len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !equal(&a.items[i], &b.items[i]) {
				return false
			}
		}
		return true
	case object:
		return sameMembers(a, b)
	}
	return false
}

// sameMembers compares two objects by key; each member is looked at once. An empty member is an absent one.
func sameMembers(a, b *value) bool {
	x, y := a.byKey(), b.byKey()
	for key, theirs := range y {
		if x[key] == nil && !theirs.empty() {
			return false
		}
	}
	for key, mine := range x {
		theirs := y[key]
		if theirs == nil {
			theirs = &value{}
		}
		if !equal(mine, theirs) {
			return false
		}
	}
	return true
}

// byKey indexes the members of an object.
func (v *value) byKey() map[string]*value {
	index := make(map[string]*value, len(v.members))
	for i := range v.members {
		index[v.members[i].key] = &v.members[i].value
	}
	return index
}

// hasCRLF reports whether a text inside the value, keys aside, holds a CRLF.
func (v *value) hasCRLF() bool {
	switch v.shape {
	case null, boolean, number:
		return false
	case text:
		return strings.Contains(v.text, "\r\n")
	case array:
		for i := range v.items {
			if v.items[i].hasCRLF() {
				return true
			}
		}
	case object:
		for i := range v.members {
			if v.members[i].value.hasCRLF() {
				return true
			}
		}
	}
	return false
}

// show renders the value for a message, shortened to what a message may quote.
func (v *value) show() string {
	switch v.shape {
	case null:
		return "null"
	case boolean:
		if v.yes {
			return "true"
		}
		return "false"
	case number:
		if len(v.text) > quoteLimit {
			return v.text[:quoteLimit] + "…"
		}
		return v.text
	case text:
		return quote(v.text)
	case array, object:
		return v.shape.String()
	}
	return ""
}
