package form

import (
	"fmt"
	"math"
	"strconv"
)

// The default scale of ratings and likerts, and the range within which scales stay.
const (
	defaultScaleMin, defaultScaleMax = 1, 5
	lowestScale, highestScale        = -10, 100
)

// na answers a row of a likert that does not apply.
const na = "na"

// scaleOf is the scale of the field. A rating may give its ends as rules min and max instead.
func scaleOf(f *Field) Scale {
	s := Scale{Min: defaultScaleMin, Max: defaultScaleMax}
	if f.Scale != nil {
		s = *f.Scale
	}
	if n := numeral(f.Rules.Min); n != nil {
		s.Min = int(math.Max(lowestScale-1, math.Min(highestScale+1, *n)))
	}
	if n := numeral(f.Rules.Max); n != nil {
		s.Max = int(math.Max(lowestScale-1, math.Min(highestScale+1, *n)))
	}
	return s
}

// check reports a value that is not a step of the scale.
func (s Scale) check(v *value, c *check) {
	steps := v.num
	if s.Half {
		steps *= 2
	}
	if v.shape != number || steps != math.Trunc(steps) || v.num < float64(s.Min) || v.num > float64(s.Max) {
		c.expect(s.noun(), v)
	}
}

func (s Scale) noun() string {
	if s.Half {
		return fmt.Sprintf("a number from %d to %d in steps of 0.5", s.Min, s.Max)
	}
	return fmt.Sprintf("an integer from %d to %d", s.Min, s.Max)
}

func (s Scale) schema() fragment {
	f := fragment{"type": "integer", "minimum": s.Min, "maximum": s.Max}
	if s.Half {
		f["type"], f["multipleOf"] = "number", 0.5
	}
	return f
}

func (s Scale) define(d *definition) {
	if s.Min >= s.Max {
		d.fail("/scale", "min %d must be less than max %d", s.Min, s.Max)
	}
	if s.Min < lowestScale || s.Max > highestScale {
		d.fail("/scale", "a scale lies between %d and %d", lowestScale, highestScale)
	}
	if n := len(s.Labels); n != 0 && n != 2 && n != s.Max-s.Min+1 {
		d.fail("/scale/labels", "labels name all %d steps or the two ends, got %d", s.Max-s.Min+1, n)
	}
	for i, l := range s.Labels {
		d.length("/scale/labels/"+strconv.Itoa(i), "label", l, maxLabelChars)
	}
}

// ratingKind is rating: an integer of the scale, or a half step when the scale has them.
type ratingKind struct{ scale Scale }

func newRating(f *Field) kind { return ratingKind{scaleOf(f)} }

func (k ratingKind) check(v *value, c *check) { k.scale.check(v, c) }

func (k ratingKind) define(d *definition) {
	k.scale.define(d)
	r := &d.field.Rules
	for _, b := range []struct {
		rule string
		raw  []byte
	}{{"min", r.Min}, {"max", r.Max}} {
		if len(b.raw) == 0 {
			continue
		}
		if n := numeral(b.raw); n == nil || *n != math.Trunc(*n) {
			d.fail("/rules/"+b.rule, "%s of a rating must be an integer, got %s", b.rule, quote(string(b.raw)))
		}
		if d.field.Scale != nil {
			d.fail("/rules/"+b.rule, "give the range of a rating once: in scale or in rules")
		}
	}
	if k.scale.AllowNA {
		d.fail("/scale/allow_na", "allow_na is for likert fields; leave a rating optional instead")
	}
}

func (k ratingKind) different() int {
	steps := k.scale.Max - k.scale.Min
	if k.scale.Half {
		steps *= 2
	}
	return max(0, steps+1)
}

func (k ratingKind) hint() any {
	if k.scale.Half {
		return fmt.Sprintf("number %d..%d, step 0.5", k.scale.Min, k.scale.Max)
	}
	return fmt.Sprintf("integer %d..%d", k.scale.Min, k.scale.Max)
}

func (k ratingKind) schema() fragment   { return k.scale.schema() }
func (k ratingKind) example(lookup) any { return k.scale.Max }

// likertKind is likert: {"row_id": 3} with an integer of the scale, or "na" when allowed, for every row.
type likertKind struct {
	scale Scale
	rows  []Option
	ids   []string
}

func newLikert(f *Field) kind {
	k := likertKind{scale: scaleOf(f), rows: f.Rows}
	for _, row := range f.Rows {
		k.ids = append(k.ids, row.Value)
	}
	return k
}

func (k likertKind) check(v *value, c *check) {
	if v.shape != object {
		c.expect("an object with a rating for each row", v)
		return
	}
	for i := range v.members {
		if c.full() {
			return
		}
		if key := v.members[i].key; !oneOf(key, k.ids) {
			c.fail("unknown row %s; expected %s", quote(key), list(k.ids))
		}
	}
	for _, id := range k.ids {
		answer, _ := v.get(id)
		switch {
		case answer.shape == null:
			c.fail("row %s is not answered; every row needs %s", quote(id), k.scale.noun())
		case k.scale.AllowNA && answer.shape == text && answer.text == na:
		default:
			k.scale.check(&answer, c.at(id))
		}
	}
}

func (k likertKind) define(d *definition) {
	d.options("/rows", "row", k.rows, 1, maxRows)
	k.scale.define(d)
	if k.scale.Half {
		d.fail("/scale/half", "half steps are for rating fields")
	}
}

func (k likertKind) hint() any {
	s := fmt.Sprintf("object: row -> %d..%d", k.scale.Min, k.scale.Max)
	if k.scale.AllowNA {
		s += " or " + na
	}
	return s
}

func (k likertKind) schema() fragment {
	properties := fragment{}
	for _, id := range k.ids {
		properties[id] = k.scale.schema()
		if k.scale.AllowNA {
			properties[id] = fragment{"anyOf": []any{k.scale.schema(), fragment{"const": na}}}
		}
	}
	return fragment{"type": "object", "properties": properties, "required": k.ids, "additionalProperties": false}
}

func (k likertKind) example(lookup) any {
	answers := make(map[string]int, len(k.ids))
	for _, id := range k.ids {
		answers[id] = k.scale.Max
	}
	return answers
}
