package pipeline

import (
	"fmt"

	"github.com/taskloom/taskloom/internal/form"
)

// Incompatible lists what a new version may not change about the live one: a
// field name keeps its type for good, so that the values of all versions can
// stand in one column. Fields may come and go; a new meaning takes a new name.
func Incompatible(live, next Definition) []Problem {
	types := make(map[string]form.Type)
	for _, n := range live.Nodes {
		for _, f := range n.Fields {
			types[f.Name] = f.Type
		}
	}
	var out []Problem
	for i, n := range next.Nodes {
		for j, f := range n.Fields {
			if was, ok := types[f.Name]; ok && was != f.Type {
				out = append(out, Problem{
					Node: n.Key, Field: f.Name, Path: fmt.Sprintf("nodes[%d].fields[%d].type", i, j),
					Message: fmt.Sprintf("was published as %s and stays that; give a field of type %s another name", was, f.Type),
				})
			}
		}
	}
	return out
}
