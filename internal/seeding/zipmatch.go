package seeding

import (
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
)

// matcher matches the files of folders to several fields.
type matcher struct {
	fields []form.Field
	names  string // of the fields, for messages
}

// row matches the files of one folder, whose paths begin with its name.
func (m *matcher) row(name string, paths []string) DerivedRow {
	row := DerivedRow{Name: name, Fields: form.Values{}}
	matched := make([][]string, len(m.fields))
	unmatched := 0
	for _, path := range paths {
		i, wrong := m.match(path[len(name)+1:])
		if wrong == "" {
			matched[i] = append(matched[i], path)
			continue
		}
		if unmatched++; unmatched <= maxErrors {
			row.Problems = append(row.Problems, form.Problem{Message: "the file " + quote(path) + " " + wrong})
		}
	}
	if more := unmatched - maxErrors; more > 0 {
		row.Problems = append(row.Problems, form.Problem{Message: fmt.Sprintf(
			"%s more in the folder %s cannot be matched to a field", countFiles(more), quote(name))})
	}
	for i, paths := range matched {
		field := &m.fields[i]
		switch {
		case len(paths) == 0:
		case field.Multiple:
			row.Fields[field.Name] = encode(paths)
		case len(paths) == 1:
			row.Fields[field.Name] = encode(paths[0])
		default:
			row.Problems = append(row.Problems, form.Problem{Field: field.Name, Message: fmt.Sprintf(
				"takes one file, but the folder has %d by that name, such as %s and %s: keep one of them",
				len(paths), quote(paths[0]), quote(paths[1]))})
		}
	}
	return row
}

// match finds the field of a file by its path inside of the row's folder, or
// says why there is none.
func (m *matcher) match(path string) (i int, wrong string) {
	if folder, _, inFolder := strings.Cut(path, "/"); inFolder {
		i = m.named(folder)
		switch {
		case i < 0:
			return i, "is in a folder that is named like no file field: expected " + m.names
		case !m.fields[i].Multiple:
			return i, "is in a folder, but the field " + quote(m.fields[i].Name) + " takes one file: name the file itself like the field"
		}
		return i, ""
	}
	stem, _, _ := strings.Cut(path, ".") // names of fields have no dots
	if i = m.named(stem); i < 0 {
		return i, "is named like no file field: expected " + m.names + ", each with its extension"
	}
	return i, ""
}

// named finds a field by name: exactly, else ignoring case.
func (m *matcher) named(name string) int {
	other := -1
	for i := range m.fields {
		if m.fields[i].Name == name {
			return i
		}
		if other < 0 && strings.EqualFold(m.fields[i].Name, name) {
			other = i
		}
	}
	return other
}
