package pipeline

import "strings"

// shape is the graph of a definition that may be broken: edges that lead
// nowhere are left out, of nodes with the same key the first counts.
type shape struct {
	at   map[string]int
	next [][]int
	// above[i][j] says that a path leads from node j to node i, below[i][j]
	// that one leads from i to j. A node is above itself only on a cycle.
	above, below [][]bool
}

func newShape(d Definition) shape {
	s := shape{at: make(map[string]int, len(d.Nodes)), next: make([][]int, len(d.Nodes))}
	for i, n := range d.Nodes {
		if _, again := s.at[n.Key]; !again {
			s.at[n.Key] = i
		}
	}
	for _, e := range d.Edges {
		from, okFrom := s.at[e.From]
		to, okTo := s.at[e.To]
		if okFrom && okTo && from != to {
			s.next[from] = append(s.next[from], to)
		}
	}
	s.above, s.below = make([][]bool, len(d.Nodes)), make([][]bool, len(d.Nodes))
	for i := range d.Nodes {
		s.above[i], s.below[i] = make([]bool, len(d.Nodes)), make([]bool, len(d.Nodes))
	}
	for i := range d.Nodes {
		for stack := []int{i}; len(stack) > 0; {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, m := range s.next[n] {
				if !s.below[i][m] {
					s.below[i][m], s.above[m][i] = true, true
					stack = append(stack, m)
				}
			}
		}
	}
	return s
}

// loop returns the nodes of a shortest cycle through node i, i first; nil when
// there is none.
func (s shape) loop(i int) []int {
	came := map[int]int{}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for _, m := range s.next[n] {
			if m == i {
				var back []int
				for ; n != i; n = came[n] {
					back = append([]int{n}, back...)
				}
				return append([]int{i}, back...)
			}
			if _, seen := came[m]; !seen {
				came[m] = n
				queue = append(queue, m)
			}
		}
	}
	return nil
}

// cycles reports each knot of nodes that lead to each other once, by a cycle
// through its first node.
func (v *validation) cycles() {
	told := make([]bool, len(v.d.Nodes))
	for i := range v.d.Nodes {
		if told[i] || !v.shape.below[i][i] {
			continue
		}
		for j := range v.d.Nodes {
			told[j] = told[j] || v.shape.below[i][j] && v.shape.below[j][i]
		}
		var keys []string
		for _, n := range append(v.shape.loop(i), i) {
			keys = append(keys, truncate(v.d.Nodes[n].Key))
		}
		v.atNode(i, "", "the nodes %s form a cycle; remove one of its edges (work that must be done again is sent "+
			"back by a review, not by an edge)", strings.Join(keys, " → "))
	}
}

// paths asks that every node lies between start and end.
func (v *validation) paths() {
	starts, ends := v.ofKind(KindStart), v.ofKind(KindEnd)
	for i, n := range v.d.Nodes {
		if v.shape.at[n.Key] != i {
			continue
		}
		if len(starts) > 0 && n.Kind != KindStart && !leads(v.shape.above[i], starts) {
			v.atNode(i, "", "no path leads from start to %q; connect it or remove it", truncate(n.Key))
		}
		if len(ends) > 0 && n.Kind != KindEnd && !leads(v.shape.below[i], ends) {
			v.atNode(i, "", "no path leads from %q to end; connect it or remove it", truncate(n.Key))
		}
	}
}

func (v *validation) ofKind(k Kind) []int {
	var out []int
	for i, n := range v.d.Nodes {
		if n.Kind == k {
			out = append(out, i)
		}
	}
	return out
}

func leads(marks []bool, nodes []int) bool {
	for _, n := range nodes {
		if marks[n] {
			return true
		}
	}
	return false
}
