package form

import "slices"

// Styles returns the looks that fields of the type may have (Field.Style), the default one first; none for most.
func (t Type) Styles() []string {
	switch t {
	case Select:
		return []string{"radio", "dropdown", "buttons"}
	case MultiSelect:
		return []string{"checkboxes", "dropdown", "chips"}
	case Boolean:
		return []string{"checkbox", "switch", "yes_no"}
	case Number, Integer:
		return []string{"input", "slider", "stepper"}
	case Rating:
		return []string{"stars", "numbers", "slider"}
	case StaticContent:
		return []string{"plain", "info", "warning"}
	case ShortText, LongText, RichText, Code, Likert, Pairwise, Ranking, Date, Datetime, URL, JSON, Table, List, Chat,
		TextSpans, FileUpload, Image, Audio, Video, PDF:
	}
	return nil
}

var (
	textRules = []string{
		"min_chars", "max_chars", "min_words", "max_words", "pattern", "pattern_message", "equals_field",
	}
	itemRules = []string{"min_items", "max_items"}
)

// rulesOf lists the rules that fit a type.
func rulesOf(t Type) []string {
	switch t {
	case ShortText:
		return textRules
	case LongText, RichText:
		return slices.Concat(textRules, []string{"min_lines", "max_lines"})
	case Code:
		return slices.Concat(textRules, []string{"min_lines", "max_lines", "parse"})
	case Select, URL:
		return []string{"equals_field"}
	case MultiSelect:
		return slices.Concat(itemRules, []string{"unique", "exclusive", "equals_field"})
	case Boolean:
		return []string{"must_be_true", "equals_field"}
	case Number:
		return []string{"min", "max", "step", "decimals", "equals_field"}
	case Integer:
		return []string{"min", "max", "step", "equals_field"}
	case Rating:
		return []string{"min", "max"}
	case Date, Datetime:
		return []string{"min", "max", "equals_field"}
	case JSON:
		return []string{"max_bytes"}
	case List:
		return slices.Concat(itemRules, []string{"unique", "equals_field"})
	case Table, TextSpans:
		return itemRules
	case Chat:
		return slices.Concat(itemRules, []string{"last_role"})
	case FileUpload:
		return slices.Concat(itemRules, []string{"accept", "max_bytes"})
	case Audio, Video, PDF:
		return []string{"played_fully"}
	case Likert, Pairwise, Ranking, Image, StaticContent:
	}
	return nil
}

// settingsOf lists the keys of a definition that fit a type, beyond those that all types have.
func settingsOf(t Type) []string {
	switch t {
	case Select, MultiSelect:
		return []string{"options", "allow_other"}
	case Code:
		return []string{"languages", "placeholder"}
	case ShortText, LongText, RichText, Date, Datetime, JSON:
		return []string{"placeholder"}
	case Number, Integer:
		return []string{"placeholder", "unit"}
	case Rating:
		return []string{"scale", "unit"}
	case Likert:
		return []string{"scale", "rows"}
	case Pairwise:
		return []string{"scale", "choices", "sources"}
	case Ranking:
		return []string{"items", "allow_ties", "source"}
	case URL:
		return []string{"schemes", "hosts", "placeholder"}
	case Table:
		return []string{"columns"}
	case List:
		return []string{"item_type", "placeholder"}
	case TextSpans:
		return []string{"labels", "allow_overlap", "source"}
	case FileUpload:
		return []string{"accept", "multiple"}
	case Boolean, Chat, Image, Audio, Video, PDF, StaticContent:
	}
	return nil
}

// fits reports rules and settings that the type does not know; those of a list may also be those of its items.
func (d *definition) fits() {
	f := d.field
	rules, settings := rulesOf(f.Type), settingsOf(f.Type)
	if f.Type == List {
		item := itemField(f)
		rules, settings = slices.Concat(rules, rulesOf(item.Type)), slices.Concat(settings, settingsOf(item.Type))
	}
	for _, rule := range f.Rules.given() {
		if !oneOf(rule, rules) {
			d.fail("/rules/"+rule, "the rule %s does not fit a field of type %s, which knows %s", rule, f.Type, orNone(rules))
		}
	}
	for _, setting := range f.given() {
		if !oneOf(setting, settings) {
			d.fail("/"+setting, "%s does not fit a field of type %s", setting, f.Type)
		}
	}
}

// set collects the names of what is given.
type set []string

func (s *set) add(name string, given bool) {
	if given {
		*s = append(*s, name)
	}
}

// given lists the rules that are there.
func (r *Rules) given() []string {
	var s set
	s.add("min_chars", r.MinChars != nil)
	s.add("max_chars", r.MaxChars != nil)
	s.add("min_words", r.MinWords != nil)
	s.add("max_words", r.MaxWords != nil)
	s.add("min_lines", r.MinLines != nil)
	s.add("max_lines", r.MaxLines != nil)
	s.add("pattern", r.Pattern != "")
	s.add("pattern_message", r.PatternMessage != "")
	s.add("parse", r.Parse)
	s.add("min", len(r.Min) > 0)
	s.add("max", len(r.Max) > 0)
	s.add("step", len(r.Step) > 0)
	s.add("decimals", r.Decimals != nil)
	s.add("min_items", r.MinItems != nil)
	s.add("max_items", r.MaxItems != nil)
	s.add("unique", r.Unique)
	s.add("exclusive", len(r.Exclusive) > 0)
	s.add("equals_field", r.EqualsField != "")
	s.add("must_be_true", r.MustBeTrue)
	s.add("last_role", r.LastRole != "")
	s.add("accept", len(r.Accept) > 0)
	s.add("max_bytes", r.MaxBytes != nil)
	s.add("played_fully", r.PlayedFully)
	return s
}

// given lists the settings that are there.
func (f *Field) given() []string {
	var s set
	s.add("placeholder", f.Placeholder != "")
	s.add("unit", f.Unit != "")
	s.add("options", len(f.Options) > 0)
	s.add("allow_other", f.AllowOther)
	s.add("languages", len(f.Languages) > 0)
	s.add("scale", f.Scale != nil)
	s.add("rows", len(f.Rows) > 0)
	s.add("columns", len(f.Columns) > 0)
	s.add("item_type", f.ItemType != "")
	s.add("items", len(f.Items) > 0)
	s.add("allow_ties", f.AllowTies)
	s.add("choices", len(f.Choices) > 0)
	s.add("labels", len(f.Labels) > 0)
	s.add("allow_overlap", f.AllowOverlap)
	s.add("source", f.Source != "")
	s.add("sources", len(f.Sources) > 0)
	s.add("accept", len(f.Accept) > 0)
	s.add("multiple", f.Multiple)
	s.add("schemes", len(f.Schemes) > 0)
	s.add("hosts", len(f.Hosts) > 0)
	return s
}
