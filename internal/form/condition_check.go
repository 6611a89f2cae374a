package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxConditionValues is the largest number of values that in and nin compare with.
const maxConditionValues = 1000

// Problems tells what is wrong with the condition; known finds the fields that it may refer to, and b is shared with
// the other patterns of the pipeline. The paths start at the condition and Field is empty.
func (c Condition) Problems(known func(name string) (Field, bool), b *Budget) []Problem {
	k := conditionCheck{known: known, budget: b}
	k.visit(&c, "", 1)
	if k.leaves > MaxConditionLeaves {
		k.fail("", "a condition compares at most %d values, got %d", MaxConditionLeaves, k.leaves)
	}
	return k.problems
}

type conditionCheck struct {
	known    func(name string) (Field, bool)
	budget   *Budget
	leaves   int
	problems []Problem
}

func (k *conditionCheck) fail(path, format string, args ...any) {
	if len(k.problems) < maxProblems {
		k.problems = append(k.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

func (k *conditionCheck) visit(c *Condition, path string, depth int) {
	if depth > MaxConditionDepth {
		k.fail(path, "a condition is nested at most %d levels deep", MaxConditionDepth)
		return
	}
	var parts set
	parts.add("all", len(c.All) > 0)
	parts.add("any", len(c.Any) > 0)
	parts.add("not", c.Not != nil)
	parts.add("field", c.Field != "" || c.Op != "" || c.Value != nil)
	if len(parts) != 1 {
		k.fail(path, "a condition has exactly one of all, any, not and field, got %s", gotParts(parts))
	}
	for i := range c.All {
		k.visit(&c.All[i], path+"/all/"+strconv.Itoa(i), depth+1)
	}
	for i := range c.Any {
		k.visit(&c.Any[i], path+"/any/"+strconv.Itoa(i), depth+1)
	}
	if c.Not != nil {
		k.visit(c.Not, path+"/not", depth+1)
	}
	if slices.Contains(parts, "field") {
		if k.leaves++; k.leaves <= MaxConditionLeaves {
			k.leaf(c, path)
		}
	}
}

func gotParts(parts []string) string {
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func (k *conditionCheck) leaf(c *Condition, path string) {
	subject, ok := k.subject(c.Field, path+"/field")
	if !oneOf(c.Op, ops) {
		k.fail(path+"/op", "%s is not an operator; expected %s", quote(c.Op), strings.Join(ops, ", "))
		return
	}
	if c.Op == OpEmpty || c.Op == OpNotEmpty {
		if c.Value != nil && string(c.Value) != "null" {
			k.fail(path+"/value", "%s takes no value", c.Op)
		}
		return
	}
	if c.Value == nil {
		k.fail(path+"/value", "%s needs a value", c.Op)
		return
	}
	if len(c.Value) > MaxValueBytes {
		k.fail(path+"/value", "the value is too large: %d bytes, at most %d allowed", len(c.Value), MaxValueBytes)
		return
	}
	want, err := parse(c.Value)
	if err != nil {
		k.fail(path+"/value", "the value %s", err)
		return
	}
	if c.Op == OpMatches {
		if _, err := compilePattern(want.text, k.budget); err != nil {
			k.fail(path+"/value", "the pattern %s", err)
		}
	}
	if ok {
		k.fit(&subject, c.Op, &want, path)
	}
}

// subject returns a definition of what the leaf looks at: a field, or with "name.key" one key of it.
func (k *conditionCheck) subject(ref, path string) (Field, bool) {
	name, key, keyed := strings.Cut(ref, ".")
	field, ok := k.known(name)
	if !ok {
		k.fail(path, "there is no field %s to refer to: a condition sees earlier fields of the form and upstream fields", quote(name))
		return Field{}, false
	}
	if !keyed {
		return field, true
	}
	inner, ok := field.part(key)
	if !ok {
		k.fail(path, "field %s of type %s has no key %s to compare", quote(name), field.Type, quote(key))
	}
	return inner, ok
}

// part is the definition of one key of the field's value. Values of json have any key, of any type.
func (f *Field) part(key string) (Field, bool) {
	switch {
	case f.Type == JSON && key != "":
		return Field{Type: JSON}, true
	case f.Type == Pairwise && key == "choice":
		return Field{Type: Select, Options: optionsOf(f.pairChoices())}, true
	case f.Type == Pairwise && key == "shown_left":
		return Field{Type: Select, Options: optionsOf(pairChoices[:2])}, true
	case f.Type == Pairwise && key == "strength", f.Type == FileUpload && !f.Multiple && key == "size":
		return Field{Type: Integer}, true
	case f.Type == FileUpload && !f.Multiple && oneOf(key, []string{"file_id", "name", "content_type", "sha256"}),
		slices.Contains(mediaTypes, f.Type) && oneOf(key, []string{"url", "file_id"}):
		return Field{Type: ShortText}, true
	case f.Type == Likert:
		for _, row := range f.Rows {
			if row.Value == key {
				return Field{Type: Rating, Scale: f.Scale}, true
			}
		}
	}
	return Field{}, false
}

func optionsOf(values []string) []Option {
	options := make([]Option, len(values))
	for i, v := range values {
		options[i].Value = v
	}
	return options
}

// fit checks that the operator and its value make sense for the type.
func (k *conditionCheck) fit(f *Field, op string, want *value, path string) {
	path += "/value"
	switch op {
	case OpEq, OpNe:
		k.comparable(f, want, path)
	case OpIn, OpNin:
		if want.shape != array || len(want.items) == 0 || len(want.items) > maxConditionValues {
			k.fail(path, "%s needs an array of 1 to %d values, got %s", op, maxConditionValues, want.show())
			return
		}
		like := plainKind(f)
		for i := range want.items {
			k.possible(f, like, &want.items[i], path+"/"+strconv.Itoa(i))
		}
	case OpGt, OpGte, OpLt, OpLte:
		if !slices.Contains([]Type{Number, Integer, Rating, Date, Datetime, JSON}, f.Type) {
			k.fail(path, "%s compares numbers, ratings and dates, but the field is a %s", op, f.Type)
			return
		}
		if k.something(op, want, path) {
			k.comparable(&Field{Type: orderType(f.Type)}, want, path)
		}
	case OpContains:
		k.containable(f, want, path)
	case OpMatches:
		if !f.Type.prose() && !slices.Contains([]Type{Select, URL, JSON}, f.Type) {
			k.fail(path, "matches is for texts, but the field is a %s", f.Type)
		} else if want.shape != text || want.text == "" {
			k.fail(path, "matches needs a pattern, got %s", want.show())
		}
	}
}

// something checks that there is a value to compare with, for operators that never hold without one.
func (k *conditionCheck) something(op string, want *value, path string) bool {
	if want.empty() {
		k.fail(path, "%s needs a value to compare with, got %s", op, want.show())
		return false
	}
	return true
}

// orderType is the type of the value that a field is ordered by: a rating by any number.
func orderType(t Type) Type {
	if t == Rating || t == Integer {
		return Number
	}
	return t
}

// comparable checks that a value could be one of the field's, its rules aside. null stands for "not answered".
func (k *conditionCheck) comparable(f *Field, want *value, path string) {
	k.possible(f, plainKind(f), want, path)
}

// plainKind is what the field's values are without its rules.
func plainKind(f *Field) kind {
	plain := *f
	plain.Rules = Rules{}
	if f.Type == Rating {
		plain.Rules.Min, plain.Rules.Max = f.Rules.Min, f.Rules.Max
	}
	return newKind(&plain, nil)
}

// possible is comparable with the field's plainKind.
func (k *conditionCheck) possible(f *Field, like kind, want *value, path string) {
	if want.empty() {
		return
	}
	if f.Type == Rating && f.Scale != nil && f.Scale.AllowNA && want.shape == text && want.text == na {
		return // a row of a likert
	}
	if f.Type == Likert || f.Type == Chat || f.Type == Table {
		return // a whole answer is rarely compared, and never wrongly typed
	}
	unknown := func(string) (value, bool) { return value{}, false }
	at := check{report: &report{find: unknown}}
	like.check(want, &at)
	for _, p := range at.problems {
		k.fail(path+p.Path, "this can never equal a %s: %s", f.Type, p.Message)
	}
}

func (k *conditionCheck) containable(f *Field, want *value, path string) {
	switch {
	case f.Type == JSON:
	case f.Type == MultiSelect:
		k.element(&Field{Type: Select, Options: f.Options, AllowOther: f.AllowOther}, want, path)
	case f.Type == List:
		item := itemField(f)
		k.element(&item, want, path)
	case f.Type == Ranking && f.Source == "":
		k.element(&Field{Type: Select, Options: f.Items}, want, path)
	case f.Type == Ranking, f.Type.prose(), f.Type == URL:
		if want.shape != text || want.empty() {
			k.fail(path, "contains needs a text here, got %s", want.show())
		}
	default:
		k.fail(path, "contains is for texts, lists and multi_selects, but the field is a %s", f.Type)
	}
}

// element checks that a value could be an element of an answer: none of them is empty.
func (k *conditionCheck) element(f *Field, want *value, path string) {
	if k.something(OpContains, want, path) {
		k.comparable(f, want, path)
	}
}
