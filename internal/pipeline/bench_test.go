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

// branching is a pipeline whose start has two edges with conditions.
func branching() *pipeline.Pipeline {
	d := sound()
	d.Edges = nil
	for _, n := range d.Nodes[1:3] {
		d.Edges = append(d.Edges, pipeline.Edge{From: "start", To: n.Key, When: &form.Condition{All: []form.Condition{
			{Field: "question", Op: form.OpMatches, Value: json.RawMessage(`"(?i)what is [0-9]{1,3} times [0-9]{1,3}\\?"`)},
			{Not: &form.Condition{Field: "level", Op: form.OpIn, Value: json.RawMessage(`["easy","medium","hard"]`)}},
		}}})
	}
	return pipeline.Compile(d)
}

// BenchmarkSkipped is what each task of a batch costs where edges have conditions.
func BenchmarkSkipped(b *testing.B) {
	p := branching()
	values := form.Values{"question": json.RawMessage(`"What is 6 times 7?"`), "level": json.RawMessage(`"none"`)}
	b.ReportAllocs()
	for b.Loop() {
		if skipped := p.Skipped("start", values, form.NewBudget()); skipped != nil {
			b.Fatal(skipped)
		}
	}
}
