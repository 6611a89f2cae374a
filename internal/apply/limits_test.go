package apply_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
)

// listOf is a list with the same item so many times.
func listOf(item string, times int) string {
	return "[" + strings.Repeat(item+",", times-1) + item + "]"
}

// merges is an object that merges another one so many times, of which only the
// first adds anything.
func merges(keys, times int) string {
	var b strings.Builder
	b.WriteString("a: &a\n")
	for i := range keys {
		fmt.Fprintf(&b, "  k%d: 0\n", i)
	}
	return b.String() + "b:\n" + strings.Repeat("  <<: *a\n", times)
}

func TestReadRefusesMergesThatAddNothing(t *testing.T) {
	t.Parallel()
	_, err := apply.Read([]byte(merges(4000, 1300)))
	require.ErrorContains(t, err, "more than 5000000 values")
}

func TestReadDefinitionRefusesWhatAliasesMakeLarge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, word string }{
		"aliases of aliases": {
			"a: &a " + listOf("0", 1000) + "\nb: &b " + listOf("*a", 1000) + "\nc: " + listOf("*b", 3),
			"more than 524288 values",
		},
		"merges that add nothing": {merges(4000, 200), "more than 524288 values"},
		"a long text": {
			`description: &t "` + strings.Repeat("x", 100_000) + "\"\nnodes:\n" + strings.Repeat("  - instructions: *t\n", 30),
			"bytes of text, aliases written out",
		},
		"a long list of fields": {
			"nodes:\n  - fields: &f " + listOf("null", 700) + "\n" + strings.Repeat("  - fields: *f\n", 700),
			"too many items",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := apply.ReadDefinition([]byte(c.doc))
			require.Equal(t, fault.Validation, fault.KindOf(err))
			require.ErrorContains(t, err, c.word)
		})
	}
}

func TestReadDefinitionTakesOptionsThatManyFieldsShare(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&words, "choice %d, ", i)
	}
	d, err := apply.ReadDefinition([]byte("name: A\nnodes:\n  - key: a\n    fields:\n      - options: &o [" + words.String() + "other]\n" +
		strings.Repeat("      - options: *o\n", 19)))
	require.NoError(t, err)
	require.Len(t, d.Nodes[0].Fields, 20)
	for _, f := range d.Nodes[0].Fields {
		require.Len(t, f.Options, 1001)
	}
}

func TestReadDefinitionTellsTheFirstOfManyProblems(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("{\n")
	for i := range int64(200_000) {
		b.WriteString(`"` + strconv.FormatInt(i, 36) + "\":0,\n")
	}
	b.WriteString(`"nodes":[]}`)
	_, err := apply.ReadDefinition([]byte(b.String()))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Problems, 100)
	require.Equal(t, "2r", f.Problems[99].Path)
	require.Contains(t, f.Problems[99].Message, "line 101: unknown key")
}

func TestReadDefinitionTellsWhereAKeyComesAgain(t *testing.T) {
	t.Parallel()
	_, err := apply.ReadDefinition([]byte("name: A\nname: 5\nname: C\nnodes: []"))
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, []fault.Problem{
		{Path: "name", Message: "line 3: the key is given more than once"},
		{Path: "name", Message: "line 2: expected text, got 5; put it in quotes"},
	}, f.Problems)
}

// Not parallel: nothing else may allocate meanwhile.
func TestReadDefinitionAllocatesForTheDocumentNotForItsAliases(t *testing.T) {
	doc := []byte("a: &a " + listOf("0", 1000) + "\nb: " + listOf("*a", 500))
	var err error
	allocated := testing.AllocsPerRun(1, func() { _, err = apply.ReadDefinition(doc) })
	require.ErrorContains(t, err, "a: line 1: unknown key")
	require.Less(t, allocated, 250_000.0, "half a million values stand in it, 1,500 in the document")
}

// Not parallel: nothing else may allocate meanwhile.
func TestReadDefinitionTakesMemoryForTheTextOnly(t *testing.T) {
	for name, doc := range map[string]string{
		"many values under a long key": strings.Repeat("k", 20_000) + ": " + listOf("1", 10_000),
		"many values deep inside":      "a: " + strings.Repeat("{"+strings.Repeat("k", 100)+": ", 100) + listOf("1", 10_000) + strings.Repeat("}", 100),
		"many anchors":                 anchors(3000),
		"many comments":                "a:\n" + strings.Repeat("  # c\n", 6000) + "  - 1\n",
		"many comments between items":  "a:\n" + strings.Repeat("  - 1 # c\n  # d\n\n", 2000),
		"a text of many lines":         "a:\n" + strings.Repeat("  b\n", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := apply.ReadDefinition([]byte(doc))
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "unknown key")
			require.Less(t, (after.TotalAlloc-before.TotalAlloc)/uint64(len(doc)), uint64(1000), "bytes for a byte of %d", len(doc))
		})
	}
}

// anchors is a list of so many items with names of their own.
func anchors(n int) string {
	var b strings.Builder
	b.WriteString("a:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - &n%d %d\n", i, i)
	}
	return b.String()
}

func TestMergesKeepWhatStandsThere(t *testing.T) {
	t.Parallel()
	d, err := apply.Read([]byte(`
organizations:
  - slug: a
    datasets:
      - name: D
        rows:
          - &one {a: 1, b: 2}
          - &two {b: 3, c: 4}
          - &twice {x: 1, x: 2}
          - b: 9
            <<: *one
          - <<: [*one, *two]
            d: 5
          - <<: *two
            <<: *one
            c: 0
          - <<: *twice
`))
	require.NoError(t, err)
	var rows []string
	for _, r := range d.Organizations[0].Datasets[0].Rows[3:] {
		rows = append(rows, string(r.Data))
	}
	require.Equal(t, []string{`{"b":9,"a":1}`, `{"d":5,"a":1,"b":2,"c":4}`, `{"c":0,"b":3,"a":1}`, `{"x":1}`}, rows)
}
