package form

import (
	"encoding/json"
	"fmt"
)

// answer is a value that was read once: parsed, or refused.
type answer struct {
	value value
	// fault is why the value cannot be read, empty when it can.
	fault string
	// grown is how many bytes more it has when it is stored.
	grown int
}

// read parses a value. Unless whole is set, a json value is only scanned.
func (f *Form) read(i int, raw json.RawMessage, whole bool) answer {
	field := &f.fields[i]
	most := int64(MaxValueBytes)
	if field.Type == JSON && field.Rules.MaxBytes != nil {
		most = min(most, *field.Rules.MaxBytes)
	}
	n := int64(len(raw))
	if n > most {
		n = tight(raw)
	}
	if n > most {
		return answer{fault: fmt.Sprintf("is too large: %d bytes, at most %d allowed", n, most)}
	}
	p := parser{data: raw, scan: field.Type == JSON && !whole}
	v, err := p.document()
	if int(n)+p.grown > MaxValueBytes {
		n = tight(raw)
	}
	if stored := int(n) + p.grown; err == nil && stored > MaxValueBytes {
		err = errGrown(stored, MaxValueBytes)
	}
	if err != nil {
		return answer{fault: "the value " + err.Error()}
	}
	return answer{value: v, grown: p.grown}
}

// tight counts the bytes of a JSON document without the white space between its tokens, which Postgres adds to what
// it has stored: a value that was let in is not larger when it comes back.
func tight(raw json.RawMessage) (n int64) {
	inText, escaped := false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		}
		n++
	}
	return n
}

// within refuses an answer that is too large once stored, together with those that were read before it.
func (a *answer) within(b *Budget) {
	if a.fault == "" && !b.take(a.grown, growing) {
		a.fault = fmt.Sprintf("the value has %d bytes more when its numbers are stored, which is without exponents, and together with "+
			"those of other values that is too many; round these numbers, send them as texts, or send fewer at a time", a.grown)
	}
}

// unanswered reports whether the value counts as none for the field's type.
func (f *Form) unanswered(i int, v *value) bool {
	if f.fields[i].Type == JSON {
		return v.shape == null
	}
	return v.empty()
}

// validate reports what is wrong with one answered value.
func (f *Form) validate(i int, a *answer, find lookup, b *Budget) []Problem {
	field := &f.fields[i]
	at := check{report: &report{field: field.Name, find: find, budget: b}}
	if a.fault != "" {
		at.fail("%s", a.fault)
		return at.problems
	}
	f.compiled[i].kind.check(&a.value, &at)
	if other := field.Rules.EqualsField; other != "" {
		if v, known := find(other); known && !equal(&v, &a.value) {
			at.fail("must equal the value of field %s, got %s", quote(other), a.value.show())
		}
	}
	return at.problems
}

// required tells that a required field has no value. sent is whether its key was there.
func required(field *Field, sent bool, v *value) Problem {
	message := fmt.Sprintf("field %s is required and missing", quote(field.Name))
	switch {
	case sent && v.shape == null:
		message = fmt.Sprintf("field %s is required, got null", quote(field.Name))
	case sent:
		message = fmt.Sprintf("field %s is required, got an empty value", quote(field.Name))
	}
	return Problem{Field: field.Name, Message: message}
}

// CheckValue checks one value of a field against its type and rules, whatever the field's input, as for what a model
// generated. context holds the known values to which rules refer.
func (f *Form) CheckValue(name string, raw json.RawMessage, context Values) []Problem {
	i, ok := f.index[name]
	if !ok {
		return []Problem{{Field: name, Message: "unknown field " + quote(name)}}
	}
	env := newEnv(context, f.static)
	a := f.read(i, raw, false)
	if a.fault == "" && f.unanswered(i, &a.value) {
		if f.fields[i].Required {
			return []Problem{required(&f.fields[i], true, &a.value)}
		}
		return nil
	}
	return f.validate(i, &a, env.find, NewBudget())
}
