package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// check is the place of one value, or of a part of it, while it is checked. Children are made by at and item.
type check struct {
	*report
	up    *check
	key   string
	index int // used when key is empty
}

// report collects the problems of one field.
type report struct {
	field    string
	find     lookup
	budget   *Budget
	problems []Problem
	// unmatched is set once a text was not matched because the budget is spent. That is told once for a field.
	unmatched bool
}

// fail reports a problem here.
func (c *check) fail(format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, Problem{Field: c.field, Path: c.path(), Message: fmt.Sprintf(format, args...)})
	}
}

// expect reports that v is not what it should be.
func (c *check) expect(what string, v *value) { c.fail("expected %s, got %s", what, v.show()) }

// at is the place of a member.
func (c *check) at(key string) *check { return &check{report: c.report, up: c, key: key} }

// item is the place of an element.
func (c *check) item(i int) *check { return &check{report: c.report, up: c, index: i} }

// full reports that no further problem will be kept, so that a long value can be left.
func (c *check) full() bool { return len(c.problems) >= maxProblems }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// path renders the RFC 6901 pointer of the place.
func (c *check) path() string {
	if c.up == nil {
		return ""
	}
	step := c.key
	if step == "" {
		step = strconv.Itoa(c.index)
	}
	if len(step) > 4*quoteLimit {
		step = step[:4*quoteLimit]
	}
	return c.up.path() + "/" + pointerEscapes.Replace(strings.ToValidUTF8(step, ""))
}

// count checks a number of things against inclusive bounds.
func (c *check) count(n int, least, most *int, one, many string) {
	if most != nil && n > *most {
		c.fail("has %s, at most %d allowed", plural(n, one, many), *most)
	}
	if least != nil && n < *least {
		c.fail("has %s, at least %d needed", plural(n, one, many), *least)
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// object checks that v is an object with no other keys than the given ones.
func (c *check) object(v *value, keys ...string) bool {
	if v.shape != object {
		c.expect("an object with "+list(keys), v)
		return false
	}
	for i := range v.members {
		if !oneOf(v.members[i].key, keys) {
			c.fail("unknown key %s; expected %s", quote(v.members[i].key), list(keys))
			return false
		}
	}
	return true
}

func oneOf(s string, of []string) bool {
	return slices.Contains(of, s)
}

// listLimit is the largest number of choices that a message lists.
const listLimit = 10

// list shows choices in a message: "a", "b" or "c". Of many only the first, and of long ones the beginning.
func list(choices []string) string { return enumerate(choices, listLimit, quote) }

// listAll shows every choice as it is, for those who have to give one.
func listAll(choices []string) string { return enumerate(choices, len(choices), strconv.Quote) }

func enumerate(choices []string, most int, show func(string) string) string {
	var b strings.Builder
	for i, choice := range choices {
		switch {
		case i == most:
			return b.String() + fmt.Sprintf(" or %d more", len(choices)-i)
		case i > 0 && i == len(choices)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(show(choice))
	}
	return b.String()
}
