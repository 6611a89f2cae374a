package pipeline

import (
	"slices"

	"github.com/taskloom/taskloom/internal/form"
)

// Graph is the shape of a published pipeline without its forms: what the
// walk needs and nothing that a workflow history should not hold. Nodes are in
// topological order: start first, end last.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`

	// derived is worked out from Nodes once, by NewGraph or when a Graph is
	// read from JSON.
	derived *derived
}

// GraphNode is one node of a Graph; Next, Choices, Prev and Reviews are indices
// into Graph.Nodes.
type GraphNode struct {
	Key   string `json:"key"`
	Title string `json:"title,omitempty"`
	Kind  Kind   `json:"kind"`
	Next  []int  `json:"next,omitempty"`
	// Choices are those of Next that a condition may rule out.
	Choices   []int `json:"choices,omitempty"`
	Prev      []int `json:"prev,omitempty"`
	Reviews   []int `json:"reviews,omitempty"`
	MaxRework int   `json:"max_rework,omitempty"`
	// Automated nodes wait as deferred until their LLM fields are there.
	Automated bool `json:"automated,omitempty"`
	// Unattended nodes have nothing for a person to fill in: they are done
	// as soon as their automation is.
	Unattended bool `json:"unattended,omitempty"`
}

// NewGraph builds the graph of a valid definition. Nodes that stand on the
// same rank keep the document's order, so the graph of a version never
// changes. Of a definition that is not valid it takes what it can.
func NewGraph(d Definition) Graph {
	order := topological(d)
	at := make(map[string]int, len(order))
	for i, n := range order {
		at[d.Nodes[n].Key] = i
	}
	g := Graph{Nodes: make([]GraphNode, len(order))}
	for i, n := range order {
		node := d.Nodes[n]
		gn := GraphNode{Key: node.Key, Title: node.Title, Kind: node.Kind}
		switch node.Kind {
		case KindSubtask:
			gn.Automated, gn.Unattended = node.Automated(), !node.Human()
		case KindReview:
			gn.MaxRework = node.MaxReworks()
			for _, t := range node.Reviews {
				if target, ok := at[t.Node]; ok {
					gn.Reviews = append(gn.Reviews, target)
				}
			}
			slices.Sort(gn.Reviews)
		case KindStart, KindEnd:
		}
		g.Nodes[i] = gn
	}
	for _, e := range d.Edges {
		from, okFrom := at[e.From]
		to, okTo := at[e.To]
		if okFrom && okTo {
			g.Nodes[from].Next = append(g.Nodes[from].Next, to)
			g.Nodes[to].Prev = append(g.Nodes[to].Prev, from)
			if e.When != nil {
				g.Nodes[from].Choices = append(g.Nodes[from].Choices, to)
			}
		}
	}
	for i := range g.Nodes {
		slices.Sort(g.Nodes[i].Next)
		slices.Sort(g.Nodes[i].Choices)
		slices.Sort(g.Nodes[i].Prev)
	}
	g.derived = derive(g)
	return g
}

// WithoutChoices returns the graph as releases had it that did not know which
// edges have a condition: what stood behind one was finished although the
// choice could still be made anew. Tasks of that time have rows to match.
func (g Graph) WithoutChoices() Graph {
	old := Graph{Nodes: slices.Clone(g.Nodes)}
	for i := range old.Nodes {
		old.Nodes[i].Choices = nil
	}
	old.derived = derive(old)
	return old
}

// topological returns the indices of d.Nodes so that every edge leads
// forward; nodes on a cycle are left out (Validate names them).
func topological(d Definition) []int {
	at := make(map[string]int, len(d.Nodes))
	for i, n := range d.Nodes {
		at[n.Key] = i
	}
	waits := make([]int, len(d.Nodes))
	next := make([][]int, len(d.Nodes))
	for _, e := range d.Edges {
		from, okFrom := at[e.From]
		to, okTo := at[e.To]
		if okFrom && okTo {
			next[from] = append(next[from], to)
			waits[to]++
		}
	}
	var order, ready []int
	for i := range d.Nodes {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		order = append(order, n)
		for _, m := range next[n] {
			if waits[m]--; waits[m] == 0 {
				ready = append(ready, m)
			}
		}
	}
	return order
}

// Pipeline is a published version made ready for use: its definition, graph
// and compiled forms and conditions. It is immutable and safe for concurrent use.
type Pipeline struct {
	Definition Definition
	Graph      Graph
	// Seed is the form of what a caller gives at creation: the seeded fields
	// of every subtask.
	Seed *form.Form

	nodes map[string]Node
	forms map[string]*form.Form
	// when are the edges with conditions, by the node that they come from.
	when map[string][]conditional
}

// conditional is an edge that is taken when its condition holds.
type conditional struct {
	to   string
	when *form.CompiledCondition
}

// Compile makes a valid definition ready for use.
func Compile(d Definition) *Pipeline {
	p := &Pipeline{
		Definition: d, Graph: NewGraph(d),
		nodes: make(map[string]Node), forms: make(map[string]*form.Form), when: make(map[string][]conditional),
	}
	var all []form.Field
	for _, n := range d.Nodes {
		p.nodes[n.Key] = n
		if n.Kind == KindSubtask {
			p.forms[n.Key] = form.New(n.Fields)
			all = append(all, n.Fields...)
		}
	}
	for _, e := range d.Edges {
		if e.When != nil {
			p.when[e.From] = append(p.when[e.From], conditional{e.To, e.When.Compile()})
		}
	}
	p.Seed = form.New(all)
	return p
}

// Node returns the definition of a node.
func (p *Pipeline) Node(key string) (Node, bool) {
	n, ok := p.nodes[key]
	return n, ok
}

// Form returns the compiled form of a subtask, nil for other nodes.
func (p *Pipeline) Form(key string) *form.Form { return p.forms[key] }

// Targets returns what a review checks in the order of the graph, whatever that of
// the document is: a form looks at the fields of those before it.
func (p *Pipeline) Targets(review Node) []Target {
	out := slices.Clone(review.Reviews)
	slices.SortStableFunc(out, func(a, b Target) int { return p.Graph.Index(a.Node) - p.Graph.Index(b.Node) })
	return out
}

// Statics returns the values of every static field.
func (p *Pipeline) Statics() form.Values {
	out := form.Values{}
	for _, f := range p.Seed.Fields() {
		if f.Input == form.Static && len(f.Value) > 0 {
			out[f.Name] = f.Value
		}
	}
	return out
}

// Skipped returns the targets of the node's edges whose condition does not
// hold for these values, in the document's order: the outcome that an event
// carries in place of the values. They are worth nothing when b has Missed then.
func (p *Pipeline) Skipped(key string, values form.Values, b *form.Budget) []string {
	var out []string
	known := form.Know(values, b)
	for _, e := range p.when[key] {
		if !e.when.Holds(known) {
			out = append(out, e.to)
		}
	}
	return out
}
