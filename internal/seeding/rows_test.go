package seeding_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/task"
)

// compiled is a pipeline with two entry nodes: easy takes what is not hard,
// hard only what is. `level` null opens neither.
func compiled(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	d, err := pipeline.Parse([]byte(`{
		"name": "Levels",
		"nodes": [
			{"key": "start", "kind": "start"},
			{"key": "easy", "kind": "subtask", "fields": [
				{"name": "question", "title": "The question", "type": "short_text", "input": "seeded", "required": true, "rules": {"max_chars": 10}},
				{"name": "level", "type": "integer", "input": "seeded"},
				{"name": "note", "type": "short_text", "input": "static", "value": "fixed"},
				{"name": "a", "type": "short_text", "input": "contributor"}]},
			{"key": "hard", "kind": "subtask", "fields": [{"name": "b", "type": "short_text", "input": "contributor"}]},
			{"key": "end", "kind": "end"}],
		"edges": [
			{"from": "start", "to": "easy", "when": {"field": "level", "op": "eq", "value": 1}},
			{"from": "start", "to": "hard", "when": {"field": "level", "op": "eq", "value": 2}},
			{"from": "easy", "to": "end"}, {"from": "hard", "to": "end"}]}`))
	require.NoError(t, err)
	require.Empty(t, pipeline.Validate(d, pipeline.Options{}))
	return pipeline.Compile(d)
}

func item(t *testing.T, doc string) seeding.Item {
	t.Helper()
	var v form.Values
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	return seeding.Item{Fields: v}
}

func items(t *testing.T, docs ...string) []seeding.Item {
	t.Helper()
	var out []seeding.Item
	for _, d := range docs {
		out = append(out, item(t, d))
	}
	return out
}

func places(errs []seeding.ItemError) []string {
	out := make([]string, len(errs))
	for i, e := range errs {
		out[i] = fmt.Sprintf("%d %s", e.Index, e.FieldName)
	}
	return out
}

func TestGoodRowsStartWhereTheirValuesLead(t *testing.T) {
	t.Parallel()
	rows, errs := seeding.Rows(compiled(t), items(t, `{"question": "q", "level": 1}`, `{"question": "r", "level": 2}`, `{"question": "s", "level": 1}`), nil)
	require.Empty(t, errs)
	require.Len(t, rows, 3)
	for i, want := range []string{"easy", "hard", "easy"} {
		require.Equal(t, i, rows[i].Index)
		for _, n := range rows[i].State.Nodes {
			require.Equal(t, n.Key == want, n.Status == task.NodeAvailable, "row %d node %s is %s", i, n.Key, n.Status)
		}
	}
	require.JSONEq(t, `"r"`, string(rows[1].Input["question"]))
}

func TestErrorsAreOrderedByIndexThenField(t *testing.T) {
	t.Parallel()
	rows, errs := seeding.Rows(compiled(t), items(t,
		`{"zzz": 1, "question": 5, "aaa": 1, "level": "x"}`,
		`{"question": "q", "level": 1}`,
		`{}`,
		`{"question": "much too long for the rule", "level": 1}`,
	), nil)
	require.Len(t, rows, 1)
	require.Equal(t, 1, rows[0].Index)
	require.Equal(t, []string{"0 aaa", "0 level", "0 question", "0 zzz", "2 question", "3 question"}, places(errs))
	for _, e := range errs {
		require.NotEmpty(t, e.Message)
	}
}

func TestWhatIsNoColumnIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"note", "a", "b", "The question"} {
		doc := fmt.Sprintf(`{"question": "q", "level": 1, %q: "x"}`, name)
		rows, errs := seeding.Rows(compiled(t), items(t, doc), nil)
		require.Empty(t, rows, name)
		require.Equal(t, []string{"0 " + name}, places(errs))
	}
}

func TestNoRouteOutOfStartIsAnErrorOfTheItem(t *testing.T) {
	t.Parallel()
	rows, errs := seeding.Rows(compiled(t), items(t, `{"question": "q", "level": 3}`, `{"question": "q"}`, `{"question": "q", "level": 3}`), nil)
	require.Empty(t, rows)
	require.Equal(t, []string{"0 ", "1 ", "2 "}, places(errs))
	require.Contains(t, errs[0].Message, "start")
}

