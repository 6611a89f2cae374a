package apply_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// chain are anchors of which each holds the one before it, so many levels
// further inside.
func chain(anchors, levels int) string {
	var b strings.Builder
	b.WriteString("x0: &x0 0\n")
	for i := 1; i <= anchors; i++ {
		fmt.Fprintf(&b, "x%d: &x%d %s*x%d%s\n", i, i, strings.Repeat("[", levels), i-1, strings.Repeat("]", levels))
	}
	return b.String()
}

// laughs are anchors of which each holds the one before it ten times.
func laughs(anchors int) string {
	var b strings.Builder
	b.WriteString("x0: &x0 ha\n")
	for i := 1; i <= anchors; i++ {
		fmt.Fprintf(&b, "x%d: &x%d %s\n", i, i, listOf(fmt.Sprintf("*x%d", i-1), 10))
	}
	return b.String()
}

func TestReadRefusesWhatAliasesMakeDeep(t *testing.T) {
	t.Parallel()
	inner := strings.Repeat("[", 150) + "0" + strings.Repeat("]", 150)
	for name, doc := range map[string]string{
		"a chain of aliases":          chain(200, 1),
		"few anchors of many levels":  chain(2, 150),
		"an alias far inside":         "a: &a " + inner + "\nb: " + strings.Repeat("[", 100) + "*a" + strings.Repeat("]", 100),
		"an alias under a merge key":  "a: &a {k: " + inner + "}\nb: " + strings.Repeat("[", 100) + "{<<: *a}" + strings.Repeat("]", 100),
		"an alias of what was merged": "a: &a {k: " + inner + "}\nb: &b {<<: *a}\nc: " + strings.Repeat("[", 100) + "*b" + strings.Repeat("]", 100),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := apply.Read([]byte(doc))
			require.Equal(t, fault.Validation, fault.KindOf(err))
			require.ErrorContains(t, err, "nested deeper than 200 levels")
			_, err = apply.ReadDefinition([]byte(doc))
			require.ErrorContains(t, err, "nested deeper than 200 levels")
		})
	}
}

// The levels count the same however a document is written.
func TestAliasesReachAsDeepAsBrackets(t *testing.T) {
	t.Parallel()
	value := func(levels int) string { return strings.Repeat("[", levels) + "0" + strings.Repeat("]", levels) }
	row := func(before, cell string) string {
		return before + "organizations:\n- slug: a\n  datasets:\n  - name: d\n    rows:\n    - c: " + cell + "\n"
	}
	// The cell stands on level 8, and what an anchor holds at the top on level 2.
	plain, err := apply.Read([]byte(row("", value(192))))
	require.NoError(t, err)
	aliased, err := apply.Read([]byte(row("x: &x "+value(100)+"\n", strings.Repeat("[", 92)+"*x"+strings.Repeat("]", 92))))
	require.NoError(t, err)
	data := plain.Organizations[0].Datasets[0].Rows[0].Data
	require.JSONEq(t, string(data), string(aliased.Organizations[0].Datasets[0].Rows[0].Data))
	require.True(t, json.Valid(data))
	for _, doc := range []string{
		row("", value(193)),
		row("x: &x "+value(101)+"\n", strings.Repeat("[", 92)+"*x"+strings.Repeat("]", 92)),
	} {
		_, err := apply.Read([]byte(doc))
		require.ErrorContains(t, err, "nested deeper than 200 levels")
	}
}

// Not parallel: nothing else may allocate meanwhile.
func TestReadTakesMemoryForTheDocumentNotForItsAliases(t *testing.T) {
	rows := func(head, row string, times int) string {
		return head + "\norganizations:\n- slug: a\n  datasets:\n  - name: d\n    rows:\n" + strings.Repeat("    - "+row+"\n", times)
	}
	for name, c := range map[string]struct{ doc, word string }{
		"a billion laughs":         {laughs(9), "more than 5000000 values"},
		"a long text in many rows": {rows("t: &t "+strings.Repeat("x", 100_000), "{a: *t}", 2000), "bytes of text, aliases written out"},
		"a long key in many rows":  {rows("t: &t\n  ? "+strings.Repeat("x", 100_000)+"\n  : 0", "*t", 2000), "bytes of text, aliases written out"},
		"fields in many nodes": {
			"f: &f " + listOf("null", 2000) + "\norganizations:\n- projects:\n  - pipelines:\n    - definition:\n        nodes:\n" +
				strings.Repeat("        - fields: *f\n", 1000), "the lists have too many items together",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d apply.Document
			var err error
			require.Less(t, allocated(func() { d, err = apply.Read([]byte(c.doc)) }), uint64(1<<30), "for a document of %d bytes", len(c.doc))
			if err == nil {
				found := d.Problems(apply.Existing{}, pipeline.Options{})
				require.True(t, slices.ContainsFunc(found, func(p fault.Problem) bool { return strings.Contains(p.Message, c.word) }))
				return
			}
			require.ErrorContains(t, err, c.word)
		})
	}
}

// Not parallel: nothing else may allocate meanwhile.
func TestReadTellsTheFirstOfMillionsOfMistakes(t *testing.T) {
	doc := []byte("t: &t " + listOf(`"\0"`, 1000) + "\nu: " + listOf("*t", 1000))
	var d apply.Document
	require.Less(t, allocated(func() { d, _ = apply.Read(doc) }), uint64(1<<26), "for a document of %d bytes", len(doc))
	found := d.Problems(apply.Existing{}, pipeline.Options{})
	require.Len(t, found, 10_000)
	require.Equal(t, "t[0]", found[0].Path)
}

// allocated is how many bytes are taken meanwhile.
func allocated(meanwhile func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	meanwhile()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
