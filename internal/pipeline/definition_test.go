package pipeline_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestParse(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Parse([]byte(`{"name":"P","nodes":[{"key":"a","kind":"subtask","lease":"90s","max_rework":0}],"edges":[{"from":"a","to":"b"}]}`))
	require.NoError(t, err)
	require.Equal(t, 90*time.Second, d.Nodes[0].LeaseFor())
	require.Zero(t, d.Nodes[0].MaxReworks())
	for name, doc := range map[string]string{
		"unknown key":                 `{"name":"P","color":"red"}`,
		"unknown key of a node":       `{"nodes":[{"key":"a","colour":"red"}]}`,
		"more data":                   `{"name":"P"} {}`,
		"no JSON":                     `name: P`,
		"nothing":                     ``,
		"another type":                `[]`,
		"span as a number":            `{"nodes":[{"lease":30}]}`,
		"span without a unit":         `{"nodes":[{"lease":"30"}]}`,
		"span beyond what Go can say": `{"nodes":[{"lease":"9999999999h"}]}`,
	} {
		_, err := pipeline.Parse([]byte(doc))
		require.Error(t, err, name)
	}
	_, err = pipeline.Parse([]byte(`{"nodes":[{"lease":"soon"}]}`))
	require.ErrorContains(t, err, `"soon" is no time span; write it as "30m" or "2h"`)
}

// What is decoded is what everybody else reads in the document.
func TestParseRefusesKeysInAnotherCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, key string }{
		{`{"name":"a","NAME":"b"}`, "NAME"},
		{`{"Name":"a"}`, "Name"},
		{`{"nodeſ":[]}`, "nodeſ"},
		{`{"nodes":[{"key":"a"},{"Kind":"start","key":"b"}]}`, "Kind"},
		{`{"nodes":[{"fields":[{"options":["a",{"Value":"b"}]}]}]}`, "Value"},
		{`{"nodes":[{"fields":[{"llm":{"tools":[{"Name":"t"}]}}]}]}`, "Name"},
		{`{"nodes":[{"fields":[{"value":1,"rules":{"Max_Chars":1}}]}]}`, "Max_Chars"},
		{`{"edges":[{"when":{"not":{"field":"f","value":1,"Op":"eq"}}}]}`, "Op"},
	} {
		_, err := pipeline.Parse([]byte(c.doc))
		require.EqualError(t, err, fmt.Sprintf("unknown field %q; keys are in lower case", c.key), c.doc)
		_, err = pipeline.Stored([]byte(c.doc))
		require.NoError(t, err, "what an older release published stays readable")
	}
	_, err := pipeline.Parse([]byte(`{"nodes":[{"fields":[{"value":{"A":1,"a":[{"B":2}]},"rules":{"min":{"A":1}},
		"llm":{"tools":[{"name":"t","parameters":{"properties":{"Type":{},"type":{}}}}]}}]}],
		"edges":[{"when":{"any":[{"value":[{"A":1}]},{"value":{"A":1e999}}]}}]}`))
	require.NoError(t, err, "there, keys are anybody's")
}

func TestParseSaysWhatDoesNotFitWithoutGo(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"nodes":7}`:                         "nodes: expected an array, got a number",
		`[]`:                                  "expected an object, got an array",
		`{"nodes":[{"max_rework":1.5}]}`:      "nodes.max_rework: expected a whole number from -9223372036854775808 to 9223372036854775807 in digits, got 1.5",
		`{"nodes":[{"fields":[{"type":1}]}]}`: "nodes.fields.type: expected a text, got a number",
		`{"nodes":[{"fields":[{"options":[{"value":7}]}]}]}`:  "an option: value: expected a text, got a number",
		`{"nodes":[{"fields":[{"options":[{"colour":7}]}]}]}`: `an option: unknown field "colour"`,
		`{"color":"red"}`: `unknown field "color"`,
	} {
		_, err := pipeline.Parse([]byte(doc))
		require.EqualError(t, err, want)
	}
}

func TestADefinitionSurvivesJSON(t *testing.T) {
	t.Parallel()
	d := sound()
	rework := 0
	d.Nodes[nCheck].MaxRework, d.Nodes[nExtra].SLA = &rework, pipeline.Duration(36*time.Hour)
	b, err := json.Marshal(d)
	require.NoError(t, err)
	read, err := pipeline.Parse(b)
	require.NoError(t, err)
	require.Equal(t, d, read)
	require.Contains(t, string(b), `"sla":"36h0m0s"`)
	require.NotContains(t, string(b), "lease")
}

func TestDefaultsOfANode(t *testing.T) {
	t.Parallel()
	var n pipeline.Node
	require.Equal(t, 30*time.Minute, n.LeaseFor())
	require.Equal(t, 4*time.Hour, n.ReserveFor())
	require.Equal(t, 3, n.MaxReworks())
	n.Reserve = pipeline.Duration(time.Hour)
	require.Equal(t, time.Hour, n.ReserveFor())
}

func TestWhoFillsANodeIn(t *testing.T) {
	t.Parallel()
	f := func(in ...form.Input) pipeline.Node {
		n := pipeline.Node{Kind: pipeline.KindSubtask}
		for _, i := range in {
			n.Fields = append(n.Fields, form.Field{Input: i})
		}
		return n
	}
	for _, c := range []struct {
		node             pipeline.Node
		automated, human bool
	}{
		{f(form.Contributor), false, true},
		{f(form.Seeded, form.Static), false, false},
		{f(form.LLM), true, false},
		{f(form.LLM, form.Contributor), true, true},
		{pipeline.Node{Kind: pipeline.KindReview}, false, true},
	} {
		require.Equal(t, c.automated, c.node.Automated(), "%+v", c.node)
		require.Equal(t, c.human, c.node.Human(), "%+v", c.node)
	}
}