func TestProblemsOfTheReaderCount(t *testing.T) {
	t.Parallel()
	bad := item(t, `{"question": "q", "level": 1}`)
	bad.Problems = []form.Problem{{Field: "level", Message: "is given twice"}}
	rows, errs := seeding.Rows(compiled(t), []seeding.Item{bad}, nil)
	require.Empty(t, rows)
	require.Equal(t, []seeding.ItemError{{Index: 0, FieldName: "level", Message: "is given twice"}}, errs)
}

func TestAnItemReportsABoundedNumberOfErrors(t *testing.T) {
	t.Parallel()
	bad := item(t, `{"question": "q", "level": 1}`)
	for i := range 1000 {
		bad.Problems = append(bad.Problems, form.Problem{Field: fmt.Sprintf("f%04d", i), Message: "m"})
	}
	_, errs := seeding.Rows(compiled(t), []seeding.Item{bad}, nil)
	require.Len(t, errs, 21)
	require.Empty(t, errs[0].FieldName)
	require.Contains(t, errs[0].Message, "1000")

	bad.Problems, bad.More = bad.Problems[:20], 980
	_, counted := seeding.Rows(compiled(t), []seeding.Item{bad}, nil)
	require.Equal(t, errs, counted, "those that were only counted are in the number")
}

// Each failed item has an error, however many there are of the others.
func TestABatchReportsABoundedNumberOfErrors(t *testing.T) {
	t.Parallel()
	p := compiled(t)
	wrong := make([]seeding.Item, 5000)
	for i := range wrong {
		wrong[i] = item(t, `{"question": "q", "level": 1}`)
		for j := range 30 {
			wrong[i].Problems = append(wrong[i].Problems, form.Problem{Field: fmt.Sprintf("f%02d", j), Message: "m"})
		}
	}
	_, created := seeding.Rows(p, wrong, nil)
	uploaded, _ := seeding.PreCheck(p, wrong, nil)
	for _, errs := range [][]seeding.ItemError{created, uploaded} {
		require.Len(t, errs, seeding.MaxErrors)
		listed := map[int]int{}
		for _, e := range errs {
			listed[e.Index]++
		}
		require.Len(t, listed, 5000)
		require.Equal(t, 21, listed[0])
		require.Equal(t, 1, listed[4999])
		last := errs[len(errs)-1]
		require.Equal(t, seeding.ItemError{Index: 4999, FieldName: "f00", Message: "m (29 other problems of this item are not listed)"}, last)
	}

	_, few := seeding.Rows(p, wrong[:400], nil)
	require.Len(t, few, 400*21, "a batch within the bound lists all that its items may")
}

// Of 4,980 items with ten problems each, 557 list all ten and the next one what
// is left for it.
func TestAnItemAtTheBoundTellsHowManyAreListed(t *testing.T) {
	t.Parallel()
	batch := make([]seeding.Item, 4980)
	for i := range batch {
		batch[i] = item(t, `{}`)
		for range 9 {
			batch[i].Problems = append(batch[i].Problems, form.Problem{Field: "zzz", Message: "m"})
		}
	}
	_, errs := seeding.Rows(compiled(t), batch, nil)
	require.Len(t, errs, seeding.MaxErrors)
	require.Equal(t, seeding.ItemError{Index: 557, Message: "has 10 problems, of which the first 7 are listed"}, errs[5570])
	require.Equal(t, 557, errs[5577].Index)
	require.Equal(t, 558, errs[5578].Index)
	require.Equal(t, 559, errs[5579].Index)
}

func TestFieldNamesCanBeAnsweredAndStored(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	_, errs := seeding.Rows(compiled(t), []seeding.Item{{Fields: form.Values{
		"question": json.RawMessage(`"q"`), "level": json.RawMessage(`1`),
		"nul\x00": json.RawMessage(`1`), long: json.RawMessage(`1`),
	}}}, nil)
	require.Equal(t, "nul\uFFFD", errs[0].FieldName)
	require.Equal(t, strings.Repeat("ä", 200)+"…", errs[1].FieldName)
	for _, e := range errs {
		require.NotContains(t, e.Message, "\x00")
		require.Less(t, len(e.Message), 1000)
	}
}

func TestNoItemsNoRows(t *testing.T) {
	t.Parallel()
	rows, errs := seeding.Rows(compiled(t), nil, nil)
	require.Empty(t, rows)
	require.Empty(t, errs)
}

func BenchmarkRows(b *testing.B) {
	p := compiled(&testing.T{})
	batch := make([]seeding.Item, 5000)
	for i := range batch {
		batch[i] = seeding.Item{Fields: form.Values{"question": json.RawMessage(`"what?"`), "level": json.RawMessage(`1`)}}
	}
	b.ReportAllocs()
	for b.Loop() {
		seeding.Rows(p, batch, nil)
	}
}

