package form

// Visible tells for every field of the form whether it is shown. context holds all known values: seeded, static,
// upstream and current answers; the form's own static values need not be in it. A condition sees a hidden field as
// empty, so hiding cascades; it sees its own and later fields as empty too, which Problems reports. A field whose
// condition is over the bound on matching is shown: nothing that somebody wrote is dropped for that.
func (f *Form) Visible(context Values) map[string]bool {
	return f.visible(newEnv(context, f.static), NewBudget())
}

// visible decides in form order and hides in env what is hidden.
func (f *Form) visible(env *env, b *Budget) map[string]bool {
	shown := make(map[string]bool, len(f.fields))
	env.hidden = make(map[string]bool)
	f.each("", func(i int, field *Field) {
		when := f.compiled[i].when
		before := b.missed
		b.missed = false
		shown[field.Name] = when == nil || when.eval(func(name string) value {
			if at, own := f.index[name]; own && at >= i {
				return value{}
			}
			return env.field(name)
		}, b) || b.missed
		b.missed = b.missed || before
		if !shown[field.Name] {
			env.hidden[field.Name] = true
		}
	})
	return shown
}
