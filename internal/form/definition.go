package form

import (
	"fmt"
	"regexp"
)

// Limits of definitions.
const (
	MaxFields           = 200
	maxOptions          = 1000
	maxRows             = 100
	maxColumns          = 50
	maxRankItems        = 100
	maxLabels           = 200
	maxLanguages        = 50
	maxSchemes          = 20
	maxHosts            = 100
	maxAccept           = 50
	maxCriteria         = 50
	maxContext          = 100
	maxTools            = 50
	maxDecimals         = 10
	maxWidth            = 12
	maxTitleChars       = 200
	maxLabelChars       = 500
	maxOptionChars      = 200
	maxDescriptionChars = 5000
	maxPlaceholderChars = 500
	maxUnitChars        = 20
	maxPromptChars      = 50_000
)

var (
	fieldName = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,62}\z`)
	colorForm = regexp.MustCompile(`\A(?:#[0-9a-fA-F]{6}|[a-z][a-z0-9.-]{0,29})\z`)
)

// nameForm tells people what a name looks like.
const nameForm = "a lower-case letter, then up to 62 lower-case letters, digits and underscores"

func nameFits(name string) bool { return fieldName.MatchString(name) }

// definition is the place of one field's definition while it is checked.
type definition struct {
	field *Field
	// name is the field's name and prefix the pointer to a part of it that has its own definition, such as a column.
	name   string
	prefix string
	form   *Form
	index  int // of the field in the form
	before func(name string) (Field, bool)
	budget *Budget
	out    *[]Problem
}

// Problems tells everything that is wrong with the definitions, as publish needs it. upstream are the
// fields of the nodes before this one, to which conditions, sources and prompts may refer too; that names are unique
// beyond this form is checked where all forms are known. b is shared with the other forms of the pipeline.
func (f *Form) Problems(upstream []Field, b *Budget) []Problem {
	var out []Problem
	if len(f.fields) > MaxFields {
		out = append(out, Problem{Message: fmt.Sprintf("a form has at most %d fields, got %d", MaxFields, len(f.fields))})
	}
	known := make(map[string]Field, len(upstream))
	for i := range upstream {
		known[upstream[i].Name] = upstream[i]
	}
	before := func(name string) (Field, bool) { field, ok := known[name]; return field, ok }
	for i := range f.fields[:min(len(f.fields), MaxFields)] {
		field := &f.fields[i]
		d := &definition{field: field, name: field.Name, form: f, index: i, before: before, budget: b, out: &out}
		d.shared()
		d.content()
		if f.index[field.Name] != i {
			d.fail("/name", "the name %s is taken by another field of the form", quote(field.Name))
			continue
		}
		known[field.Name] = *field
	}
	return out
}

// fail reports a problem of the definition at a pointer into it.
func (d *definition) fail(path, format string, args ...any) {
	*d.out = append(*d.out, Problem{Field: d.name, Path: d.prefix + path, Message: fmt.Sprintf(format, args...)})
}

// shared checks what all types have in common.
func (d *definition) shared() {
	f := d.field
	if !nameFits(f.Name) {
		d.fail("/name", "%s is not a name; expected %s", quote(f.Name), nameForm)
	}
	d.length("/title", "title", f.Title, maxTitleChars)
	d.length("/description", "description", f.Description, maxDescriptionChars)
	d.length("/placeholder", "placeholder", f.Placeholder, maxPlaceholderChars)
	d.length("/unit", "unit", f.Unit, maxUnitChars)
	if f.Width < 0 || f.Width > maxWidth {
		d.fail("/width", "width must be 1 to %d, got %d", maxWidth, f.Width)
	}
	if f.Style != "" && !oneOf(f.Style, f.Type.Styles()) {
		d.fail("/style", "%s is not a style of %s; expected %s", quote(f.Style), f.Type, orNone(f.Type.Styles()))
	}
	d.criteria()
	if f.VisibleWhen != nil {
		for _, p := range f.VisibleWhen.Problems(d.before, d.budget) {
			d.fail("/visible_when"+p.Path, "%s", p.Message)
		}
	}
	d.equalsField()
}

func orNone(choices []string) string {
	if len(choices) == 0 {
		return "none"
	}
	return list(choices)
}

// content checks what depends on the type and the input mode.
func (d *definition) content() {
	f := d.field
	if !f.Type.Valid() {
		d.fail("/type", "%s is not a field type; expected one of %s", quote(string(f.Type)), list(names(types)))
	}
	if !f.Input.Valid() {
		d.fail("/input", "%s is not an input mode; expected %s", quote(string(f.Input)), `"contributor", "seeded", "static" or "llm"`)
	}
	if !f.Type.Valid() || !f.Input.Valid() {
		return
	}
	switch {
	case f.Type == StaticContent && f.Input != Static:
		d.fail("/input", "a static_content has the input static, got %s", f.Input)
	case f.Type.Display() && (f.Input == Contributor || f.Input == LLM):
		d.fail("/input", "a field of type %s only shows something: its input is seeded or static, got %s", f.Type, f.Input)
	case f.Type == FileUpload && (f.Input == Static || f.Input == LLM):
		d.fail("/input", "a file_upload is filled by a contributor or seeded, got %s", f.Input)
	}
	if f.Required && f.Input == Static {
		d.fail("/required", "a static field is never required, since nobody fills it")
	}
	d.fits()
	d.form.compiled[d.index].kind.define(d)
	d.value()
	d.generation()
}

// value checks the value of a static field or the default of a contributor's.
func (d *definition) value() {
	f := d.field
	given := len(f.Value) > 0 && string(f.Value) != "null"
	switch f.Input {
	case Seeded, LLM:
		if given {
			d.fail("/value", "a field whose input is %s has no value in its definition", f.Input)
		}
		return
	case Static:
		if !given {
			d.fail("/value", "a static field needs a value")
		}
	case Contributor:
	}
	if !given {
		return
	}
	a := d.form.read(d.index, f.Value, false)
	if a.fault == "" && a.value.empty() && f.Input == Contributor {
		return
	}
	unknown := func(string) (value, bool) { return value{}, false }
	for _, p := range d.form.validate(d.index, &a, unknown, d.budget) {
		d.fail("/value"+p.Path, "%s", p.Message)
	}
}
