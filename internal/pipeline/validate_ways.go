package pipeline

import "slices"

// ways checks of a definition that is sound otherwise that each condition is decided by
// answers that are there then and stay. Which edges out of a node are taken is decided
// once, when it is done: what is answered later, or anew beside it, would leave the task
// on a way that its own answers rule out. The way to end is no work of anybody's.
func (v *validation) ways() {
	if len(v.found) > 0 {
		return
	}
	g := NewGraph(v.d)
	askedOf := map[string]int{}
	for _, n := range v.d.Nodes {
		for _, f := range n.Fields {
			if produced(f) {
				askedOf[f.Name] = g.derived.index[n.Key]
			}
		}
	}
	again := g.askedAgain()
	for i, e := range v.d.Edges {
		from, to := g.derived.index[e.From], g.derived.index[e.To]
		if e.When == nil || g.Nodes[to].Kind == KindEnd {
			continue
		}
		if g.mayCheckNothing(from) {
			v.atEdge(i, "when", "", "", "the task can come to the review %q when all that it checks fell away, and goes on "+
				"along every edge then; let what leads around what it checks lead around the review as well, or let this "+
				"edge come from a subtask", truncate(e.From))
			continue
		}
		for _, name := range e.When.Fields() {
			node, asked := askedOf[name]
			if !asked || node == from {
				continue
			}
			if r := again.beside(node, from); r > 0 {
				v.atEdge(i, "when", name, "", "%q decides this when it is done, but the review %q may have %q answered "+
					"anew after that, and the way stays; let the edge come from %q, or put %q behind the review",
					truncate(e.From), truncate(g.Nodes[r].Key), truncate(name), truncate(g.Nodes[node].Key), truncate(e.From))
				break
			}
		}
	}
}

// mayCheckNothing reports whether a task can come to node i, a review, although all that
// it checks fell away: a way leads there around all of that, and none of it is on a way
// without conditions.
func (g Graph) mayCheckNothing(i int) bool {
	targets := g.Nodes[i].Reviews
	if g.Nodes[i].Kind != KindReview {
		return false
	}
	sure, around := make([]bool, len(g.Nodes)), make([]bool, len(g.Nodes))
	sure[0], around[0] = true, true
	for n, gn := range g.Nodes[:i] {
		for _, next := range gn.Next {
			sure[next] = sure[next] || sure[n] && !slices.Contains(gn.Choices, next)
			around[next] = around[next] || around[n] && !slices.Contains(targets, n)
		}
	}
	return around[i] && !slices.ContainsFunc(targets, func(t int) bool { return sure[t] })
}

// rounds tells of each review which nodes its rejection opens again, and which come after
// its approval; both are empty for other nodes.
type rounds struct{ opened, after [][]bool }

func (g Graph) askedAgain() rounds {
	out := rounds{opened: make([][]bool, len(g.Nodes)), after: make([][]bool, len(g.Nodes))}
	for r, n := range g.Nodes {
		if n.Kind != KindReview {
			continue
		}
		out.opened[r], out.after[r] = make([]bool, len(g.Nodes)), g.reachable([]int{r})
		for _, i := range g.known().undoes[r] {
			out.opened[r][i] = true
		}
	}
	return out
}

// beside returns a review that may open node again, while node done, which is behind it,
// is done and stays so; 0 when there is none.
func (s rounds) beside(again, done int) int {
	for r, opened := range s.opened {
		if r != done && opened != nil && opened[again] && !opened[done] && !s.after[r][done] {
			return r
		}
	}
	return 0
}
