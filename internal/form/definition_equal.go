package form

// equalsField checks the rule equals_field. What no value can meet is refused: a person could not submit the form.
func (d *definition) equalsField() {
	f, name := d.field, d.field.Rules.EqualsField
	if name == "" {
		return
	}
	other, ok := d.refer("/rules/equals_field", name)
	if !ok || !f.Type.Valid() || !other.Type.Valid() || !f.comparedWith(&other) || canEqual(f, &other) {
		return
	}
	if f.Type == other.Type {
		d.fail("/rules/equals_field", "no value of this field is ever equal to one of field %s: the two have no option and no "+
			"kind of item in common; give both the same, or leave equals_field out", quote(name))
		return
	}
	d.fail("/rules/equals_field", "no value of this field is ever equal to one of field %s: this one is of type %s, that one "+
		"of type %s; name a field of type %s, or leave equals_field out", quote(name), f.Type, other.Type, f.Type)
}

// comparedWith reports whether the value of f is ever compared with that of other: one that is given when a task is
// created only with what is there by then, a static one with none.
func (f *Field) comparedWith(other *Field) bool {
	switch f.Input {
	case Contributor, LLM:
		return true
	case Seeded:
		return other.Input == Seeded || other.Input == Static
	case Static:
	}
	return false
}

// canEqual reports whether some value may fit both fields. It says no only of what is certain, and looks at no rules.
func canEqual(a, b *Field) bool {
	x, y := formOf(a), formOf(b)
	switch {
	case x == anyForm || y == anyForm:
		return true
	case x == textForm && y.text() || y == textForm && x.text():
		return optionInCommon(a, b)
	case x != y:
		return false
	case x == arrayForm:
		return canEqual(elementOf(a), elementOf(b))
	}
	return true
}

// valueForm is what the values of a field look like; no value has two of them, save that texts hold the forms of text.
type valueForm int

const (
	anyForm valueForm = iota
	booleanForm
	numberForm
	objectForm
	arrayForm
	textForm
	dateForm
	datetimeForm
	urlForm
)

func (f valueForm) text() bool { return f >= textForm }

func formOf(f *Field) valueForm {
	switch f.Type {
	case ShortText, LongText, RichText, Code, Select, StaticContent:
		return textForm
	case Date:
		return dateForm
	case Datetime:
		return datetimeForm
	case URL:
		return urlForm
	case Boolean:
		return booleanForm
	case Number, Integer, Rating:
		return numberForm
	case Likert, Pairwise, Image, Audio, Video, PDF:
		return objectForm
	case MultiSelect, List, Ranking, Table, Chat, TextSpans:
		return arrayForm
	case FileUpload:
		if f.Multiple {
			return arrayForm
		}
		return objectForm
	case JSON:
	}
	return anyForm
}

// elementOf is the definition of an element of an array, as far as it tells values apart.
func elementOf(f *Field) *Field {
	switch f.Type {
	case MultiSelect:
		return &Field{Type: Select, Options: f.Options, AllowOther: f.AllowOther}
	case List:
		item := itemField(f)
		return &item
	case Ranking:
		if f.Source == "" && !f.AllowTies {
			return &Field{Type: Select, Options: f.Items}
		}
	case Table, Chat, TextSpans, FileUpload:
		return &Field{Type: Likert} // some object
	default:
	}
	return &Field{} // an element of a ranking is a text, or a group of them
}

// optionInCommon reports whether two closed selects share an option; with another field they may.
func optionInCommon(a, b *Field) bool {
	if a.Type != Select || b.Type != Select || a.AllowOther || b.AllowOther {
		return true
	}
	has := make(map[string]bool, len(a.Options))
	for _, o := range a.Options {
		has[o.Value] = true
	}
	for _, o := range b.Options {
		if has[o.Value] {
			return true
		}
	}
	return false
}
