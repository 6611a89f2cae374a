package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// broad is the largest pipeline that publish accepts: three lanes side by side
// in which every third node reviews the two before it.
func broad() pipeline.Definition {
	d := pipeline.Definition{Name: "Broad", Nodes: []pipeline.Node{{Key: "start", Kind: pipeline.KindStart}}}
	const lanes = 3
	for i := range pipeline.MaxNodes - 2 {
		key, before := fmt.Sprintf("n%d", i), "start"
		if i >= lanes {
			before = fmt.Sprintf("n%d", i-lanes)
		}
		n := pipeline.Node{Key: key, Kind: pipeline.KindSubtask, Fields: []form.Field{
			{Name: key, Type: form.ShortText, Input: form.Contributor},
		}}
		if i/lanes%3 == 2 {
			n = pipeline.Node{Key: key, Kind: pipeline.KindReview, Reviews: []pipeline.Target{
				{Node: fmt.Sprintf("n%d", i-lanes)}, {Node: fmt.Sprintf("n%d", i-2*lanes)},
			}}
		}
		d.Nodes = append(d.Nodes, n)
		d.Edges = append(d.Edges, pipeline.Edge{From: before, To: key})
		if i >= pipeline.MaxNodes-2-lanes {
			d.Edges = append(d.Edges, pipeline.Edge{From: key, To: "end"})
		}
	}
	d.Nodes = append(d.Nodes, pipeline.Node{Key: "end", Kind: pipeline.KindEnd})
	return d
}

func BenchmarkStep(b *testing.B) {
	g := pipeline.NewGraph(broad())
	s, err := pipeline.Start(g, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 3 {
		s, _ = pipeline.Step(g, s, pipeline.Event{Seq: int64(i + 2), Kind: pipeline.EventSubmit, Node: fmt.Sprintf("n%d", i), Actor: 1})
	}
	e := pipeline.Event{Seq: 9, Kind: pipeline.EventSubmit, Node: "n3", Actor: 1}
	b.ReportAllocs()
	for b.Loop() {
		pipeline.Step(g, s, e)
	}
}

func BenchmarkReadGraph(b *testing.B) {
	doc, err := json.Marshal(pipeline.NewGraph(broad()))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for i := 0; b.Loop(); i++ { // each time another document, of the same length
			one := bytes.Replace(doc, []byte(`"n0"`), fmt.Appendf(nil, `"%08d"`, i), 1)
			var g pipeline.Graph
			if err := json.Unmarshal(one, &g); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		var held pipeline.Graph
		if err := json.Unmarshal(doc, &held); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			var g pipeline.Graph
			if err := json.Unmarshal(doc, &g); err != nil {
				b.Fatal(err)
			}
		}
		runtime.KeepAlive(held)
	})
}

func BenchmarkValidate(b *testing.B) {
	d := broad()
	if p := pipeline.Validate(d, pipeline.Options{}); len(p) > 0 {
		b.Fatal(p)
	}
	for b.Loop() {
		pipeline.Validate(d, pipeline.Options{})
	}
}
