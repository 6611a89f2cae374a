package form

import (
	"math"
	"slices"
)

// maxOtherChars is the longest text that stands for an option of its own (allow_other).
const maxOtherChars = 1000

// choices are the options of a select or multi_select.
type choices struct {
	options []Option
	index   map[string]bool
	values  []string
	other   bool
}

func newChoices(f *Field) choices {
	s := choices{options: f.Options, index: make(map[string]bool, len(f.Options)), other: f.AllowOther}
	for _, o := range f.Options {
		s.index[o.Value] = true
		s.values = append(s.values, o.Value)
	}
	return s
}

// check reports a value that is not an option.
func (s *choices) check(v *value, c *check) {
	switch {
	case v.shape != text:
		c.expect("one of "+list(s.values), v)
	case s.index[v.text]:
	case s.other:
		if n := Count(v.text).Chars; n > maxOtherChars || blank(v.text) {
			c.fail("another answer than the options has 1 to %d characters, got %s", maxOtherChars, quote(v.text))
		}
	default:
		for _, o := range s.options {
			if o.Label == v.text {
				c.fail("%s is the label of an option: use its value %s", quote(v.text), quote(o.Value))
				return
			}
		}
		c.fail("%s is not an option; expected %s", quote(v.text), list(s.values))
	}
}

func (s *choices) schema() fragment {
	if s.other {
		return fragment{"type": "string", "minLength": 1, "maxLength": maxOtherChars}
	}
	return fragment{"type": "string", "enum": s.values}
}

// hint is closed unless other texts are allowed. Either way it lists all options (spec 2), however many.
func (s *choices) hint() any {
	if s.other {
		return "text, " + listAll(s.values) + " or another"
	}
	return slices.Clone(s.values)
}

// selectKind is select: the value of one option, a JSON string. With allow_other any other text may stand for it.
type selectKind struct{ choices }

func newSelect(f *Field) kind { return &selectKind{newChoices(f)} }

func (k *selectKind) check(v *value, c *check) { k.choices.check(v, c) }
func (k *selectKind) define(d *definition) {
	d.options("/options", "option", d.field.Options, 1, maxOptions)
}
func (k *selectKind) hint() any        { return k.choices.hint() }
func (k *selectKind) schema() fragment { return k.choices.schema() }

func (k *selectKind) different() int {
	if k.other {
		return math.MaxInt
	}
	return len(k.index)
}

func (k *selectKind) example(lookup) any {
	if len(k.values) == 0 {
		return nil
	}
	return k.values[0]
}

// multiSelectKind is multi_select: an array of different options. An option in rules.exclusive stands alone.
type multiSelectKind struct {
	choices
	rules Rules
	// alone are the exclusive options, each once.
	alone []string
}

func newMultiSelect(f *Field) kind {
	k := &multiSelectKind{choices: newChoices(f), rules: f.Rules}
	once := make(map[string]bool, len(k.index))
	for _, v := range f.Rules.Exclusive {
		if k.index[v] && !once[v] {
			once[v] = true
			k.alone = append(k.alone, v)
		}
	}
	return k
}

func (k *multiSelectKind) check(v *value, c *check) {
	if v.shape != array {
		c.expect("an array of options", v)
		return
	}
	c.count(len(v.items), k.rules.MinItems, k.rules.MaxItems, "choice", "choices")
	seen := make(map[string]bool, len(v.items))
	for i := range v.items {
		item := &v.items[i]
		if c.full() {
			return
		}
		k.choices.check(item, c.item(i))
		if item.shape == text && seen[item.text] {
			c.item(i).fail("%s is chosen twice", quote(item.text))
		}
		seen[item.text] = true
	}
	if len(v.items) < 2 {
		return
	}
	for _, alone := range k.alone {
		if seen[alone] {
			c.fail("%s cannot be chosen together with others", quote(alone))
		}
	}
}

func (k *multiSelectKind) define(d *definition) {
	d.options("/options", "option", d.field.Options, 1, maxOptions)
	d.bounds("items", k.rules.MinItems, k.rules.MaxItems)
	least := limit(k.rules.MinItems, 0)
	switch together := k.together(); {
	case k.other:
	case least > len(k.options):
		d.fail("/rules/min_items", "%d choices are needed, but there are %d options", least, len(k.options))
	case least > 1 && least > together:
		d.fail("/rules/min_items", "%d choices are needed, but only %d of the %d options can be chosen together, since the others "+
			"are exclusive; lower min_items, or take options out of exclusive", least, together, len(k.options))
	}
	if n := len(k.rules.Exclusive); n > maxOptions {
		d.fail("/rules/exclusive", "at most %d entries allowed, got %d", maxOptions, n)
		return
	}
	for _, alone := range k.rules.Exclusive {
		if !k.index[alone] {
			d.fail("/rules/exclusive", "%s is not an option", quote(alone))
		}
	}
}

// together is how many options are not exclusive.
func (k *multiSelectKind) together() int { return len(k.index) - len(k.alone) }

func (k *multiSelectKind) hint() any { return k.choices.hint() }

func (k *multiSelectKind) schema() fragment {
	return fragment{"type": "array", "uniqueItems": true, "items": k.choices.schema()}.
		set("minItems", k.rules.MinItems).set("maxItems", k.rules.MaxItems)
}

func (k *multiSelectKind) example(lookup) any {
	least := max(1, limit(k.rules.MinItems, 1))
	var chosen []string
	for _, v := range k.values {
		if len(chosen) < least && (least == 1 || !slices.Contains(k.alone, v)) {
			chosen = append(chosen, v)
		}
	}
	return chosen
}

// boolKind is boolean: true or false. With rules.must_be_true only true will do.
type boolKind struct{ mustBeTrue bool }

func (k boolKind) check(v *value, c *check) {
	switch {
	case v.shape != boolean:
		c.expect("true or false", v)
	case k.mustBeTrue && !v.yes:
		c.fail("must be true")
	}
}

func (boolKind) define(*definition) {}

func (k boolKind) different() int {
	if k.mustBeTrue {
		return 1
	}
	return 2
}

func (k boolKind) hint() any {
	if k.mustBeTrue {
		return "true"
	}
	return "true or false"
}

func (k boolKind) schema() fragment {
	if k.mustBeTrue {
		return fragment{"type": "boolean", "const": true}
	}
	return fragment{"type": "boolean"}
}

func (boolKind) example(lookup) any { return true }
