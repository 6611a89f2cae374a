package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/form"
)

// Limits of a definition. MaxDefinition bounds the document in bytes; whoever
// reads it checks that before Parse.
const (
	MaxDefinition   = 1 << 20
	MaxNodes        = 200
	MaxEdges        = 1000
	MaxFields       = 2000
	MaxName         = 200
	MaxTitle        = 200
	MaxDescription  = 10_000
	MaxInstructions = 50_000
	MaxMaxRework    = 100

	MinSLA     = time.Minute
	MaxSLA     = 90 * 24 * time.Hour
	MaxReserve = 30 * 24 * time.Hour
)

// Problem is one thing that keeps a definition from being published.
type Problem struct {
	// Node is the key of the node it is about, of the source for an edge;
	// empty when it is about the whole.
	Node string `json:"node"`
	// Field is the name of the field it is about, if any.
	Field string `json:"field"`
	// Path is the place in the document: "nodes[2].fields[0].options[1]".
	Path string `json:"path"`
	// Message says what is wrong there and what is expected.
	Message string `json:"message"`
}

// Options tell Validate what the deployment offers.
type Options struct {
	// LLM is set when a language model provider is configured.
	LLM bool
}

// Validate tells everything that keeps the definition from being published,
// in the order of the document. It never panics, whatever the definition
// holds. Of a definition beyond MaxNodes, MaxEdges or MaxFields it tells only
// that: the rest would cost more than such a document is worth.
func Validate(d Definition, o Options) []Problem {
	v := &validation{d: d, o: o, compiled: form.NewBudget(), checked: form.NewBudget()}
	v.head()
	if !v.limits() {
		return v.sorted()
	}
	v.shape = newShape(d)
	v.counts()
	for i := range d.Nodes {
		v.node(i)
	}
	v.names()
	v.edges()
	v.entry()
	v.paths()
	v.cycles()
	v.ways()
	return v.sorted()
}

// validation is one Validate under way.
type validation struct {
	d     Definition
	o     Options
	shape shape
	// compiled and checked bound what the patterns of the whole pipeline take: those
	// of its forms and conditions made ready, and looked at.
	compiled, checked *form.Budget
	found             []found
}

// found is a problem with the place that orders it: the section of the
// document, the index in it, the key there, and the index under that key.
type found struct {
	at [4]int
	Problem
}

// The sections of a document and the keys of a node and an edge, in the order
// in which the document has them.
var (
	sections = []string{"name", "description", "runs", "nodes", "edges"}
	nodeKeys = []string{
		"", "key", "kind", "title", "instructions", "lease", "sla", "reserve", "fields", "reviews", "max_rework", "four_eyes",
	}
	edgeKeys = []string{"", "from", "to", "when"}
)

func (v *validation) add(at [4]int, p Problem) { v.found = append(v.found, found{at, p}) }

// whole reports a problem of a top-level key.
func (v *validation) whole(key, format string, args ...any) {
	v.add([4]int{slices.Index(sections, key), -1}, Problem{Path: key, Message: fmt.Sprintf(format, args...)})
}

// atNode reports a problem of a node, under one of its keys unless that is
// empty.
func (v *validation) atNode(i int, key, format string, args ...any) {
	path := fmt.Sprintf("nodes[%d]", i)
	if key != "" {
		path += "." + key
	}
	v.add([4]int{slices.Index(sections, "nodes"), i, slices.Index(nodeKeys, key)},
		Problem{Node: v.d.Nodes[i].Key, Path: path, Message: fmt.Sprintf(format, args...)})
}

// atField reports a problem of a node's field; rest is the path inside it.
func (v *validation) atField(i, j int, rest, format string, args ...any) {
	n := v.d.Nodes[i]
	v.add([4]int{slices.Index(sections, "nodes"), i, slices.Index(nodeKeys, "fields"), j}, Problem{
		Node: n.Key, Field: n.Fields[j].Name,
		Path: fmt.Sprintf("nodes[%d].fields[%d]%s", i, j, rest), Message: fmt.Sprintf(format, args...),
	})
}

