package seeding

import (
	"fmt"
	"strings"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
)

// wrapped tells an archive of one folder around the tasks' folders: the most
// common slip when packing. Its single row would have no files at all.
func wrapped(fields []form.Field, rows []DerivedRow, paths []string) bool {
	if len(fields) == 1 || len(rows) != 1 || len(rows[0].Fields) > 0 {
		return false
	}
	for _, path := range paths {
		if strings.Count(path, "/") < 2 {
			return false
		}
	}
	return true
}

// noRows says what an archive holds that makes no row, and how to pack it.
func noRows(fields []form.Field, paths []string) error {
	what := holds(paths)
	if len(fields) == 1 {
		return fault.New(fault.Validation,
			"%s; each file at the top level becomes a task with that file as %s: zip its contents, not the folder", what, quote(fields[0].Name))
	}
	if strings.Contains(paths[0], "/") {
		return fault.New(fault.Validation,
			"%s, and no file in it is named like a file field; each top-level folder becomes a task with the files %s: zip its contents, not the folder",
			what, listFields(fields))
	}
	return fault.New(fault.Validation,
		"%s; each top-level folder becomes a task with the files %s: put the files of each task into a folder of its own, such as %s",
		what, listFields(fields), quote("task1/"+fields[0].Name+".png"))
}

// holds describes the listing: it has at least one path.
func holds(paths []string) string {
	folders, inside, first := 0, 0, ""
	last := ""
	for _, path := range paths {
		name, _, in := strings.Cut(path, "/")
		if !in {
			continue
		}
		inside++
		if folders == 0 || name != last {
			folders++
			last = name
		}
		if folders == 1 {
			first = name
		}
	}
	switch folders {
	case 0:
		return "the archive has no folders, only " + countFiles(len(paths)) + " at the top level"
	case 1:
		return fmt.Sprintf("the archive has only the folder %s with %s", quote(first), countFiles(inside))
	}
	return fmt.Sprintf("the archive has only folders, %d with %s", folders, countFiles(inside))
}
