package form

import (
	"fmt"
	"strings"
)

// CheckSeed tells what keeps values from creating a task (spec 4.1). Only seeded fields may be given. A required
// field that is absent, null or empty is missing; whether it would be visible plays no part, since that may depend
// on answers to come. Problems come in form order, unknown names last, in byte order.
func (f *Form) CheckSeed(values Values, b *Budget) []Problem {
	var problems []Problem
	env := newEnv(values, f.static)
	find := func(name string) (value, bool) {
		if i, own := f.index[name]; own && f.fields[i].Input != Seeded && f.fields[i].Input != Static {
			return value{}, false
		} else if own {
			return env.field(name), true
		}
		return value{}, false
	}
	found := 0
	f.each(Seeded, func(i int, field *Field) {
		raw, sent := values[field.Name]
		if sent {
			found++
		}
		a := answer{}
		if sent {
			a = f.read(i, raw, false)
			a.within(b)
		}
		switch {
		case a.fault != "" || !f.unanswered(i, &a.value):
			problems = append(problems, f.validate(i, &a, find, b)...)
		case field.Required:
			problems = append(problems, required(field, sent, &a.value))
		}
	})
	if found < len(values) {
		problems = append(problems, f.notSeeded(values)...)
	}
	return problems
}

// Seeds reports whether a name is that of a seeded field: one that may be given when a task is created.
func (f *Form) Seeds(name string) bool {
	i, ok := f.index[name]
	return ok && f.fields[i].Input == Seeded
}

// notSeeded reports the names that are no seeded field.
func (f *Form) notSeeded(values Values) []Problem {
	var names []string
	for name := range values {
		if !f.Seeds(name) {
			names = append(names, name)
		}
	}
	return refused(names, f.whyNotSeeded)
}

func (f *Form) whyNotSeeded(name string) string {
	if i, ok := f.index[name]; ok {
		return fmt.Sprintf("field %s cannot be given when a task is created: %s", quote(name), f.fields[i].Input.filled())
	}
	unknown := "unknown field " + quote(name)
	byTitle, byCase, all := "", "", []string{}
	f.each(Seeded, func(_ int, field *Field) {
		all = append(all, field.Name)
		if byTitle == "" && field.Title == name {
			byTitle = field.Name
		}
		if byCase == "" && strings.EqualFold(field.Name, strings.TrimSpace(name)) {
			byCase = field.Name
		}
	})
	switch {
	case byTitle != "":
		return fmt.Sprintf("%s: that is the title of a field, use its name %s", unknown, quote(byTitle))
	case byCase != "":
		return fmt.Sprintf("%s: use the name %s", unknown, quote(byCase))
	case len(all) == 0:
		return unknown + ": no field can be given when a task is created"
	}
	return unknown + "; expected " + list(all)
}

// filled says who fills a field of the input mode.
func (i Input) filled() string {
	switch i {
	case Contributor:
		return "a contributor fills it in"
	case Static:
		return "its value is fixed in the form"
	case LLM:
		return "a language model fills it in"
	case Seeded:
	}
	return "it is given when a task is created"
}
