package form_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/taskloom/taskloom/internal/form"
)

func seedForm(tb testing.TB) *form.Form {
	tb.Helper()
	var fields []form.Field
	err := json.Unmarshal([]byte(`[
		{"name":"question","type":"long_text","input":"seeded","required":true,"rules":{"max_chars":100000,"max_words":50000}},
		{"name":"id","type":"short_text","input":"seeded","required":true,"rules":{"pattern":"[a-z]+-[0-9]+"}},
		{"name":"level","type":"select","input":"seeded","options":["easy","hard"]},
		{"name":"year","type":"integer","input":"seeded","rules":{"min":1900,"max":2100}},
		{"name":"score","type":"number","input":"seeded","rules":{"min":0,"max":1}},
		{"name":"day","type":"date","input":"seeded"},
		{"name":"tags","type":"list","input":"seeded","rules":{"unique":true}},
		{"name":"chat","type":"chat","input":"seeded"},
		{"name":"answer","type":"short_text","input":"contributor","required":true,"rules":{"max_chars":40}},
		{"name":"sure","type":"boolean","input":"contributor"},
		{"name":"doubt","type":"long_text","input":"contributor","visible_when":{"field":"sure","op":"eq","value":false}}]`), &fields)
	if err != nil {
		tb.Fatal(err)
	}
	return form.New(fields)
}

func seedValues(tb testing.TB, chars int) form.Values {
	tb.Helper()
	text := strings.Repeat("What is 17 times 3? ", chars/20)
	var values form.Values
	err := json.Unmarshal(fmt.Appendf(nil, `{"question":%q,"id":"gsm-17","level":"easy","year":2026,"score":0.25,"day":"2026-11-20",
		"tags":["a","b","c"],"chat":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello\nworld"}]}`, text), &values)
	if err != nil {
		tb.Fatal(err)
	}
	return values
}

// BenchmarkCheckSeed is one task; a request holds up to 5,000 in 32 MB, about 6,400 bytes each.
func BenchmarkCheckSeed(b *testing.B) {
	f := seedForm(b)
	for _, chars := range []int{200, 6000, 100_000} {
		values := seedValues(b, chars)
		if p := f.CheckSeed(values, form.NewBudget()); p != nil {
			b.Fatal(p)
		}
		b.Run(fmt.Sprintf("%d_chars", chars), func(b *testing.B) {
			size := 0
			for _, raw := range values {
				size += len(raw)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				f.CheckSeed(values, form.NewBudget())
			}
		})
	}
}

func BenchmarkCheckSubmission(b *testing.B) {
	f := seedForm(b)
	context := seedValues(b, 6000)
	submitted := form.Values{"answer": json.RawMessage(`"51"`), "sure": json.RawMessage(`false`), "doubt": json.RawMessage(`"none"`)}
	b.ReportAllocs()
	for b.Loop() {
		f.CheckSubmission(submitted, context)
	}
}

func BenchmarkNew(b *testing.B) {
	fields := seedForm(b).Fields()
	b.ReportAllocs()
	for b.Loop() {
		form.New(fields)
	}
}

func BenchmarkConditionEval(b *testing.B) {
	var c form.Condition
	if err := json.Unmarshal([]byte(`{"all":[{"field":"sure","op":"eq","value":false},{"not":{"field":"id","op":"matches","value":"[0-9]+"}}]}`), &c); err != nil {
		b.Fatal(err)
	}
	values := form.Values{"sure": json.RawMessage(`false`), "id": json.RawMessage(`"gsm-17"`)}
	b.Run("as it is", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Eval(values)
		}
	})
	b.Run("compiled", func(b *testing.B) {
		compiled := c.Compile()
		b.ReportAllocs()
		for b.Loop() {
			compiled.Holds(form.Know(values, form.NewBudget()))
		}
	})
}
