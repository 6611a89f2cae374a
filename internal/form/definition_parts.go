package form

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

func (d *definition) criteria() {
	if n := len(d.field.Criteria); n > maxCriteria {
		d.fail("/criteria", "a field has at most %d criteria, got %d", maxCriteria, n)
		return
	}
	seen := map[string]bool{}
	for i, c := range d.field.Criteria {
		at := "/criteria/" + strconv.Itoa(i)
		if blank(c.Name) || seen[c.Name] {
			d.fail(at+"/name", "a criterion needs a name of its own, got %s", quote(c.Name))
		}
		seen[c.Name] = true
		d.length(at+"/name", "name", c.Name, maxTitleChars)
		d.length(at+"/description", "description", c.Description, maxDescriptionChars)
		if c.Weight < 0 {
			d.fail(at+"/weight", "weight must not be negative, got %s", format(c.Weight))
		}
	}
}

// length checks a text of the definition, which must also be storable.
func (d *definition) length(path, what, s string, most int) {
	if n := utf8.RuneCountInString(s); n > most {
		d.fail(path, "%s has %d characters, at most %d allowed", what, n, most)
	}
	for _, r := range s {
		if r == 0 {
			d.fail(path, "%s holds the character U+0000, which cannot be stored", what)
			return
		}
	}
}

// bounds checks the pair of rules min_unit and max_unit.
func (d *definition) bounds(unit string, least, most *int) {
	if least != nil && (*least < 0 || *least > MaxValueBytes) {
		d.fail("/rules/min_"+unit, "min_%s must be 0 to %d, got %d", unit, MaxValueBytes, *least)
	}
	if most != nil && (*most < 1 || *most > MaxValueBytes) {
		d.fail("/rules/max_"+unit, "max_%s must be 1 to %d, got %d", unit, MaxValueBytes, *most)
	}
	if least != nil && most != nil && *least > *most {
		d.fail("/rules/min_"+unit, "min_%s %d is more than max_%s %d", unit, *least, unit, *most)
	}
}

// distinct checks a list of texts for its length, for blanks and for doubles.
func (d *definition) distinct(path, what string, texts []string, most int) {
	if len(texts) > most {
		d.fail(path, "at most %d entries allowed, got %d", most, len(texts))
		return
	}
	seen := make(map[string]bool, len(texts))
	for i, s := range texts {
		at := path + "/" + strconv.Itoa(i)
		d.length(at, what, s, maxOptionChars)
		if blank(s) || seen[s] {
			d.fail(at, "the %s %s must not be empty and not stand twice", what, quote(s))
		}
		seen[s] = true
	}
}

// options checks options, rows, items or labels: their number, values that differ, hotkeys that differ, colours.
func (d *definition) options(path, what string, options []Option, least, most int) {
	if n := len(options); n < least || n > most {
		d.fail(path, "a field of type %s has %d to %d entries here, got %d", d.field.Type, least, most, n)
		return
	}
	values := make(map[string]bool, len(options))
	hotkeys := map[string]bool{}
	for i := range options {
		o, at := &options[i], path+"/"+strconv.Itoa(i)
		if blank(o.Value) || values[o.Value] {
			d.fail(at+"/value", "the value %s of a %s must not be empty and not stand twice", quote(o.Value), what)
		}
		values[o.Value] = true
		if NormalizeText(o.Value) != o.Value {
			d.fail(at+"/value", "the value of a %s must not hold a CRLF, got %s", what, quote(o.Value))
		}
		d.length(at+"/value", "value", o.Value, maxOptionChars)
		d.length(at+"/label", "label", o.Label, maxLabelChars)
		d.length(at+"/description", "description", o.Description, maxDescriptionChars)
		if o.Hotkey != "" && (utf8.RuneCountInString(o.Hotkey) != 1 || blank(o.Hotkey) || hotkeys[o.Hotkey]) {
			d.fail(at+"/hotkey", "a hotkey is one character that no other %s has, got %s", what, quote(o.Hotkey))
		}
		hotkeys[o.Hotkey] = true
		if o.Color != "" && !colorForm.MatchString(o.Color) {
			d.fail(at+"/color", "a color is #rrggbb or a lower-case name, got %s", quote(o.Color))
		}
	}
}

// refer checks a reference to another field, which must stand before this one, and returns it.
func (d *definition) refer(path, name string) (Field, bool) {
	field, ok := d.before(name)
	switch {
	case name == "":
		d.fail(path, "the name of a field is missing")
	case !ok:
		d.fail(path, "there is no field %s before this one", quote(name))
	}
	return field, ok
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	v, err := parse(raw)
	return err == nil && v.shape == object
}
