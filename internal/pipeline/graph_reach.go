package pipeline

import "slices"

// derived is what the walk asks of a graph again and again. Its slices stand
// in the order of Graph.Nodes and are empty for nodes that are no reviews,
// save reviewers.
type derived struct {
	// nodes are those it is derived from.
	nodes []GraphNode
	index map[string]int
	// between are the nodes on the paths from what a review checks to the
	// review itself, without both ends.
	between [][]int
	// undoes are the nodes that a review's rejection may open again: what it
	// checks, what lies between, and the other reviews that checked those.
	undoes [][]int
	// reviewers are the reviews that check a node.
	reviewers [][]int
	// chooses says that some edge has a condition.
	chooses bool
	// mayWait marks what a review may send back, and what is behind a choice that
	// one may.
	mayWait []bool
}

func derive(g Graph) *derived {
	d := &derived{
		nodes:   g.Nodes,
		index:   make(map[string]int, len(g.Nodes)),
		between: make([][]int, len(g.Nodes)), undoes: make([][]int, len(g.Nodes)), reviewers: make([][]int, len(g.Nodes)),
	}
	for i, n := range g.Nodes {
		if _, again := d.index[n.Key]; !again {
			d.index[n.Key] = i
		}
		d.chooses = d.chooses || len(n.Choices) > 0
		for _, t := range n.Reviews {
			d.reviewers[t] = append(d.reviewers[t], i)
		}
	}
	for r, n := range g.Nodes {
		if n.Kind != KindReview {
			continue
		}
		d.between[r] = g.between(n.Reviews, r)
		undone := make([]bool, len(g.Nodes))
		for _, i := range slices.Concat(n.Reviews, d.between[r]) {
			undone[i] = true
			for _, other := range d.reviewers[i] {
				undone[other] = true
			}
		}
		for i, is := range undone {
			if is && i != r {
				d.undoes[r] = append(d.undoes[r], i)
			}
		}
	}
	d.mayWait = make([]bool, len(g.Nodes))
	for _, undoes := range d.undoes {
		for _, i := range undoes {
			d.mayWait[i] = true
		}
	}
	var choices []int
	for i, n := range g.Nodes {
		if d.mayWait[i] {
			choices = append(choices, n.Choices...)
		}
	}
	for i, behind := range g.reachable(choices) {
		d.mayWait[i] = d.mayWait[i] || behind || slices.Contains(choices, i)
	}
	return d
}

// known returns what is derived from the graph, also for one that was put
// together by hand.
func (g Graph) known() *derived {
	if g.derived != nil {
		return g.derived
	}
	return derive(g)
}

// Index returns the position of the node with this key, -1 when absent.
func (g Graph) Index(key string) int {
	return slices.IndexFunc(g.Nodes, func(n GraphNode) bool { return n.Key == key })
}

// Follows reports whether the node comes behind others than the start: then it may close
// again after it has opened, because of what becomes of those.
func (g Graph) Follows(key string) bool {
	i := g.Index(key)
	return i > 0 && slices.ContainsFunc(g.Nodes[i].Prev, func(before int) bool { return before > 0 })
}

// reachable marks every node that a path from the given ones leads to,
// without the given ones themselves unless a path leads there.
func (g Graph) reachable(from []int) []bool {
	seen := make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		if !seen[i] && !slices.Contains(from, i) {
			continue
		}
		for _, m := range n.Next {
			seen[m] = true
		}
	}
	return seen
}

// between returns the nodes on the paths from any of targets to the review,
// without both ends.
func (g Graph) between(targets []int, review int) []int {
	down := g.reachable(targets)
	leads := make([]bool, len(g.Nodes))
	leads[review] = true
	var out []int
	for i := review - 1; i >= 0; i-- {
		for _, n := range g.Nodes[i].Next {
			leads[i] = leads[i] || leads[n]
		}
		if leads[i] && down[i] && !slices.Contains(targets, i) {
			out = append(out, i)
		}
	}
	slices.Reverse(out)
	return out
}
