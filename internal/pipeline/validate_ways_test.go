package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// drawn is a pipeline of subtasks, each with a field of its name, and of reviews. An
// edge is "from to", and one with a condition "from to field".
func drawn(reviews map[string][]string, nodes []string, edges ...[]string) pipeline.Definition {
	d := pipeline.Definition{Name: "Drawn", Nodes: []pipeline.Node{{Key: "start", Kind: pipeline.KindStart}}}
	for _, key := range nodes {
		n := pipeline.Node{Key: key, Kind: pipeline.KindSubtask, Fields: []form.Field{
			{Name: key + "_0", Type: form.ShortText, Input: form.Contributor},
		}}
		if targets, ok := reviews[key]; ok {
			n = pipeline.Node{Key: key, Kind: pipeline.KindReview}
			for _, t := range targets {
				n.Reviews = append(n.Reviews, pipeline.Target{Node: t})
			}
		}
		d.Nodes = append(d.Nodes, n)
	}
	d.Nodes = append(d.Nodes, pipeline.Node{Key: "end", Kind: pipeline.KindEnd})
	for _, e := range edges {
		edge := pipeline.Edge{From: e[0], To: e[1]}
		if len(e) > 2 {
			edge.When = when(e[2]+"_0", form.OpNotEmpty, "")
		}
		d.Edges = append(d.Edges, edge)
	}
	return d
}

func TestConditionsAreDecidedByAnswersThatAreThere(t *testing.T) {
	t.Parallel()
	type edge = []string
	for _, c := range []struct {
		name    string
		reviews map[string][]string
		nodes   []string
		edges   []edge
		// path is of the one problem, and part of its message; empty for none.
		path, part string
	}{
		{
			"a review that a task comes to around what it checks",
			map[string][]string{"check": {"deep"}},
			[]string{"triage", "deep", "check", "fix"},
			[]edge{{"start", "triage"}, {"triage", "deep", "triage"}, {"triage", "check"}, {"deep", "check"}, {"check", "fix", "deep"}, {"check", "end"}, {"fix", "end"}},
			"edges[4].when", `the review "check" when all that it checks fell away`,
		},
		{
			"the same review with the same way out always",
			map[string][]string{"check": {"deep"}},
			[]string{"triage", "deep", "check", "fix"},
			[]edge{{"start", "triage"}, {"triage", "deep", "triage"}, {"triage", "check"}, {"deep", "check"}, {"check", "fix"}, {"fix", "end"}},
			"", "",
		},
		{
			"the same review with a condition on the way to end",
			map[string][]string{"check": {"deep"}},
			[]string{"triage", "deep", "check"},
			[]edge{{"start", "triage"}, {"triage", "deep", "triage"}, {"triage", "check"}, {"deep", "check"}, {"check", "end", "deep"}},
			"", "",
		},
		{
			"a way around what is checked that leads around the review",
			map[string][]string{"check": {"deep"}},
			[]string{"triage", "deep", "check", "fix"},
			[]edge{{"start", "triage"}, {"triage", "deep", "triage"}, {"triage", "end"}, {"deep", "check"}, {"check", "fix", "deep"}, {"check", "end"}, {"fix", "end"}},
			"", "",
		},
		{
			"a review that always has something to check",
			map[string][]string{"check": {"deep", "triage"}},
			[]string{"triage", "deep", "check", "fix"},
			[]edge{{"start", "triage"}, {"triage", "deep", "triage"}, {"triage", "check"}, {"deep", "check"}, {"check", "fix", "deep"}, {"check", "end"}, {"fix", "end"}},
			"", "",
		},
		{
			"a review of either of two",
			map[string][]string{"check": {"left", "right"}},
			[]string{"a", "left", "right", "check", "fix"},
			[]edge{{"start", "a"}, {"a", "left", "a"}, {"a", "right", "a"}, {"left", "check"}, {"right", "check"}, {"check", "fix", "left"}, {"check", "end"}, {"fix", "end"}},
			"", "",
		},
		{
			"an answer that a review beside may have given anew",
			map[string][]string{"check": {"a"}},
			[]string{"a", "b", "check", "p"},
			[]edge{{"start", "a"}, {"a", "b"}, {"a", "check"}, {"b", "p", "a"}, {"b", "end"}, {"check", "end"}, {"p", "end"}},
			"edges[3].when", `"b" decides this when it is done, but the review "check" may have "a_0" answered anew`,
		},
		{
			"the same on the way to end",
			map[string][]string{"check": {"a"}},
			[]string{"a", "b", "check", "p"},
			[]edge{{"start", "a"}, {"a", "b"}, {"a", "check"}, {"b", "p"}, {"b", "end", "a"}, {"check", "end"}, {"p", "end"}},
			"", "",
		},
		{
			"a node's own answer, which a review has chosen anew",
			map[string][]string{"check": {"a"}},
			[]string{"a", "b", "check", "p"},
			[]edge{{"start", "a"}, {"a", "b"}, {"a", "check"}, {"a", "p", "a"}, {"b", "end"}, {"check", "end"}, {"p", "end"}},
			"", "",
		},
		{
			"an answer that was reviewed before",
			map[string][]string{"check": {"a"}},
			[]string{"a", "check", "b", "p"},
			[]edge{{"start", "a"}, {"a", "check"}, {"check", "b"}, {"b", "p", "a"}, {"b", "end"}, {"p", "end"}},
			"", "",
		},
		{
			"an answer whose review has what lies between done again",
			map[string][]string{"check": {"a"}},
			[]string{"a", "b", "check", "p"},
			[]edge{{"start", "a"}, {"a", "b"}, {"b", "p", "a"}, {"b", "check"}, {"p", "check"}, {"check", "end"}},
			"", "",
		},
		{
			"a review's own object",
			map[string][]string{"check": {"a"}},
			[]string{"a", "check", "p"},
			[]edge{{"start", "a"}, {"a", "check"}, {"check", "p", "a"}, {"check", "end"}, {"p", "end"}},
			"", "",
		},
		{
			"a review's object that another one checks, too",
			map[string][]string{"check": {"a"}, "proof": {"a"}},
			[]string{"a", "check", "proof", "p"},
			[]edge{{"start", "a"}, {"a", "check"}, {"a", "proof"}, {"check", "p", "a"}, {"check", "end"}, {"proof", "end"}, {"p", "end"}},
			"", "",
		},
		{
			"an answer behind its review that a later one may have given anew",
			map[string][]string{"check": {"a"}, "proof": {"a"}},
			[]string{"a", "check", "b", "proof", "p"},
			[]edge{{"start", "a"}, {"a", "check"}, {"check", "b"}, {"a", "proof"}, {"b", "p", "a"}, {"b", "end"}, {"proof", "end"}, {"p", "end"}},
			"edges[4].when", `the review "proof" may have "a_0" answered anew`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := pipeline.Validate(drawn(c.reviews, c.nodes, c.edges...), pipeline.Options{})
			if c.path == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1, "%+v", got)
			require.Equal(t, c.path, got[0].Path)
			require.Contains(t, got[0].Message, c.part)
		})
	}
}
