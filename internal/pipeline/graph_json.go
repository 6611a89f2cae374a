package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
)

// graphsKept bounds the graphs that are shared. Few pipelines are busy at a time,
// and the largest takes some 200 KB.
const graphsKept = 128

// graphs are those that were read last, by their documents. Thousands of runs of
// the same version are in memory at a time; each would have a graph of its own.
var graphs = func() *lru.Cache[string, Graph] {
	kept, err := lru.New[string, Graph](graphsKept)
	if err != nil {
		panic(err) // only for a size below one
	}
	return kept
}()

// UnmarshalJSON reads a graph that NewGraph built. Graphs of the same document
// share their nodes, which nobody may change.
func (g *Graph) UnmarshalJSON(b []byte) error {
	if kept, ok := graphs.Get(string(b)); ok {
		*g = kept
		return nil
	}
	type plain Graph
	var p plain
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	for _, n := range p.Nodes {
		for _, i := range slices.Concat(n.Next, n.Prev, n.Reviews) {
			if i < 0 || i >= len(p.Nodes) {
				return fmt.Errorf("node %q of a graph of %d nodes refers to node %d", truncate(n.Key), len(p.Nodes), i)
			}
		}
	}
	*g = Graph(p)
	g.derived = derive(*g)
	graphs.Add(string(b), *g)
	return nil
}
