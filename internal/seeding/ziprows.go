package seeding

import (
	"maps"
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// DerivedRow is a row that an archive's listing makes.
type DerivedRow struct {
	// Name is the top-level file or folder that the row comes from.
	Name string
	// Fields holds the paths: a text, or an array of texts for a multiple field.
	Fields form.Values
	// Problems tell what in the folder cannot be matched; there are at most
	// maxErrors and one.
	Problems []form.Problem
}

// Ignored is a file of the archive that belongs to no row.
type Ignored struct{ Path, Reason string }

// DeriveRows makes rows from an archive's listing (spec 4.2.1): with one
// file_upload seed field each top-level file is a row, with several each
// top-level folder, whose files are matched to the fields by name. folders names
// top-level folders, also such as no path lies in: those are rows too, with no
// files, so that none goes missing without a word. Rows come in byte order of their
// names; of equal paths one is taken. When no row comes out, the error is
// fault.Validation and says what is there and what to do.
func DeriveRows(p *pipeline.Pipeline, paths, folders []string) (rows []DerivedRow, ignored []Ignored, err error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	fields := fileFields(p)
	switch {
	case len(fields) == 0:
		return nil, nil, fault.New(fault.Validation, "the pipeline takes no files: create its tasks with JSON")
	case len(paths) == 0:
		return nil, nil, fault.New(fault.Validation, "the archive holds no files: put the files into it and upload it again")
	case len(fields) == 1:
		rows, ignored = fileRows(&fields[0], paths)
	default:
		rows, ignored = folderRows(fields, paths, nil) // empty folders make no archive well packed
	}
	if len(rows) == 0 || wrapped(fields, rows, paths) {
		return nil, ignored, noRows(fields, paths)
	}
	if len(fields) > 1 && len(folders) > 0 {
		rows, _ = folderRows(fields, paths, folders)
		tellEmpty(p, rows)
	}
	return rows, ignored, nil
}

// fileRows makes each top-level file a row.
func fileRows(field *form.Field, paths []string) (rows []DerivedRow, ignored []Ignored) {
	reason := "is in a folder: with one file field, " + quote(field.Name) + ", only files at the top level become tasks"
	for _, path := range paths {
		if path == "" || strings.Contains(path, "/") {
			ignored = append(ignored, Ignored{Path: path, Reason: reason})
			continue
		}
		value := encode(path)
		if field.Multiple {
			value = encode([]string{path})
		}
		rows = append(rows, DerivedRow{Name: path, Fields: form.Values{field.Name: value}})
	}
	return rows, ignored
}

// folderRows makes each top-level folder a row.
func folderRows(fields []form.Field, paths, listed []string) (rows []DerivedRow, ignored []Ignored) {
	const top = "is at the top level: with several file fields, each top-level folder becomes a task, with the files inside"
	const outside = "is not in a folder of the archive"
	folders := make(map[string][]string)
	for _, name := range listed {
		folders[name] = nil
	}
	for _, path := range paths {
		name, _, inside := strings.Cut(path, "/")
		switch {
		case !inside:
			ignored = append(ignored, Ignored{Path: path, Reason: top})
		case name == "" || name == "." || name == "..":
			ignored = append(ignored, Ignored{Path: path, Reason: outside})
		default:
			folders[name] = append(folders[name], path)
		}
	}
	m := matcher{fields: fields, names: listFields(fields)}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		rows = append(rows, m.row(name, folders[name]))
	}
	return rows, ignored
}

// tellEmpty tells of folders without files what they lack. Nothing in such a row's
// fields says later which folder it was.
func tellEmpty(p *pipeline.Pipeline, rows []DerivedRow) {
	lacks, _ := PreCheck(p, []Item{{Fields: form.Values{}}}, nil)
	for i := range rows {
		if r := &rows[i]; len(r.Fields) == 0 && len(r.Problems) == 0 {
			for _, e := range lacks {
				r.Problems = append(r.Problems, form.Problem{Field: e.FieldName, Message: "the folder " + quote(r.Name) + " holds no files; " + e.Message})
			}
		}
	}
}
