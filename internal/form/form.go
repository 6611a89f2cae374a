// Package form knows the fields of a task's form: their types, their rules, when they are visible, and whether the
// values that integrators seed and contributors submit fit them. It is pure: no I/O, no clock, no randomness, only
// the standard library. The web app repeats it in TypeScript; both run testdata/vectors, and the server
// decides.
package form

import "slices"

// Form is a compiled list of fields: patterns, options and conditions are prepared once. It is immutable and safe
// for concurrent use.
type Form struct {
	fields   []Field
	compiled []compiled
	// index finds a field by name; of several with one name, which Problems reports, the first one.
	index map[string]int
	// static holds the values of the static fields, which a context need not repeat.
	static Values
}

// compiled is what New prepares for one field.
type compiled struct {
	kind kind
	when *test // nil: always visible
}

// New compiles fields, which must not be changed afterwards. It never fails: what is broken in the definitions is
// reported by Problems, and a rule that does not compile is not applied.
func New(fields []Field) *Form { return NewWithin(fields, NewBudget()) }

// NewWithin is New of a form whose patterns share a budget with those of others. One that does not fit into it is not
// applied.
func NewWithin(fields []Field, b *Budget) *Form {
	f := &Form{
		fields: slices.Clone(fields), compiled: make([]compiled, len(fields)),
		index: make(map[string]int, len(fields)), static: Values{},
	}
	for i := range f.fields {
		field := &f.fields[i]
		f.compiled[i].kind = newKind(field, b)
		if field.VisibleWhen != nil {
			when := compileCondition(field.VisibleWhen, b)
			f.compiled[i].when = &when
		}
		if _, taken := f.index[field.Name]; taken {
			continue
		}
		f.index[field.Name] = i
		if field.Input == Static {
			f.static[field.Name] = field.Value
		}
	}
	return f
}

// Fields returns the definitions in form order.
func (f *Form) Fields() []Field { return slices.Clone(f.fields) }

// each visits the fields of an input mode, or all when it is empty, in form order. A second field of one name is left
// out.
func (f *Form) each(input Input, visit func(i int, field *Field)) {
	for i := range f.fields {
		field := &f.fields[i]
		if f.index[field.Name] == i && (input == "" || field.Input == input) {
			visit(i, field)
		}
	}
}

// HasFileUpload reports whether a seeded field is a file_upload (spec 2: has_file_upload_fields).
func (f *Form) HasFileUpload() bool {
	uploads, _ := f.uploads()
	return uploads > 0
}

// OnlyFileUpload reports whether there are seeded fields and all of them are file_upload (spec 2:
// has_only_file_upload_fields).
func (f *Form) OnlyFileUpload() bool {
	uploads, seeded := f.uploads()
	return uploads > 0 && uploads == seeded
}

// uploads counts the seeded fields of type file_upload, and all seeded ones.
func (f *Form) uploads() (uploads, seeded int) {
	f.each(Seeded, func(_ int, field *Field) {
		seeded++
		if field.Type == FileUpload {
			uploads++
		}
	})
	return uploads, seeded
}
