package form

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// CheckSubmission checks what a contributor submits. context holds the seeded, static, upstream and generated values;
// answers to this form come from submitted alone. It returns what is to be stored: hidden fields stripped, null and
// empty values dropped, CRLF in texts (not in json values) turned into LF. kept is nil when there are problems.
// Problems come in form order, refused names last, in byte order. A required ranking or text_spans whose source holds
// nothing to rank or mark is not required.
func (f *Form) CheckSubmission(submitted, context Values) (kept Values, problems []Problem) {
	answers := make(map[string]*answer, len(submitted))
	own := Values{}
	env := newEnv(own, context, f.static)
	env.parsed = make(map[string]value)
	found, b := 0, NewBudget()
	f.each(Contributor, func(i int, field *Field) {
		own[field.Name] = nil // null, unless env.parsed has it; what the context says of it is outdated
		raw, sent := submitted[field.Name]
		if !sent {
			return
		}
		found++
		a := f.read(i, raw, true)
		a.within(b)
		answers[field.Name] = &a
		if !a.value.empty() {
			env.parsed[field.Name] = a.value
		}
	})
	shown := f.visible(env, b)
	kept = Values{}
	f.each(Contributor, func(i int, field *Field) {
		if !shown[field.Name] {
			return
		}
		a, sent := answers[field.Name]
		if !sent {
			a = &answer{}
		}
		switch {
		case a.fault != "" || !f.unanswered(i, &a.value):
			problems = append(problems, f.validate(i, a, env.settled, b)...)
			kept[field.Name] = stored(field.Type, submitted[field.Name], &a.value)
		case field.Required && !f.pointless(i, env.settled):
			problems = append(problems, required(field, sent, &a.value))
		}
	})
	problems = append(problems, b.Problems()...)
	if found < len(submitted) {
		problems = append(problems, f.notSubmittable(submitted)...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return kept, nil
}

// pointless reports that the field cannot be answered, since its source is empty.
func (f *Form) pointless(i int, find lookup) bool {
	k, ok := f.compiled[i].kind.(interface{ pointless(lookup) bool })
	return ok && k.pointless(find)
}

// stored is the JSON to keep.
func stored(t Type, raw json.RawMessage, v *value) json.RawMessage {
	if t != JSON && v.hasCRLF() {
		return v.appendJSON(nil)
	}
	return bytes.Clone(bytes.TrimSpace(raw))
}

// notSubmittable reports the names that no contributor fills.
func (f *Form) notSubmittable(submitted Values) []Problem {
	var names []string
	for name := range submitted {
		if i, ok := f.index[name]; !ok || f.fields[i].Input != Contributor {
			names = append(names, name)
		}
	}
	return refused(names, func(name string) string {
		if i, ok := f.index[name]; ok {
			return fmt.Sprintf("field %s cannot be submitted: %s", quote(name), f.fields[i].Input.filled())
		}
		return "unknown field " + quote(name)
	})
}
