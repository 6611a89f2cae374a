package form

import "strconv"

// The choices of a pairwise.
var pairChoices = []string{"a", "b", "tie", "both_bad"}

// The default scale of the strength of a choice.
const defaultStrengthMin, defaultStrengthMax = 1, 3

// pairwiseKind is pairwise: {"choice": "a"|"b"|"tie"|"both_bad"}, with optional "strength" (an integer, 1 to 3 unless
// scale says otherwise) and "shown_left" ("a" or "b": which one stood on the left).
type pairwiseKind struct {
	choices  []string
	strength Scale
}

// pairChoices are the choices that a pairwise offers.
func (f *Field) pairChoices() []string {
	if len(f.Choices) == 0 {
		return pairChoices
	}
	return f.Choices
}

func newPairwise(f *Field) kind {
	k := pairwiseKind{choices: f.pairChoices(), strength: Scale{Min: defaultStrengthMin, Max: defaultStrengthMax}}
	if f.Scale != nil {
		k.strength = *f.Scale
	}
	return k
}

func (k pairwiseKind) check(v *value, c *check) {
	if !c.object(v, "choice", "strength", "shown_left") {
		return
	}
	choice, ok := v.get("choice")
	switch {
	case !ok || choice.shape == null:
		c.fail("choice is missing; expected %s", list(k.choices))
	case choice.shape != text || !oneOf(choice.text, k.choices):
		c.at("choice").expect(list(k.choices), &choice)
	}
	if strength, _ := v.get("strength"); strength.shape != null {
		k.strength.check(&strength, c.at("strength"))
	}
	if left, _ := v.get("shown_left"); left.shape != null && (left.shape != text || !oneOf(left.text, pairChoices[:2])) {
		c.at("shown_left").expect(list(pairChoices[:2]), &left)
	}
}

func (k pairwiseKind) define(d *definition) {
	d.distinct("/choices", "choice", d.field.Choices, len(pairChoices))
	for i, choice := range d.field.Choices {
		if !oneOf(choice, pairChoices) {
			d.fail("/choices/"+strconv.Itoa(i), "%s is not a choice; expected some of %s", quote(choice), list(pairChoices))
		}
	}
	if len(d.field.Choices) > 0 && !(oneOf("a", d.field.Choices) && oneOf("b", d.field.Choices)) {
		d.fail("/choices", `choices must have "a" and "b"`)
	}
	if d.field.Scale != nil {
		k.strength.define(d)
		if k.strength.Half || k.strength.AllowNA {
			d.fail("/scale", "the strength has neither half steps nor allow_na")
		}
	}
	if n := len(d.field.Sources); n != 0 && n != 2 {
		d.fail("/sources", "sources name two fields, A and B, got %d", n)
	}
	for i, name := range d.field.Sources {
		d.refer("/sources/"+strconv.Itoa(i), name)
	}
	if n := d.field.Sources; len(n) == 2 && n[0] == n[1] {
		d.fail("/sources", "the two sources must differ, both are %s", quote(n[0]))
	}
}

func (k pairwiseKind) hint() any { return "object: choice " + list(k.choices) }

func (k pairwiseKind) schema() fragment {
	return fragment{
		"type": "object", "required": []string{"choice"}, "additionalProperties": false,
		"properties": fragment{
			"choice":     fragment{"type": "string", "enum": k.choices},
			"strength":   k.strength.schema(),
			"shown_left": fragment{"type": "string", "enum": pairChoices[:2]},
		},
	}
}

func (k pairwiseKind) example(lookup) any { return map[string]any{"choice": k.choices[0]} }
