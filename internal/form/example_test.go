package form_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
)

// A draft may say anything, and its schema is asked for all the same. Not parallel: what others allocate would count.
func TestAnExampleIsNotWrittenOutHoweverLargeItWouldBe(t *testing.T) {
	column := `{"name":"c","type":"long_text","rules":{"min_chars":8000}}`
	wide := `{"name":"a","type":"table","input":"seeded","columns":[` + column + strings.Repeat(","+column, 2000) + `]}`
	for name, definition := range map[string]string{
		"words":           `{"name":"a","type":"long_text","input":"seeded","rules":{"min_words":100000000000}}`,
		"all words":       `{"name":"a","type":"long_text","input":"seeded","rules":{"min_words":9223372036854775807}}`,
		"characters":      `{"name":"a","type":"code","input":"seeded","rules":{"min_chars":9223372036854775807}}`,
		"lines":           `{"name":"a","type":"rich_text","input":"seeded","rules":{"min_lines":1048576}}`,
		"items":           `{"name":"a","type":"list","input":"seeded","rules":{"min_items":10000,"min_chars":1000000}}`,
		"small items":     `{"name":"a","type":"list","input":"seeded","rules":{"min_items":1000000000}}`,
		"rows":            `{"name":"a","type":"table","input":"seeded","columns":[{"name":"x","type":"long_text"}],"rules":{"min_items":10000}}`,
		"columns":         wide,
		"messages":        `{"name":"a","type":"chat","input":"seeded","rules":{"min_items":10000}}`,
		"files":           `{"name":"a","type":"file_upload","input":"seeded","multiple":true,"rules":{"min_items":10000}}`,
		"spans":           `{"name":"a","type":"text_spans","input":"seeded","source":"b","labels":["x"],"rules":{"min_items":10000}}`,
		"characters of a": `{"name":"a","type":"list","input":"seeded","rules":{"min_chars":8190}}`,
	} {
		field, err := decode(definition)
		require.NoError(t, err)
		f := form.New([]form.Field{field})
		var entries []form.SchemaEntry
		require.Less(t, allocated(func() { entries = f.Schema() }), uint64(40<<20), name)
		require.Equal(t, "null", string(entries[0].Example), name)
	}
}

// allocated is what the process allocates meanwhile.
func allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestALargeExampleThatStaysWithinTheBoundIsGiven(t *testing.T) {
	t.Parallel()
	for _, rules := range []string{`{"min_words":3000}`, `{"min_chars":8000}`, `{"min_lines":2000}`, `{"max_chars":100000}`} {
		field, err := decode(`{"name":"a","type":"long_text","input":"seeded","rules":` + rules + `}`)
		require.NoError(t, err)
		f := form.New([]form.Field{field})
		example := f.Schema()[0].Example
		require.NotEqual(t, "null", string(example), rules)
		require.Empty(t, f.CheckSeed(form.Values{"a": example}, form.NewBudget()))
	}
}

// Each field's example is small enough; there are many of them.
func TestTheExamplesOfAFormAreBoundedTogether(t *testing.T) {
	t.Parallel()
	var fields []form.Field
	for i := range 2000 {
		fields = append(fields, form.Field{
			Name: fmt.Sprintf("f%d", i), Type: form.LongText, Input: form.Seeded, Rules: form.Rules{MinChars: new(8000)},
		})
	}
	total, none := 0, 0
	for _, e := range form.New(fields).Schema() {
		total += len(e.Example)
		if string(e.Example) == "null" {
			none++
		}
		require.True(t, json.Valid(e.Example))
	}
	require.Less(t, total, 600<<10)
	require.Positive(t, none)
	require.Less(t, none, 2000)
}
