package form

import "strings"

// test is a compiled condition: the values are parsed and the patterns compiled.
type test struct {
	never    bool // nested too deep, one leaf too many, or a broken one
	all, any []test
	not      *test

	field string // empty when there is no leaf
	key   string // the key after the dot, if any
	op    string
	want  value
	// weighs is the weight of want.
	weighs int
	match  *pattern
}

// conditionCompiler prepares one condition.
type conditionCompiler struct {
	budget *Budget
	leaves int
}

func compileCondition(c *Condition, b *Budget) test {
	k := conditionCompiler{budget: b}
	return k.compile(c, 1)
}

// compile prepares a part that stands at depth (the outermost at 1).
func (k *conditionCompiler) compile(c *Condition, depth int) test {
	if depth > MaxConditionDepth {
		return test{never: true}
	}
	t := test{op: c.Op}
	for i := range c.All {
		t.all = append(t.all, k.compile(&c.All[i], depth+1))
	}
	for i := range c.Any {
		t.any = append(t.any, k.compile(&c.Any[i], depth+1))
	}
	if c.Not != nil {
		not := k.compile(c.Not, depth+1)
		t.not = &not
	}
	if c.Field == "" {
		t.never = c.Op != "" || c.Value != nil
		return t
	}
	if k.leaves++; k.leaves > MaxConditionLeaves {
		t.never = true
		return t
	}
	t.field, t.key, _ = strings.Cut(c.Field, ".")
	if c.Value != nil {
		var err error
		if t.want, err = parse(c.Value); err != nil {
			t.never = true
		}
		t.weighs = t.want.weight()
	}
	if c.Op == OpMatches {
		t.match, _ = compilePattern(t.want.text, k.budget)
	}
	return t
}

// eval decides over the values that lookup finds; what it does not find is null.
func (t *test) eval(lookup func(name string) value, b *Budget) bool {
	if t.never {
		return false
	}
	for i := range t.all {
		if !t.all[i].eval(lookup, b) {
			return false
		}
	}
	if len(t.any) > 0 && !t.anyOf(lookup, b) {
		return false
	}
	if t.not != nil && t.not.eval(lookup, b) {
		return false
	}
	if t.field == "" {
		return true
	}
	got := lookup(t.field)
	if t.key != "" {
		if !b.look(len(got.members)) {
			return false
		}
		got, _ = got.get(t.key)
	}
	return b.look(t.steps(&got)) && t.leaf(&got, b)
}

// steps is what deciding takes at most, patterns aside: what is compared with each of several values is gone through
// as often, on both sides.
func (t *test) steps(got *value) int {
	switch t.op {
	case OpEmpty, OpNotEmpty:
		return 1 + len(got.text)
	case OpIn, OpNin:
		return got.weight()*len(t.want.items) + t.weighs
	case OpContains:
		return got.weight() + t.weighs*max(1, len(got.items))
	}
	return got.weight() + t.weighs
}

func (t *test) anyOf(lookup func(name string) value, b *Budget) bool {
	for i := range t.any {
		if t.any[i].eval(lookup, b) {
			return true
		}
	}
	return false
}

func (t *test) leaf(got *value, b *Budget) bool {
	switch t.op {
	case OpEq:
		return equal(got, &t.want)
	case OpNe:
		return !equal(got, &t.want)
	case OpIn:
		return t.want.has(got)
	case OpNin:
		return t.want.shape == array && !t.want.has(got)
	case OpContains:
		return contains(got, &t.want)
	case OpGt, OpGte, OpLt, OpLte:
		order, ok := compare(got, &t.want)
		return ok && ordered(t.op, order)
	case OpEmpty:
		return got.empty()
	case OpNotEmpty:
		return !got.empty()
	case OpMatches:
		return t.match != nil && got.shape == text && !got.empty() && t.matched(NormalizeText(got.text), b)
	}
	return false
}

// matched reports whether the text matches, as far as the budget lets it be looked at.
func (t *test) matched(s string, b *Budget) bool {
	if len(s) > t.match.maxBytes {
		return false
	}
	return b.look(len(s)*t.match.size) && t.match.matches(s)
}

// has reports whether an element of the array is equal to v.
func (v *value) has(x *value) bool {
	for i := range v.items {
		if equal(&v.items[i], x) {
			return true
		}
	}
	return false
}

// contains reports whether a text has the text want in it, or an array an element equal to want.
func contains(got, want *value) bool {
	if got.shape == text {
		return want.shape == text && !got.empty() && !want.empty() &&
			strings.Contains(NormalizeText(got.text), NormalizeText(want.text))
	}
	return got.has(want)
}

// compare orders two numbers, two dates or two datetimes.
func compare(a, b *value) (order int, ok bool) {
	switch {
	case a.shape == number && b.shape == number:
		return orderOf(a.num, b.num), true
	case a.shape != text || b.shape != text:
		return 0, false
	}
	if x, ok := parseDate(a.text); ok {
		y, ok := parseDate(b.text)
		return x.Compare(y), ok
	}
	x, ok := parseDatetime(a.text)
	if !ok {
		return 0, false
	}
	y, ok := parseDatetime(b.text)
	return x.Compare(y), ok
}

func orderOf(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func ordered(op string, order int) bool {
	switch op {
	case OpGt:
		return order > 0
	case OpGte:
		return order >= 0
	case OpLt:
		return order < 0
	}
	return order <= 0
}