// atTarget reports a problem of what a review checks.
func (v *validation) atTarget(i, j int, field, rest, format string, args ...any) {
	v.add([4]int{slices.Index(sections, "nodes"), i, slices.Index(nodeKeys, "reviews"), j}, Problem{
		Node: v.d.Nodes[i].Key, Field: field,
		Path: fmt.Sprintf("nodes[%d].reviews[%d]%s", i, j, rest), Message: fmt.Sprintf(format, args...),
	})
}

// atEdge reports a problem of an edge, under one of its keys unless that is
// empty; rest is the path inside a condition.
func (v *validation) atEdge(i int, key, field, rest, format string, args ...any) {
	path := fmt.Sprintf("edges[%d]", i)
	if key != "" {
		path += "." + key + rest
	}
	v.add([4]int{slices.Index(sections, "edges"), i, slices.Index(edgeKeys, key)},
		Problem{Node: v.d.Edges[i].From, Field: field, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) sorted() []Problem {
	slices.SortStableFunc(v.found, func(a, b found) int { return slices.CompareFunc(a.at[:], b.at[:], cmp.Compare[int]) })
	var out []Problem
	for _, f := range v.found {
		out = append(out, f.Problem)
	}
	return out
}

func (v *validation) head() {
	if blank(v.d.Name) {
		v.whole("name", "the pipeline needs a name")
	}
	if m := misfit("name", v.d.Name, MaxName); m != "" {
		v.whole("name", "%s", m)
	}
	if m := misfit("description", v.d.Description, MaxDescription); m != "" {
		v.whole("description", "%s", m)
	}
	switch v.d.Runs {
	case "", RunsAtCreation, RunsOnFirstClaim:
	default:
		v.whole("runs", "%q says no time to start runs; write %q or %q, or leave it out for %q",
			truncate(string(v.d.Runs)), RunsAtCreation, RunsOnFirstClaim, RunsAtCreation)
	}
}

// limits reports whether the definition is small enough to look into.
func (v *validation) limits() bool {
	before, fields := len(v.found), 0
	for _, n := range v.d.Nodes {
		fields += len(n.Fields)
	}
	if n := len(v.d.Nodes); n > MaxNodes {
		v.whole("nodes", "the pipeline has %d nodes; at most %d are allowed", n, MaxNodes)
	}
	if fields > MaxFields {
		v.whole("nodes", "the pipeline has %d fields; at most %d are allowed", fields, MaxFields)
	}
	if n := len(v.d.Edges); n > MaxEdges {
		v.whole("edges", "the pipeline has %d edges; at most %d are allowed", n, MaxEdges)
	}
	return len(v.found) == before
}

// counts asks for exactly one start and one end and for something to do.
func (v *validation) counts() {
	firsts, subtasks := map[Kind]int{}, 0
	for i, n := range v.d.Nodes {
		switch n.Kind {
		case KindStart, KindEnd:
			if first, again := firsts[n.Kind]; again {
				v.atNode(i, "kind", "a pipeline has one %s node, and %q is it already; remove one of the two",
					n.Kind, truncate(v.d.Nodes[first].Key))
				continue
			}
			firsts[n.Kind] = i
		case KindSubtask:
			subtasks++
		case KindReview:
		}
	}
	for _, k := range []Kind{KindStart, KindEnd} {
		if _, ok := firsts[k]; !ok {
			v.whole("nodes", "the pipeline has no %s node; add one of kind %q", k, k)
		}
	}
	if subtasks == 0 {
		v.whole("nodes", "the pipeline has no subtask, so that nobody would have anything to do; add one")
	}
}

// upstream returns the fields of the subtasks before node i.
func (v *validation) upstream(i int) []form.Field {
	var out []form.Field
	for j, above := range v.shape.above[i] {
		if above && j != i {
			out = append(out, v.d.Nodes[j].Fields...)
		}
	}
	return out
}
