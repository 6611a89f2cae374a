package pipeline

import (
	"strconv"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
)

// edges checks where edges lead and what their conditions look at.
func (v *validation) edges() {
	first, known := map[[2]string]int{}, map[string]func(string) (form.Field, bool){}
	for i, e := range v.d.Edges {
		from, okFrom := v.shape.at[e.From]
		to, okTo := v.shape.at[e.To]
		if !okFrom {
			v.atEdge(i, "from", "", "", "there is no node %q", truncate(e.From))
		} else if v.d.Nodes[from].Kind == KindEnd {
			v.atEdge(i, "from", "", "", "nothing comes after end; remove the edge")
		}
		if !okTo {
			v.atEdge(i, "to", "", "", "there is no node %q", truncate(e.To))
		} else if v.d.Nodes[to].Kind == KindStart {
			v.atEdge(i, "to", "", "", "nothing comes before start; remove the edge")
		}
		if okFrom && okTo && from == to {
			v.atEdge(i, "", "", "", "the edge leads from %q to itself; remove it", truncate(e.From))
		}
		if f, again := first[[2]string{e.From, e.To}]; again {
			v.atEdge(i, "", "", "", "edges[%d] leads from %q to %q already; remove one of the two, and join their "+
				"conditions with any", f, truncate(e.From), truncate(e.To))
		} else {
			first[[2]string{e.From, e.To}] = i
		}
		if e.When != nil {
			if known[e.From] == nil { // many edges come from one node
				known[e.From] = v.knownAt(from, okFrom)
			}
			for _, p := range e.When.Problems(known[e.From], v.checked) {
				if okFrom && v.d.Nodes[from].Kind == KindStart && strings.HasSuffix(p.Path, "/field") {
					p.Message += "; out of start, those that are seeded or static"
				}
				v.atEdge(i, "when", p.Field, dotted(p.Path), "%s", p.Message)
			}
		}
	}
}

// knownAt returns a lookup of the fields that have their value once the node is
// done: its own and those before it; at start, what a task is created with. Of
// an unknown node nothing can be said, so there every field is known.
func (v *validation) knownAt(node int, ok bool) func(string) (form.Field, bool) {
	known := map[string]form.Field{}
	for i, n := range v.d.Nodes {
		start := ok && v.d.Nodes[node].Kind == KindStart
		if ok && !start && i != node && !v.shape.above[node][i] {
			continue
		}
		for _, f := range n.Fields {
			if !start || f.Input == form.Seeded || f.Input == form.Static {
				known[f.Name] = f
			}
		}
	}
	return func(name string) (form.Field, bool) {
		f, ok := known[name]
		return f, ok
	}
}

// entry asks that some edge out of start can be taken. Only a condition over
// static fields alone is decided before there is a task.
func (v *validation) entry() {
	inputs, statics := map[string]form.Input{}, form.Values{}
	for _, n := range v.d.Nodes {
		for _, f := range n.Fields {
			inputs[f.Name] = f.Input
			if f.Input == form.Static {
				statics[f.Name] = f.Value
			}
		}
	}
	edges, first := 0, 0
	known := form.Know(statics, v.checked)
	for i, e := range v.d.Edges {
		from, ok := v.shape.at[e.From]
		if !ok || v.d.Nodes[from].Kind != KindStart {
			continue
		}
		if e.When == nil || e.When.CompileWithin(v.compiled).Holds(known) || v.checked.Missed() {
			return
		}
		for _, name := range e.When.Fields() {
			if inputs[name] != form.Static {
				return
			}
		}
		if edges++; edges == 1 {
			first = i
		}
	}
	if edges > 0 {
		v.atEdge(first, "when", "", "", "no edge out of start can ever be taken: their conditions look at static fields "+
			"alone and none holds; change one of them")
	}
}

// dotted turns a JSON pointer into the rest of a path: "/options/1" becomes
// ".options[1]".
func dotted(pointer string) string {
	if pointer == "" {
		return ""
	}
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if n, err := strconv.Atoi(part); err == nil {
			b.WriteString(index(n))
			continue
		}
		b.WriteString("." + strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return b.String()
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
