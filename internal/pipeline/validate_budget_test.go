package pipeline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// fixed is a static text of a, with a pattern that counts as nine hundred steps a byte.
func fixed(name string) form.Field {
	return form.Field{
		Name: name, Title: name, Type: form.LongText, Input: form.Static, Value: json.RawMessage(`"` + strings.Repeat("a", 10_000) + `"`),
		Rules: form.Rules{Pattern: "b{900}|a*"},
	}
}

// What a definition fixes is matched in every node: together, as much as in one.
func TestMatchingADefinitionIsBounded(t *testing.T) {
	t.Parallel()
	d := sound()
	for i, node := range []int{1, 2, 3} {
		for j := range 5 {
			d.Nodes[node].Fields = append(d.Nodes[node].Fields, fixed(fmt.Sprintf("fixed_%d_%d", i, j)))
		}
	}
	problems := pipeline.Validate(d, pipeline.Options{LLM: true})
	require.Len(t, problems, 4)
	require.Equal(t, "fixed_2_1", problems[0].Field)
	require.Contains(t, problems[0].Message, "all texts that patterns look at are too long together")
}

// A draft may have a condition at the start with thousands of leaves over a static text.
func TestADraftsConditionsAtTheStartAreBounded(t *testing.T) {
	t.Parallel()
	d := sound()
	d.Nodes[1].Fields = append(d.Nodes[1].Fields, fixed("fixed"))
	found := func(leaves int) (out []string) {
		d.Edges[0].When = &form.Condition{Any: slices.Repeat([]form.Condition{*when("fixed", form.OpMatches, `"b{900}|c*"`)}, leaves)}
		for _, p := range pipeline.Validate(d, pipeline.Options{LLM: true}) {
			out = append(out, p.Message)
		}
		return out
	}
	few := found(10)
	require.Len(t, few, 1)
	require.Contains(t, few[0], "no edge out of start can ever be taken")
	require.Empty(t, found(form.MaxConditionLeaves), "what cannot be decided accuses nobody")
	require.Equal(t, []string{"a condition compares at most 200 values, got 2000"}, found(2000))
}

// A version's patterns are kept while it is in use: those of all nodes and edges together.
func TestThePatternsOfAPipelineAreBounded(t *testing.T) {
	t.Parallel()
	d := sound()
	for i, node := range []int{1, 2, 3} {
		for j := range 40 {
			d.Nodes[node].Fields = append(d.Nodes[node].Fields, form.Field{
				Name: fmt.Sprintf("large_%d_%d", i, j), Title: "L", Type: form.LongText, Input: form.Contributor,
				Rules: form.Rules{Pattern: "a{999}b{990}"},
			})
		}
	}
	d.Edges[2].When = when("answer", form.OpMatches, `"a{999}b{990}"`)
	problems := pipeline.Validate(d, pipeline.Options{LLM: true})
	require.Len(t, problems, 21)
	for i, p := range problems {
		require.Contains(t, p.Message, "is too large beside those before it: the patterns of a pipeline")
		if i < 20 {
			require.Equal(t, fmt.Sprintf("large_2_%d", 20+i), p.Field)
		}
	}
	require.Equal(t, "edges[2].when.value", problems[20].Path)
}
