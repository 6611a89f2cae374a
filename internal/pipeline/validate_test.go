package pipeline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// sound is a definition without problems that has one of everything:
//
//	start ─► solve ─► polish ─► check ─► end
//	           └────► extra ────────────► end
func sound() pipeline.Definition {
	text := func(name string, in form.Input) form.Field {
		return form.Field{Name: name, Title: name, Type: form.ShortText, Input: in}
	}
	guide := text("guide", form.Static)
	guide.Value = json.RawMessage(`"Show your steps."`)
	hint := text("hint", form.LLM)
	hint.LLM = &form.Generation{Model: "default", Prompt: "Give a hint for {{question}}", Context: []string{"question"}}
	wants := form.Field{Name: "wants_extra", Type: form.Boolean, Input: form.Contributor}
	return pipeline.Definition{
		Name: "Sound",
		Nodes: []pipeline.Node{
			{Key: "start", Kind: pipeline.KindStart},
			{Key: "solve", Kind: pipeline.KindSubtask, Fields: []form.Field{
				text("question", form.Seeded), guide, hint, text("answer", form.Contributor), wants,
			}},
			{Key: "polish", Kind: pipeline.KindSubtask, Fields: []form.Field{text("polished", form.Contributor)}},
			{Key: "extra", Kind: pipeline.KindSubtask, Fields: []form.Field{text("more", form.Contributor)}},
			{Key: "check", Kind: pipeline.KindReview, Reviews: []pipeline.Target{
				{Node: "solve", Fields: []string{"answer", "hint"}}, {Node: "polish"},
			}},
			{Key: "end", Kind: pipeline.KindEnd},
		},
		Edges: []pipeline.Edge{
			{From: "start", To: "solve"},
			{From: "solve", To: "polish"},
			{From: "solve", To: "extra", When: &form.Condition{Field: "wants_extra", Op: form.OpEq, Value: json.RawMessage(`true`)}},
			{From: "polish", To: "check"},
			{From: "check", To: "end"},
			{From: "extra", To: "end"},
		},
	}
}

func when(field, op, value string) *form.Condition {
	c := &form.Condition{Field: field, Op: op}
	if value != "" {
		c.Value = json.RawMessage(value)
	}
	return c
}

func TestValidateAcceptsASoundDefinition(t *testing.T) {
	t.Parallel()
	require.Empty(t, pipeline.Validate(sound(), pipeline.Options{LLM: true}))
}

// Nodes and edges of sound by position, for the cases below.
const (
	nStart = iota
	nSolve
	nPolish
	nExtra
	nCheck
	nEnd
)

