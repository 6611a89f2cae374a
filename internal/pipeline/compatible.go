package pipeline

import (
	"fmt"

	"github.com/taskloom/taskloom/internal/form"
)

// FieldTypes returns the type of every field by its name.
func FieldTypes(d Definition) map[string]form.Type {
	types := make(map[string]form.Type)
	for _, n := range d.Nodes {
		for _, f := range n.Fields {
			types[f.Name] = f.Type
		}
	}
	return types
}

// Incompatible lists what a new version may not change about those before it: a
// field name keeps its type for good, so that the values of all versions can
// stand in one column. Fields may come and go; a new meaning takes a new name.
// published are the types that the fields of all versions have, those of the
// newest one where they differ.
func Incompatible(published map[string]form.Type, next Definition) []Problem {
	var out []Problem
	for i, n := range next.Nodes {
		for j, f := range n.Fields {
			if was, ok := published[f.Name]; ok && was != f.Type {
				out = append(out, Problem{
					Node: n.Key, Field: f.Name, Path: fmt.Sprintf("nodes[%d].fields[%d].type", i, j),
					Message: fmt.Sprintf("was published as %s and stays that; give a field of type %s another name", was, f.Type),
				})
			}
		}
	}
	return out
}
