package pipeline

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/taskloom/taskloom/internal/form"
)

var nodeKey = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,62}\z`)

// node checks what a node says about itself.
func (v *validation) node(i int) {
	n := v.d.Nodes[i]
	switch first := v.shape.at[n.Key]; {
	case !nodeKey.MatchString(n.Key):
		v.atNode(i, "key", "%q is no key; write a lower-case letter, then up to 62 lower-case letters, digits or underscores",
			truncate(n.Key))
	case first != i:
		v.atNode(i, "key", "nodes[%d] has the key %q already; give this one another key", first, n.Key)
	}
	if c := utf8.RuneCountInString(n.Title); c > MaxTitle {
		v.atNode(i, "title", "the title has %d characters; at most %d are allowed", c, MaxTitle)
	}
	if c := utf8.RuneCountInString(n.Instructions); c > MaxInstructions {
		v.atNode(i, "instructions", "the instructions have %d characters; at most %d are allowed", c, MaxInstructions)
	}
	v.span(i, "lease", n.Lease, MinLease, MaxLease)
	v.span(i, "sla", n.SLA, MinSLA, MaxSLA)
	v.span(i, "reserve", n.Reserve, 0, MaxReserve)
	switch n.Kind {
	case KindSubtask:
		v.subtask(i)
	case KindReview:
		v.review(i)
	case KindStart, KindEnd:
	default:
		v.atNode(i, "kind", "%q is no kind of node; choose %s, %s, %s or %s",
			truncate(string(n.Kind)), KindStart, KindSubtask, KindReview, KindEnd)
		return
	}
	v.foreign(i)
}

// span checks a time span; 0 stands for the default.
func (v *validation) span(i int, key string, d Duration, least, most time.Duration) {
	if t := time.Duration(d); t != 0 && (t < least || t > most) {
		v.atNode(i, key, "the %s is %s; it must be between %s and %s", key, t, least, most)
	}
}

// foreign refuses what belongs to another kind of node.
func (v *validation) foreign(i int) {
	n := v.d.Nodes[i]
	if n.Kind != KindSubtask && len(n.Fields) > 0 {
		v.atNode(i, "fields", "a %s node has no form; move the fields to a subtask", n.Kind)
	}
	if n.Kind == KindReview {
		return
	}
	if len(n.Reviews) > 0 {
		v.atNode(i, "reviews", "only a review node reviews; this is a %s node", n.Kind)
	}
	if n.MaxRework != nil {
		v.atNode(i, "max_rework", "only a review node limits rework; this is a %s node", n.Kind)
	}
	if n.FourEyes {
		v.atNode(i, "four_eyes", "only a review node has reviewers; this is a %s node", n.Kind)
	}
}

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
				"set LLM_BASE_URL and LLM_API_KEY for the deployment, or give the field another input")
		}
	}
	for _, p := range form.New(n.Fields).Problems(v.upstream(i)) {
		j := max(0, slices.IndexFunc(n.Fields, func(f form.Field) bool { return f.Name == p.Field }))
		if len(n.Fields) == 0 {
			continue
		}
		v.atField(i, j, dotted(p.Path), "%s", p.Message)
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

func blank(s string) bool { return strings.TrimSpace(s) == "" }