func TestValidateTellsEveryProblem(t *testing.T) {
	t.Parallel()
	type D = pipeline.Definition
	long := func(n int) string { return strings.Repeat("é", n) }
	many := -1
	for _, c := range []struct {
		name   string
		change func(d *D)
		// want are the problems as "path: part of the message", in order.
		want []string
	}{
		{"no name", func(d *D) { d.Name = " \t" }, []string{"name: needs a name"}},
		{"long name", func(d *D) { d.Name = long(201) }, []string{"name: has 201 characters; at most 200"}},
		{"longest name", func(d *D) { d.Name = long(200) }, nil},
		{"name with NUL", func(d *D) { d.Name = "a\x00" }, []string{"name: U+0000"}},
		{"long description", func(d *D) { d.Description = long(10_001) }, []string{"description: at most 10000"}},
		{"unknown runs", func(d *D) { d.Runs = "later" }, []string{`runs: "later" says no time`}},
		{"known runs", func(d *D) { d.Runs = pipeline.RunsOnFirstClaim }, nil},
		{"no start", func(d *D) { d.Nodes[nStart].Kind = pipeline.KindSubtask; d.Nodes[nStart].Fields = extraField("f") }, []string{"nodes: no start node"}},
		{"no end", func(d *D) { d.Nodes[nEnd].Kind = pipeline.KindSubtask; d.Nodes[nEnd].Fields = extraField("f") }, []string{"nodes: no end node"}},
		{"two starts", func(d *D) {
			d.Nodes = append(d.Nodes, pipeline.Node{Key: "start2", Kind: pipeline.KindStart})
			d.Edges = append(d.Edges, pipeline.Edge{From: "start2", To: "polish"})
		}, []string{`nodes[6].kind: one start node, and "start" is it already`}},
		{"two ends", func(d *D) {
			d.Nodes = append(d.Nodes, pipeline.Node{Key: "end2", Kind: pipeline.KindEnd})
			d.Edges = append(d.Edges, pipeline.Edge{From: "check", To: "end2"})
		}, []string{`nodes[6].kind: one end node, and "end" is it already`}},
		{"nothing at all", func(d *D) { *d = D{Name: "x"} }, []string{"nodes: no start", "nodes: no end", "nodes: no subtask"}},
		{"no subtask", func(d *D) {
			*d = D{Name: "x", Nodes: []pipeline.Node{{Key: "s", Kind: pipeline.KindStart}, {Key: "e", Kind: pipeline.KindEnd}}, Edges: []pipeline.Edge{{From: "s", To: "e"}}}
		}, []string{"nodes: no subtask"}},
		{"bad key", func(d *D) { rename(d, "extra", "Extra-1") }, []string{`nodes[3].key: "Extra-1" is no key`}},
		{"empty key", func(d *D) { rename(d, "extra", "") }, []string{`nodes[3].key: "" is no key`}},
		{"long key", func(d *D) { rename(d, "extra", strings.Repeat("a", 64)) }, []string{"nodes[3].key: is no key"}},
		{"longest key", func(d *D) { rename(d, "extra", strings.Repeat("a", 63)) }, nil},
		{"repeated key", func(d *D) {
			d.Nodes = append(d.Nodes, pipeline.Node{Key: "extra", Kind: pipeline.KindSubtask, Fields: extraField("f")})
		}, []string{`nodes[6].key: nodes[3] has the key "extra" already`}},
		{"unknown kind", func(d *D) { d.Nodes[nExtra].Kind = "task" }, []string{`nodes[3].kind: "task" is no kind of node`}},
		{"long title", func(d *D) { d.Nodes[nExtra].Title = long(201) }, []string{"nodes[3].title: at most 200"}},
		{"long instructions", func(d *D) { d.Nodes[nExtra].Instructions = long(50_001) }, []string{"nodes[3].instructions: at most 50000"}},
		{"short lease", func(d *D) { d.Nodes[nExtra].Lease = pipeline.Duration(59 * time.Second) }, []string{"nodes[3].lease: between 1m0s and 24h0m0s"}},
		{"long lease", func(d *D) { d.Nodes[nCheck].Lease = pipeline.Duration(24*time.Hour + 1) }, []string{"nodes[4].lease: between"}},
		{"negative lease", func(d *D) { d.Nodes[nExtra].Lease = -1 }, []string{"nodes[3].lease: between"}},
		{"bounds of a lease", func(d *D) {
			d.Nodes[nExtra].Lease, d.Nodes[nCheck].Lease = pipeline.Duration(time.Minute), pipeline.Duration(24*time.Hour)
		}, nil},
		{"short sla", func(d *D) { d.Nodes[nExtra].SLA = 1 }, []string{"nodes[3].sla: between 1m0s and 2160h0m0s"}},
		{"long sla", func(d *D) { d.Nodes[nExtra].SLA = pipeline.Duration(90*24*time.Hour + 1) }, []string{"nodes[3].sla: between"}},
		{"long reserve", func(d *D) { d.Nodes[nExtra].Reserve = pipeline.Duration(30*24*time.Hour + 1) }, []string{"nodes[3].reserve: between 0s and 720h0m0s"}},
		{"negative reserve", func(d *D) { d.Nodes[nExtra].Reserve = -1 }, []string{"nodes[3].reserve: between"}},
		{"form on a review", func(d *D) { d.Nodes[nCheck].Fields = extraField("f") }, []string{"nodes[4].fields: only a subtask has a form"}},
		{"form on start and end", func(d *D) {
			d.Nodes[nStart].Fields, d.Nodes[nEnd].Fields = extraField("f"), extraField("g")
		}, []string{"nodes[0].fields: this is of kind start", "nodes[5].fields: this is of kind end"}},
		{"review settings elsewhere", func(d *D) {
			n := &d.Nodes[nExtra]
			n.Reviews, n.MaxRework, n.FourEyes = []pipeline.Target{{Node: "solve"}}, new(int), true
		}, []string{"nodes[3].reviews: only a review", "nodes[3].max_rework: only a review", "nodes[3].four_eyes: only a review"}},
		{"no fields", func(d *D) { d.Nodes[nExtra].Fields = nil }, []string{"nodes[3].fields: has no fields"}},
		{"nobody fills anything in", func(d *D) { d.Nodes[nExtra].Fields[0].Input = form.Seeded }, []string{"nodes[3].fields: nothing in the subtask is filled in"}},
		{"field of a bad shape", func(d *D) { d.Nodes[nExtra].Fields[0].Name = "More" }, []string{`nodes[3].fields[0].name: "More" is not a name`}},
		{"two nameless fields", func(d *D) {
			d.Nodes[nExtra].Fields = append(extraField(""), extraField("")...)
		}, []string{"nodes[3].fields[0].name: is not a name", "nodes[3].fields[1].name: needs a name"}},
		{"option of a bad shape", func(d *D) {
			d.Nodes[nExtra].Fields = append(d.Nodes[nExtra].Fields, form.Field{
				Name: "pick", Type: form.Select, Input: form.Contributor, Options: []form.Option{{Value: "a"}, {Value: "a"}},
			})
		}, []string{"nodes[3].fields[1].options[1].value: not stand twice"}},
		{"too many fields in a form", func(d *D) {
			for i := range 201 {
				d.Nodes[nExtra].Fields = append(d.Nodes[nExtra].Fields, extraField(fmt.Sprintf("f%d", i))...)
			}
		}, []string{"nodes[3].fields: at most 200 fields"}},
		{"name twice in a form", func(d *D) {
			d.Nodes[nExtra].Fields = append(d.Nodes[nExtra].Fields, extraField("more")...)
		}, []string{`nodes[3].fields[1].name: "more" is in node "extra" already (nodes[3].fields[0])`}},
		{"name twice in the pipeline", func(d *D) { d.Nodes[nExtra].Fields[0].Name = "polished" }, []string{
			`nodes[3].fields[0].name: "polished" is in node "polish" already (nodes[2].fields[0]); field names are unique in the whole pipeline, so rename the one in node "extra"`,
		}},
		{"visible by an earlier node's field", func(d *D) { d.Nodes[nExtra].Fields[0].VisibleWhen = when("answer", form.OpNotEmpty, "") }, nil},
		{"visible by a field elsewhere", func(d *D) { d.Nodes[nExtra].Fields[0].VisibleWhen = when("polished", form.OpNotEmpty, "") }, []string{
			`nodes[3].fields[0].visible_when.field: no field "polished"`,
		}},
		{"review of nothing", func(d *D) { d.Nodes[nCheck].Reviews = nil }, []string{"nodes[4].reviews: checks nothing"}},
		{"review of an unknown node", func(d *D) { d.Nodes[nCheck].Reviews[1].Node = "nowhere" }, []string{`nodes[4].reviews[1].node: there is no node "nowhere"`}},
		{"review of start", func(d *D) { d.Nodes[nCheck].Reviews[1].Node = "start" }, []string{`nodes[4].reviews[1].node: "start" is no subtask`}},
		{"review of a side branch", func(d *D) { d.Nodes[nCheck].Reviews[1].Node = "extra" }, []string{`nodes[4].reviews[1].node: "extra" is not before this review`}},
		{"review of a node twice", func(d *D) { d.Nodes[nCheck].Reviews[1].Node = "solve" }, []string{`nodes[4].reviews[1].node: checks "solve" already`}},
		{"review of an unknown field", func(d *D) { d.Nodes[nCheck].Reviews[1].Fields = []string{"answer"} }, []string{`nodes[4].reviews[1].fields[0]: node "polish" has no field "answer"`}},
		{"review of a field twice", func(d *D) { d.Nodes[nCheck].Reviews[0].Fields = []string{"answer", "answer"} }, []string{`nodes[4].reviews[0].fields[1]: "answer" twice`}},
		{"review of given fields", func(d *D) { d.Nodes[nCheck].Reviews[0].Fields = []string{"question", "guide"} }, []string{
			`nodes[4].reviews[0].fields[0]: "question" is seeded`, `nodes[4].reviews[0].fields[1]: "guide" is static`,
		}},
		{"negative max_rework", func(d *D) { d.Nodes[nCheck].MaxRework = &many }, []string{"nodes[4].max_rework: between 0 and 100"}},
		{"large max_rework", func(d *D) { m := 101; d.Nodes[nCheck].MaxRework = &m }, []string{"nodes[4].max_rework: is 101"}},
		{"edge from nowhere", func(d *D) {
			d.Edges = append(d.Edges, pipeline.Edge{From: "x", To: "end", When: when("answer", form.OpNotEmpty, "")})
		}, []string{`edges[6].from: there is no node "x"`}},
		{"edge to nowhere", func(d *D) { d.Edges = append(d.Edges, pipeline.Edge{From: "solve", To: "x"}) }, []string{`edges[6].to: there is no node "x"`}},
		{"edge into start", func(d *D) { d.Edges = append(d.Edges, pipeline.Edge{From: "x", To: "start"}) }, []string{"edges[6].from: no node", "edges[6].to: nothing comes before start"}},
		{"edge out of end", func(d *D) { d.Edges = append(d.Edges, pipeline.Edge{From: "end", To: "x"}) }, []string{"edges[6].from: nothing comes after end", "edges[6].to: no node"}},
		{"edge twice", func(d *D) { d.Edges = append(d.Edges, pipeline.Edge{From: "solve", To: "extra"}) }, []string{`edges[6]: edges[2] leads from "solve" to "extra" already`}},
		{"edge to itself", func(d *D) { d.Edges = append(d.Edges, pipeline.Edge{From: "solve", To: "solve"}) }, []string{`edges[6]: from "solve" to itself`}},
		{"cycle", func(d *D) { d.Edges = append(d.Edges, pipeline.Edge{From: "check", To: "solve"}) }, []string{
			"nodes[1]: the nodes solve → polish → check → solve form a cycle",
		}},
		{"two cycles", func(d *D) {
			d.Edges = append(d.Edges, pipeline.Edge{From: "polish", To: "solve"}, pipeline.Edge{From: "solve", To: "check"}, pipeline.Edge{From: "check", To: "polish"})
		}, []string{"nodes[1]: form a cycle"}},
		{"node without a way in", func(d *D) { d.Edges = d.Edges[1:] }, []string{
			`nodes[0]: no path leads from "start" to end`, `nodes[1]: no path leads from start to "solve"`, `nodes[2]: no path leads from start to "polish"`,
			`nodes[3]: no path leads from start to "extra"`, `nodes[4]: no path leads from start to "check"`, `nodes[5]: no path leads from start to "end"`,
		}},
		{"node without a way out", func(d *D) { d.Edges = d.Edges[:5] }, []string{`nodes[3]: no path leads from "extra" to end`}},
		{"condition on a later field", func(d *D) { d.Edges[1].When = when("polished", form.OpNotEmpty, "") }, []string{`edges[1].when.field: no field "polished"`}},
		{"condition on an earlier node's field", func(d *D) { d.Edges[5].When = when("answer", form.OpNotEmpty, "") }, nil},
		{"condition of a bad shape", func(d *D) {
			d.Edges[5].When = &form.Condition{All: []form.Condition{*when("answer", form.OpNotEmpty, ""), *when("answer", "like", "1")}}
		}, []string{`edges[5].when.all[1].op: "like" is not an operator`}},
		{"start condition on a given field", func(d *D) { d.Edges[0].When = when("question", form.OpNotEmpty, "") }, nil},
		{"start condition on an answer", func(d *D) { d.Edges[0].When = when("answer", form.OpNotEmpty, "") }, []string{
			`edges[0].when.field: out of start, those that are seeded or static`,
		}},
		{"start that leads nowhere", func(d *D) { d.Edges[0].When = when("guide", form.OpEmpty, "") }, []string{"edges[0].when: no edge out of start can ever be taken"}},
		{"start that leads on by a static field", func(d *D) { d.Edges[0].When = when("guide", form.OpNotEmpty, "") }, nil},
		{"several problems", func(d *D) {
			d.Name, d.Edges[0].To, d.Nodes[nExtra].Lease = "", "nowhere", 1
		}, []string{
			"name: needs a name", `nodes[0]: from "start" to end`, `nodes[1]: from start to "solve"`, `nodes[2]: from start`, `nodes[3]: from start`, "nodes[3].lease: between",
			`nodes[4]: from start`, `nodes[5]: from start`, `edges[0].to: no node "nowhere"`,
		}},
		{"too many nodes", func(d *D) { d.Nodes = make([]pipeline.Node, 201) }, []string{"nodes: has 201 nodes; at most 200"}},
		{"too many edges", func(d *D) { d.Edges = make([]pipeline.Edge, 1001) }, []string{"edges: has 1001 edges; at most 1000"}},
		{"too many fields", func(d *D) { d.Nodes[nExtra].Fields = make([]form.Field, 1995) }, []string{"nodes: fields; at most 2000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := sound()
			c.change(&d)
			got := pipeline.Validate(d, pipeline.Options{LLM: true})
			require.Len(t, got, len(c.want), "%+v", got)
			for i, want := range c.want {
				path, part, _ := strings.Cut(want, ": ")
				require.Equal(t, path, got[i].Path, "%+v", got)
				require.Contains(t, got[i].Message, part)
			}
		})
	}
}

