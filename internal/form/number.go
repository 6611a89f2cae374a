package form

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// maxSafeInteger is the largest integer that JavaScript and float64 hold exactly; larger ones are refused.
const maxSafeInteger = 1<<53 - 1

// numberKind is number and integer: a JSON number, compared as a float64, which is exact up to 15 significant digits.
// An integer may be written 3.0 or 3e2, as JavaScript cannot tell these apart; it is at most 2^53-1 either way.
type numberKind struct {
	integer  bool
	min, max *float64
	step     *float64
	decimals *int
	unit     string
}

func newNumber(f *Field) kind {
	return numberKind{
		integer: f.Type == Integer, min: numeral(f.Rules.Min), max: numeral(f.Rules.Max), step: numeral(f.Rules.Step),
		decimals: f.Rules.Decimals, unit: f.Unit,
	}
}

// numeral returns the number in raw, nil when there is none.
func numeral(raw json.RawMessage) *float64 {
	v, err := parse(raw)
	if err != nil || v.shape != number {
		return nil
	}
	return &v.num
}

func (k numberKind) check(v *value, c *check) {
	switch {
	case v.shape != number:
		c.expect(k.noun(), v)
		return
	case k.integer && (v.num != math.Trunc(v.num) || math.Abs(v.num) > maxSafeInteger):
		c.expect("an integer between -(2^53-1) and 2^53-1", v)
		return
	case k.min != nil && v.num < *k.min:
		c.fail("%s is less than the minimum %s", v.show(), format(*k.min))
	case k.max != nil && v.num > *k.max:
		c.fail("%s is more than the maximum %s", v.show(), format(*k.max))
	}
	if k.step != nil && !onStep(v.num, k.base(), *k.step) {
		c.fail("%s is not on a step: expected %s plus a multiple of %s", v.show(), format(k.base()), format(*k.step))
	}
	if k.decimals != nil && !onStep(v.num, 0, math.Pow10(-*k.decimals)) {
		c.fail("%s has too many digits after the point, at most %d allowed", v.show(), *k.decimals)
	}
}

func (k numberKind) noun() string {
	if k.integer {
		return "an integer"
	}
	return "a number"
}

// base is where the steps start: at the minimum, or at 0.
func (k numberKind) base() float64 {
	if k.min == nil {
		return 0
	}
	return *k.min
}

// onStep reports whether n is base plus a multiple of step. The tolerance is a billionth of a step, or what float64
// loses in n and base when that is more, so that 0.1*3 is on a step of 0.1.
func onStep(n, base, step float64) bool {
	q := (n - base) / step
	if step <= 0 || math.IsInf(q, 0) || math.IsNaN(q) {
		return true
	}
	tolerance := max(1e-9, 1e-15*(math.Abs(n)+math.Abs(base))/step)
	return math.Abs(q-math.Round(q)) <= tolerance
}

// format writes a number as JavaScript does for the sizes that forms use.
func format(n float64) string {
	if math.Abs(n) < 1e21 && (n == 0 || math.Abs(n) >= 1e-6) {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

func (k numberKind) define(d *definition) {
	r := &d.field.Rules
	for _, bound := range []struct {
		rule string
		raw  json.RawMessage
	}{{"min", r.Min}, {"max", r.Max}, {"step", r.Step}} {
		n := numeral(bound.raw)
		switch {
		case len(bound.raw) == 0:
		case n == nil:
			d.fail("/rules/"+bound.rule, "%s must be a number, got %s", bound.rule, quote(string(bound.raw)))
		case k.integer && *n != math.Trunc(*n):
			d.fail("/rules/"+bound.rule, "%s of an integer must be an integer, got %s", bound.rule, format(*n))
		}
	}
	if k.min != nil && k.max != nil && *k.min > *k.max {
		d.fail("/rules/min", "min %s is more than max %s", format(*k.min), format(*k.max))
	}
	if k.step != nil && *k.step <= 0 {
		d.fail("/rules/step", "step must be more than 0, got %s", format(*k.step))
	}
	if k.decimals != nil && (*k.decimals < 0 || *k.decimals > maxDecimals) {
		d.fail("/rules/decimals", "decimals must be 0 to %d, got %d", maxDecimals, *k.decimals)
	}
}

func (k numberKind) hint() any {
	s := "number"
	if k.integer {
		s = "integer"
	}
	if k.min != nil || k.max != nil {
		s += " " + bound(k.min) + ".." + bound(k.max)
	}
	if k.step != nil {
		s += ", step " + format(*k.step)
	}
	if k.decimals != nil {
		s += fmt.Sprintf(", up to %d decimals", *k.decimals)
	}
	if k.unit != "" {
		s += ", in " + k.unit
	}
	return s
}

func bound(n *float64) string {
	if n == nil {
		return ""
	}
	return format(*n)
}

func (k numberKind) schema() fragment {
	s := fragment{"type": "number"}
	if k.integer {
		s["type"] = "integer"
	}
	if k.min != nil {
		s["minimum"] = *k.min
	}
	if k.max != nil {
		s["maximum"] = *k.max
	}
	if k.step != nil && *k.step > 0 && math.Mod(k.base(), *k.step) == 0 {
		s["multipleOf"] = *k.step
	}
	return s
}

// example is the minimum, rounded up to the allowed decimals, or the largest number that is not more than 1.
func (k numberKind) example(lookup) any {
	n := 1.0
	switch {
	case k.min != nil:
		n = *k.min
	case k.max != nil:
		n = math.Min(1, math.Floor(*k.max))
	}
	if k.step != nil && k.min == nil && *k.step > 0 {
		n = math.Floor(n / *k.step) * *k.step
	}
	if k.decimals != nil && k.step == nil {
		scale := math.Pow10(*k.decimals)
		n = math.Ceil(n*scale) / scale
	}
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	return n
}
