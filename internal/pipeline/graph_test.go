package pipeline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestNewGraph(t *testing.T) {
	t.Parallel()
	g := pipeline.NewGraph(sound())
	want := []pipeline.GraphNode{
		{Key: "start", Kind: pipeline.KindStart, Next: []int{1}},
		{Key: "solve", Kind: pipeline.KindSubtask, Next: []int{2, 3}, Choices: []int{3}, Prev: []int{0}, Automated: true},
		{Key: "polish", Kind: pipeline.KindSubtask, Next: []int{4}, Prev: []int{1}},
		{Key: "extra", Kind: pipeline.KindSubtask, Next: []int{5}, Prev: []int{1}},
		{Key: "check", Kind: pipeline.KindReview, Next: []int{5}, Prev: []int{2}, Reviews: []int{1, 2}, MaxRework: 3},
		{Key: "end", Kind: pipeline.KindEnd, Prev: []int{3, 4}},
	}
	require.Equal(t, want, g.Nodes)
	require.Equal(t, 4, g.Index("check"))
	require.Equal(t, -1, g.Index("nowhere"))
	for key, follows := range map[string]bool{"start": false, "solve": false, "polish": true, "check": true, "nowhere": false} {
		require.Equal(t, follows, g.Follows(key), key)
	}
	for range 20 {
		require.Equal(t, g, pipeline.NewGraph(sound()), "a version has one graph")
	}
}

func TestAGraphHoldsNoForms(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(pipeline.NewGraph(sound()))
	require.NoError(t, err)
	require.NotContains(t, string(b), "question")
	require.NotContains(t, string(b), "wants_extra")
}

func TestAGraphFromElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"nodes":[{"key":"a","kind":"start","next":[1]}]}`,
		`{"nodes":[{"key":"a","kind":"start","prev":[-1]}]}`,
		`{"nodes":[{"key":"a","kind":"start","choices":[1]}]}`,
		`{"nodes":[{"key":"a","kind":"review","reviews":[7]}]}`,
		`{"nodes":7}`,
	} {
		for range 2 { // it is not kept either
			require.Error(t, json.Unmarshal([]byte(doc), new(pipeline.Graph)), doc)
		}
	}
}

func TestGraphsOfOneDocumentAreOneInMemory(t *testing.T) {
	t.Parallel()
	d := sound()
	d.Nodes[1].Title = t.Name() // no other test reads this document
	doc, err := json.Marshal(pipeline.NewGraph(d))
	require.NoError(t, err)
	read := make([]pipeline.Graph, 8)
	var all errgroup.Group
	for i := range read {
		all.Go(func() error { return json.Unmarshal(doc, &read[i]) })
	}
	require.NoError(t, all.Wait())
	require.Equal(t, pipeline.NewGraph(d).Nodes, read[0].Nodes)
	for _, g := range read {
		require.Same(t, &read[0].Nodes[0], &g.Nodes[0])
	}
	var other pipeline.Graph
	require.NoError(t, json.Unmarshal([]byte(strings.Replace(string(doc), "polish", "shine!", 1)), &other))
	require.Equal(t, "shine!", other.Nodes[2].Key)
	require.Equal(t, "polish", read[0].Nodes[2].Key)
}

// NewGraph is for valid definitions, and yet nothing makes it fall over.
func TestNewGraphOfNonsense(t *testing.T) {
	t.Parallel()
	for _, d := range []pipeline.Definition{
		{},
		{Edges: []pipeline.Edge{{From: "a", To: "b"}}},
		{Nodes: []pipeline.Node{{Key: "a"}, {Key: "a"}}, Edges: []pipeline.Edge{{From: "a", To: "a"}}},
		{
			Nodes: []pipeline.Node{{Key: "a", Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: "b"}, {Node: "x"}}}, {Key: "b"}},
			Edges: []pipeline.Edge{{From: "a", To: "b"}, {From: "b", To: "a"}},
		},
		{Nodes: []pipeline.Node{{Key: "r", Kind: pipeline.KindReview, Reviews: []pipeline.Target{{Node: "r"}}}}},
	} {
		require.NotPanics(t, func() {
			g := pipeline.NewGraph(d)
			if _, err := pipeline.Start(g, nil); len(g.Nodes) == 0 {
				require.ErrorIs(t, err, pipeline.ErrNoEntry)
			}
		})
	}
}

func TestStartNeedsAWay(t *testing.T) {
	t.Parallel()
	g := pipeline.NewGraph(sound())
	_, err := pipeline.Start(g, []string{"solve"})
	require.ErrorIs(t, err, pipeline.ErrNoEntry)
	_, err = pipeline.Start(g, []string{"elsewhere"})
	require.NoError(t, err)
	_, err = pipeline.Fold(g, []string{"solve"}, nil)
	require.ErrorIs(t, err, pipeline.ErrNoEntry)
}

func TestCompile(t *testing.T) {
	t.Parallel()
	p := pipeline.Compile(sound())
	require.Equal(t, form.Values{"guide": json.RawMessage(`"Show your steps."`)}, p.Statics())
	n, ok := p.Node("check")
	require.True(t, ok)
	require.Equal(t, pipeline.KindReview, n.Kind)
	_, ok = p.Node("nowhere")
	require.False(t, ok)
	require.NotNil(t, p.Form("solve"))
	require.Nil(t, p.Form("check"))
	require.Len(t, p.Seed.Fields(), 7, "every subtask's fields")

	require.Nil(t, p.Skipped("start", nil, form.NewBudget()))
	require.Nil(t, p.Skipped("solve", form.Values{"wants_extra": json.RawMessage(`true`)}, form.NewBudget()))
	require.Equal(t, []string{"extra"}, p.Skipped("solve", form.Values{"wants_extra": json.RawMessage(`false`)}, form.NewBudget()))
	require.Equal(t, []string{"extra"}, p.Skipped("solve", nil, form.NewBudget()))
}

// Not parallel: nothing else may allocate meanwhile.
func TestConditionsAreCompiledWithThePipeline(t *testing.T) {
	p := branching()
	values := form.Values{"question": json.RawMessage(`"What is 6 times 7?"`)}
	require.Nil(t, p.Skipped("start", values, form.NewBudget()))
	require.Len(t, p.Skipped("start", nil, form.NewBudget()), 2)
	allocated := testing.AllocsPerRun(10, func() { p.Skipped("start", values, form.NewBudget()) })
	require.Less(t, allocated, 20.0, "a pattern alone takes some hundred")
}
