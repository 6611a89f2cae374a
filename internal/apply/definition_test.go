package apply_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// comesBack demands that what is written reads as what it was.
func comesBack(t interface {
	require.TestingT
	Helper()
}, d pipeline.Definition,
) {
	t.Helper()
	doc, err := apply.WriteDefinition(d)
	require.NoError(t, err)
	got, err := apply.ReadDefinition(doc)
	require.NoError(t, err, "%s", doc)
	want, err := json.Marshal(d)
	require.NoError(t, err)
	have, err := json.Marshal(got)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "%s", doc)
	again, err := apply.WriteDefinition(got)
	require.NoError(t, err)
	require.Equal(t, string(doc), string(again))
}

func TestDefinitionsComeBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	full, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	whole, err := apply.Read(full)
	require.NoError(t, err)
	for _, p := range whole.Organizations[0].Projects[0].Pipelines {
		comesBack(t, p.Definition)
	}
	comesBack(t, pipeline.Definition{Name: "empty", Nodes: []pipeline.Node{}, Edges: []pipeline.Edge{}})
}

// awkward are texts that YAML could take for something else.
var awkward = []string{
	"", " ", "x", "null", "~", "yes", "No", "on", "1", "1.0", "0x1f", "1e3", ".5", "-", "- a", "-1", "?", "? a", ":", "a: b", "a:", "#", "a # b", "a#b",
	"'", `"`, `\`, `\n`, "a\nb", "a\nb\n", "a\n\nb", "\na", "a\n\n", " a\n b", "a \nb", "a\n  b", "\ta\nb", "a\r\nb", "a\rb", "---", "---\na", "a\n---\nb",
	"...", "a\n...\nb", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "|\n a", "{a: b}", "[a]", "a, b", "2026-01-01", "12:30:45", "<<", "=", "true", "TRUE",
	"é", "日本語", "🙂", "a\u2028b", "a\u0085b", "\ufeffa", "a\u00a0", "a\tb", "a\nb\tc", "{{question}}", "<b>&amp;</b>", "# Title\n\n- one\n- two\n", "a\n b\n  c\nd",
	"Inf", "nan", "30m", "1h30m", "1s", "1m1", "+1", "1_000", "0o17", "a\n#b", "a\n: b", "key: |\n  text", strings.Repeat("long ", 60) + "end", "-\n-", "? x\n: y", "null\nnull", "C:\\dir", "a'b\"c",
}

func drawText(t *rapid.T, label string) string {
	if rapid.Bool().Draw(t, label+" awkward") {
		a := rapid.SampledFrom(awkward).Draw(t, label)
		if rapid.Bool().Draw(t, label+" twice") {
			a += rapid.SampledFrom([]string{"", " ", "\n", ": ", "\n\n", "#"}).Draw(t, label+" glue") + rapid.SampledFrom(awkward).Draw(t, label+" more")
		}
		return a
	}
	return rapid.StringN(0, 40, -1).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }).Draw(t, label)
}

func drawJSON(t *rapid.T, depth int) any {
	kinds := []string{"text", "number", "bool", "null"}
	if depth > 0 {
		kinds = append(kinds, "list", "object")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "text":
		return drawText(t, "value")
	case "number":
		return json.Number(rapid.SampledFrom([]string{"0", "-1", "1.5", "1e3", "1E-7", "12345678901234567890", "0.10", "-0"}).Draw(t, "number"))
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "list":
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			out = append(out, drawJSON(t, depth-1))
		}
		return out
	case "object":
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "keys") {
			out[drawText(t, "key")] = drawJSON(t, depth-1)
		}
		return out
	}
	return nil
}

func TestEveryDefinitionComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := pipeline.Definition{Name: drawText(t, "name"), Description: drawText(t, "description"), Nodes: []pipeline.Node{}, Edges: []pipeline.Edge{}}
		for range rapid.IntRange(0, 3).Draw(t, "nodes") {
			n := pipeline.Node{
				Key: drawText(t, "node"), Kind: pipeline.Kind(drawText(t, "kind")), Title: drawText(t, "title"),
				Instructions: drawText(t, "instructions"), FourEyes: rapid.Bool().Draw(t, "four_eyes"),
				Lease: pipeline.Duration(rapid.Int64Range(0, 1e14).Draw(t, "lease")),
			}
			for range rapid.IntRange(0, 2).Draw(t, "fields") {
				value, err := json.Marshal(drawJSON(t, 2))
				require.NoError(t, err)
				f := form.Field{Name: drawText(t, "field"), Type: form.LongText, Input: form.Static, Value: value}
				if rapid.Bool().Draw(t, "condition") {
					f.VisibleWhen = &form.Condition{Field: drawText(t, "on"), Op: form.OpEq, Value: value}
				}
				f.Options = []form.Option{{Value: drawText(t, "option"), Label: drawText(t, "label")}}
				n.Fields = append(n.Fields, f)
			}
			n.Reviews = []pipeline.Target{{Node: drawText(t, "target"), Fields: []string{drawText(t, "f1"), drawText(t, "f2")}}}
			d.Nodes = append(d.Nodes, n)
			d.Edges = append(d.Edges, pipeline.Edge{From: drawText(t, "from"), To: drawText(t, "to")})
		}
		comesBack(t, d)
	})
}

const small = "name: A\nnodes: []\nedges: []\n"

func TestReadDefinitionTakesDocumentsOfApply(t *testing.T) {
	t.Parallel()
	inner := strings.ReplaceAll(strings.TrimSuffix(small, "\n"), "\n", "\n            ")
	one := "organizations:\n  - slug: acme\n    projects:\n      - name: P\n        pipelines:\n          - definition:\n            " + inner
	for name, doc := range map[string]string{
		"a definition": small, "JSON": `{"name":"A","nodes":[],"edges":[]}`, "with a status": "status: ACTIVE\ndefinition: {name: A, nodes: [], edges: []}",
		"a document": strings.ReplaceAll(one, "definition:\n            name", "definition:\n              name"),
	} {
		if name == "a document" {
			doc = `organizations: [{slug: acme, projects: [{name: P, pipelines: [{definition: {name: A, nodes: [], edges: []}}]}]}]`
		}
		d, err := apply.ReadDefinition([]byte(doc))
		require.NoError(t, err, name)
		require.Equal(t, "A", d.Name, name)
	}
}

func TestReadDefinitionNamesLines(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"name: A\nnodes:\n  - key: a\n    knd: subtask\nedges: []":             "nodes[0].knd: line 4: unknown key",
		"name: A\nnodes:\n  - {key: a, kind: subtask, lease: soon}\nedges: []": "nodes[0].lease: line 3:",
		"name: A\nnodes: 7\nedges: []":                                         "nodes: line 2: expected a list",
		"name: 5\nnodes: []":                                                   "name: line 1: expected text",
		"name: A\nname: B\nnodes: []":                                          "name: line 2: the key is given more than once",
		"{\n \"name\": \"A\",\n \"nodes\": [\n  {\"key\": 5}\n ]\n}":           "nodes[0].key: line 4: expected text",
		"name: [\n":         "line 2, column 1: did not find expected node content",
		"- a\nb: c":         "line 2, column 1: did not find expected '-' indicator while parsing a block collection that begins in line 1",
		"- a\n- b":          "the document is a list",
		"":                  "empty",
		"organizations: []": "0 pipelines",
		"a: b\n  c: d: e\n": "line 2, column 4: mapping values are not allowed in this context",
		"a: \x01":           "control characters are not allowed",
		"organizations: [{projects: [{pipelines: [{}, {}]}]}]":                                             "2 pipelines",
		"organizations:\n- projects:\n  - pipelines:\n    - definition:\n        name: A\n        nods: 1": "organizations[0].projects[0].pipelines[0].definition.nods: line 6: unknown key",
	} {
		_, err := apply.ReadDefinition([]byte(doc))
		require.Equal(t, fault.Validation, fault.KindOf(err), doc)
		require.ErrorContains(t, err, want, doc)
	}
}

func TestFilenames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "grade-school-math-check-v3.yaml", apply.Filename("Grade-school math: check!", 3))
	require.Equal(t, "数学.yaml", apply.Filename("数学", 0))
	require.Equal(t, "pipeline.yaml", apply.Filename("../../..", 0))
}

func FuzzReadDefinition(f *testing.F) {
	for _, s := range append(awkward, small, `{"name":1}`, "definition: {}", "organizations: [{projects: [{pipelines: [{}]}]}]") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := apply.ReadDefinition(data)
		if err != nil {
			require.Equal(t, fault.Validation, fault.KindOf(err))
			return
		}
		doc, err := apply.WriteDefinition(d)
		require.NoError(t, err)
		_, err = apply.ReadDefinition(doc)
		require.NoError(t, err, "%s", doc)
	})
}

// What stands plain is read as YAML 1.2 has it, with the octals and hexadecimals
// of 1.1; a date is text.
func TestReadDefinitionReadsPlainScalars(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"1.50": "1.50", "0x1f": "31", "017": "15", "0o17": "15", "1_000": "1000", "+1": "1", ".5": "0.5",
		"12345678901234567890123": "12345678901234567890123", "1e400": "1e400",
		"~": "null", "Null": "null", "": "null", "TRUE": "true", "yes": `"yes"`, "2026-01-01": `"2026-01-01"`, "12:30": `"12:30"`,
		"<<": `"\u003c\u003c"`, "a #b": `"a"`, "a#b": `"a#b"`, `"5"`: `"5"`, "'5'": `"5"`, "! 5": `"5"`, "!other 5": "5",
		"!!str 5": `"5"`, "!!str null": `"null"`, "!!str": `""`, "!!int abc": `"abc"`, "|\n  5": `"5"`, ">\n  a\n  b\n\n  c": `"a b\nc"`,
	} {
		d, err := apply.ReadDefinition([]byte("name: A\nnodes:\n- fields:\n  - visible_when:\n      value: " + strings.ReplaceAll(plain, "\n", "\n       ")))
		require.NoError(t, err, plain)
		require.NotNil(t, d.Nodes[0].Fields[0].VisibleWhen, plain)
		require.Equal(t, want, string(d.Nodes[0].Fields[0].VisibleWhen.Value), plain)
	}
}
