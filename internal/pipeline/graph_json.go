package pipeline

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"weak"
)

// graphs are those that somebody holds. Thousands of runs of the same version are
// in memory at a time; each would have a graph of its own.
var graphs = sharedGraphs{held: map[string]weak.Pointer[derived]{}}

// sharedGraphs finds graphs by their documents, for as long as anybody holds one:
// its copies hold what is derived from it, and that holds the nodes.
type sharedGraphs struct {
	mu   sync.Mutex
	held map[string]weak.Pointer[derived]
}

// get returns the graph of a document, if anybody holds it.
func (s *sharedGraphs) get(doc []byte) (Graph, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.held[string(doc)].Value(); d != nil {
		return Graph{Nodes: d.nodes, derived: d}, true
	}
	return Graph{}, false
}

// share returns the graph that others hold of the document, and g if none do.
func (s *sharedGraphs) share(doc string, g Graph) Graph {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.held[doc].Value(); d != nil {
		return Graph{Nodes: d.nodes, derived: d}
	}
	s.held[doc] = weak.Make(g.derived)
	runtime.AddCleanup(g.derived, s.forget, doc)
	return g
}

// forget is called when nobody holds a graph of the document any more, unless
// somebody has read it again meanwhile.
func (s *sharedGraphs) forget(doc string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[doc].Value() == nil {
		delete(s.held, doc)
	}
}

// UnmarshalJSON reads a graph that NewGraph built. Graphs of the same document
// share their nodes, which nobody may change.
func (g *Graph) UnmarshalJSON(b []byte) error {
	if held, ok := graphs.get(b); ok {
		*g = held
		return nil
	}
	type plain Graph
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	for _, n := range p.Nodes {
		for _, i := range slices.Concat(n.Next, n.Choices, n.Prev, n.Reviews) {
			if i < 0 || i >= len(p.Nodes) {
				return fmt.Errorf("node %q of a graph of %d nodes refers to node %d", truncate(n.Key), len(p.Nodes), i)
			}
		}
	}
	read := Graph(p)
	read.derived = derive(read)
	*g = graphs.share(string(b), read)
	return nil
}