func extraField(name string) []form.Field {
	return []form.Field{{Name: name, Type: form.ShortText, Input: form.Contributor}}
}

// rename gives a node another key, also where others refer to it.
func rename(d *pipeline.Definition, from, to string) {
	for i := range d.Nodes {
		if d.Nodes[i].Key == from {
			d.Nodes[i].Key = to
		}
	}
	for i := range d.Edges {
		if d.Edges[i].From == from {
			d.Edges[i].From = to
		}
		if d.Edges[i].To == from {
			d.Edges[i].To = to
		}
	}
}

func TestValidateSaysWhatALLMFieldNeeds(t *testing.T) {
	t.Parallel()
	got := pipeline.Validate(sound(), pipeline.Options{})
	require.Len(t, got, 1)
	require.Equal(t, "solve", got[0].Node)
	require.Equal(t, "hint", got[0].Field)
	require.Equal(t, "nodes[1].fields[2].input", got[0].Path)
	require.Contains(t, got[0].Message, "no LLM provider is configured")
	require.Contains(t, got[0].Message, "no LLM provider")
}

func TestAProblemNamesItsPlace(t *testing.T) {
	t.Parallel()
	d := sound()
	d.Nodes[nExtra].Fields[0].Name = "polished"
	d.Nodes[nCheck].Reviews[1].Fields = []string{"answer"}
	d.Edges[5].To = "nowhere"
	got, err := json.Marshal(pipeline.Validate(d, pipeline.Options{LLM: true}))
	require.NoError(t, err)
	var problems []map[string]string
	require.NoError(t, json.Unmarshal(got, &problems))
	for i := range problems {
		require.NotEmpty(t, problems[i]["message"])
		delete(problems[i], "message")
	}
	require.Equal(t, []map[string]string{
		{"node": "extra", "field": "", "path": "nodes[3]"},
		{"node": "extra", "field": "polished", "path": "nodes[3].fields[0].name"},
		{"node": "check", "field": "answer", "path": "nodes[4].reviews[1].fields[0]"},
		{"node": "extra", "field": "", "path": "edges[5].to"},
	}, problems)
}
