package pipeline

import (
	"slices"
	"strconv"

	"github.com/taskloom/taskloom/internal/form"
)

// subtask checks the form of a subtask.
func (v *validation) subtask(i int) {
	n := v.d.Nodes[i]
	switch {
	case len(n.Fields) == 0:
		v.atNode(i, "fields", "the subtask has no fields; add one for people to fill in")
	case !slices.ContainsFunc(n.Fields, produced):
		v.atNode(i, "fields", "nothing in the subtask is filled in by a contributor or a language model; "+
			"give one field the input %q or %q", form.Contributor, form.LLM)
	}
	for j, f := range n.Fields {
		if f.Input == form.LLM && !v.o.LLM {
			v.atField(i, j, ".input", "no LLM provider is configured, so nothing can fill in this field; "+
				"give it another input")
		}
	}
	v.fields(i)
}

// fields lets the form check its fields. It tells its problems by field name,
// so a name that occurs twice is told here and checked under another one.
func (v *validation) fields(i int) {
	fields, at := slices.Clone(v.d.Nodes[i].Fields), map[string]int{}
	for j := range fields {
		if _, again := at[fields[j].Name]; again {
			if fields[j].Name == "" {
				v.atField(i, j, ".name", "the field needs a name")
			}
			fields[j].Name = "again_" + strconv.Itoa(j)
		}
		at[fields[j].Name] = j
	}
	for _, p := range form.NewWithin(fields, v.compiled).Problems(v.upstream(i), v.checked) {
		if j, ok := at[p.Field]; ok && (p.Field != "" || p.Path != "") {
			v.atField(i, j, dotted(p.Path), "%s", p.Message)
		} else {
			v.atNode(i, "fields", "%s", p.Message)
		}
	}
}

// produced reports whether the field gets its value while the task runs.
func produced(f form.Field) bool { return f.Input == form.Contributor || f.Input == form.LLM }

// names asks that a field's name occurs once in the pipeline.
func (v *validation) names() {
	type place struct{ node, field int }
	first := map[string]place{}
	for i, n := range v.d.Nodes {
		for j, f := range n.Fields {
			if f.Name == "" {
				continue // its form tells
			}
			at, again := first[f.Name]
			if !again {
				first[f.Name] = place{i, j}
				continue
			}
			v.atField(i, j, ".name", "the field %q is in node %q already (nodes[%d].fields[%d]); field names are "+
				"unique in the whole pipeline, so rename the one in node %q", truncate(f.Name),
				truncate(v.d.Nodes[at.node].Key), at.node, at.field, truncate(n.Key))
		}
	}
}
