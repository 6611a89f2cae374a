package pipeline

import (
	"slices"

	"github.com/taskloom/taskloom/internal/form"
)

// review checks what a review looks at and how often it may send work back.
func (v *validation) review(i int) {
	n := v.d.Nodes[i]
	if len(n.Reviews) == 0 {
		v.atNode(i, "reviews", "the review checks nothing; name at least one subtask before it")
	}
	if r := n.MaxReworks(); r < 0 || r > MaxMaxRework {
		v.atNode(i, "max_rework", "max_rework is %d; it must be between 0 and %d", r, MaxMaxRework)
	}
	var seen []string
	for j, t := range n.Reviews {
		if slices.Contains(seen, t.Node) {
			v.atTarget(i, j, "", ".node", "the review checks %q already; name its fields in one place", truncate(t.Node))
		}
		seen = append(seen, t.Node)
		at, ok := v.shape.at[t.Node]
		switch {
		case !ok:
			v.atTarget(i, j, "", ".node", "there is no node %q", truncate(t.Node))
			continue
		case v.d.Nodes[at].Kind != KindSubtask:
			v.atTarget(i, j, "", ".node", "%q is no subtask; a review checks subtasks", truncate(t.Node))
			continue
		case !v.shape.above[i][at]:
			v.atTarget(i, j, "", ".node", "%q is not before this review; a review checks subtasks from which a path "+
				"leads to it", truncate(t.Node))
		}
		v.targetFields(i, j, v.d.Nodes[at])
	}
}

// targetFields checks the fields that a review names.
func (v *validation) targetFields(i, j int, target Node) {
	names := v.d.Nodes[i].Reviews[j].Fields
	for k, name := range names {
		rest := ".fields" + index(k)
		f := slices.IndexFunc(target.Fields, func(f form.Field) bool { return f.Name == name })
		switch {
		case slices.Contains(names[:k], name):
			v.atTarget(i, j, name, rest, "the review names the field %q twice", truncate(name))
		case f < 0:
			v.atTarget(i, j, name, rest, "node %q has no field %q", truncate(target.Key), truncate(name))
		case !produced(target.Fields[f]):
			v.atTarget(i, j, name, rest, "the field %q is %s; a review checks what a contributor or a language model "+
				"filled in", truncate(name), target.Fields[f].Input)
		}
	}
}