// costly is a pipeline whose seeded text has a pattern, or where a condition at the start
// has it, that counts as nine hundred steps a byte and takes a text of a.
func costly(t *testing.T, atStart bool) *pipeline.Pipeline {
	t.Helper()
	const pattern = `"b{900}|a*"`
	rules, when := `{"pattern": `+pattern+`}`, ``
	if atStart {
		rules, when = `{}`, `, "when": {"field": "text", "op": "matches", "value": `+pattern+`}`
	}
	d, err := pipeline.Parse([]byte(`{
		"name": "Costly",
		"nodes": [
			{"key": "start", "kind": "start"},
			{"key": "all", "kind": "subtask", "fields": [
				{"name": "text", "type": "long_text", "input": "seeded", "rules": ` + rules + `},
				{"name": "a", "type": "short_text", "input": "contributor"}]},
			{"key": "some", "kind": "subtask", "fields": [{"name": "b", "type": "short_text", "input": "contributor"}]},
			{"key": "end", "kind": "end"}],
		"edges": [
			{"from": "start", "to": "all"}, {"from": "start", "to": "some"` + when + `},
			{"from": "all", "to": "end"}, {"from": "some", "to": "end"}]}`))
	require.NoError(t, err)
	require.Empty(t, pipeline.Validate(d, pipeline.Options{}))
	return pipeline.Compile(d)
}

// Each item fits, but all of a batch would keep the processor busy for minutes. What is
// over the bound is refused, and never led elsewhere for what stands beside it.
func TestMatchingABatchIsBounded(t *testing.T) {
	t.Parallel()
	const long = 70
	batch := items(t, slices.Repeat([]string{`{"text": "` + strings.Repeat("a", 10_000) + `"}`}, long)...)
	batch = append(batch, item(t, `{"text": "aaa"}`))
	for _, atStart := range []bool{false, true} {
		t.Run(fmt.Sprint("at start ", atStart), func(t *testing.T) {
			t.Parallel()
			p := costly(t, atStart)
			field, fit := "text", 11 // of 9 million steps each
			if atStart {
				field, fit = "", 55
			}
			rows, errs := seeding.Rows(p, batch, seeding.Budget(batch))
			require.Len(t, rows, fit+1, "and the short one")
			require.Equal(t, long, rows[fit].Index)
			require.Len(t, errs, long-fit)
			for i, e := range errs {
				require.Equal(t, fit+i, e.Index)
				require.Equal(t, field, e.FieldName)
				require.Contains(t, e.Message, "are too long together; give fewer or shorter ones")
			}
			for _, r := range rows {
				require.Equal(t, task.NodeAvailable, r.State.Nodes[1].Status, r.State.Nodes[1].Key)
			}
			checked, ok := seeding.PreCheck(p, batch, seeding.Budget(batch))
			require.Equal(t, errs, checked)
			require.True(t, ok[fit-1])
			require.False(t, ok[fit])

			rows, errs = seeding.Rows(p, batch, nil)
			require.Empty(t, errs)
			require.Len(t, rows, len(batch))
		})
	}
}

// As many items as a request may have, short ones, are not too much together for what
// integrators write: a pattern that counts characters, and numbers with exponents.
func TestManyShortItemsAreWithinTheirBudget(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Parse([]byte(`{
		"name": "Short",
		"nodes": [
			{"key": "start", "kind": "start"},
			{"key": "solve", "kind": "subtask", "fields": [
				{"name": "text", "type": "short_text", "input": "seeded", "rules": {"pattern": "[A-Za-z0-9 ]{1,255}"}},
				{"name": "odds", "type": "json", "input": "seeded"},
				{"name": "a", "type": "short_text", "input": "contributor"}]},
			{"key": "end", "kind": "end"}],
		"edges": [{"from": "start", "to": "solve"}, {"from": "solve", "to": "end"}]}`))
	require.NoError(t, err)
	require.Empty(t, pipeline.Validate(d, pipeline.Options{}))
	one := item(t, `{"text": "`+strings.Repeat("a", 200)+`", "odds": [1e-40`+strings.Repeat(", 1e-40", 49)+`]}`)
	batch := slices.Repeat([]seeding.Item{one}, 5000)
	rows, errs := seeding.Rows(pipeline.Compile(d), batch, seeding.Budget(batch))
	require.Empty(t, errs)
	require.Len(t, rows, len(batch))
}
