package form

// Visible tells for every field of the form whether it is shown. context holds all known values: seeded, static,
// upstream and current answers; the form's own static values need not be in it. A condition sees a hidden field as
// empty, so hiding cascades; it sees its own and later fields as empty too, which Problems reports.
func (f *Form) Visible(context Values) map[string]bool {
	return f.visible(newEnv(context, f.static))
}

// visible decides in form order and hides in env what is hidden.
func (f *Form) visible(env *env) map[string]bool {
	shown := make(map[string]bool, len(f.fields))
	env.hidden = make(map[string]bool)
	b := NewBudget()
	f.each("", func(i int, field *Field) {
		when := f.compiled[i].when
		shown[field.Name] = when == nil || when.eval(func(name string) value {
			if at, own := f.index[name]; own && at >= i {
				return value{}
			}
			return env.field(name)
		}, b)
		if !shown[field.Name] {
			env.hidden[field.Name] = true
		}
	})
	return shown
}
