package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"testing"
	"unicode/utf8"
)

func strictly(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

func FuzzCondition(f *testing.F) {
	f.Add([]byte(`{"all":[{"field":"a","op":"eq","value":1},{"not":{"any":[{"field":"b.c","op":"matches","value":"x+"}]}}]}`), []byte(`{"a":1,"b":{"c":"xx"}}`))
	f.Add([]byte(`{"field":"a","op":"in","value":[null,"x"]}`), []byte(`{"a":[]}`))
	f.Add([]byte(`{"field":"a","op":"gt","value":"2026-01-01"}`), []byte(`{"a":"2026-01-02"}`))
	f.Fuzz(func(t *testing.T, condition, data []byte) {
		var c Condition
		if strictly(condition, &c) != nil {
			return
		}
		var values Values
		if json.Unmarshal(data, &values) != nil {
			values = Values{"a": data}
		}
		not := Condition{Not: &c}
		if holds := c.Eval(values); !not.tooDeep(1) && not.Eval(values) == holds {
			t.Fatalf("a condition and its negation are both %v", holds)
		}
		for _, typ := range types {
			c.Problems(func(name string) (Field, bool) { return Field{Name: name, Type: typ}, true }, NewBudget())
		}
		c.Fields()
	})
}

// tooDeep reports whether a part stands deeper than Eval looks.
func (c *Condition) tooDeep(depth int) bool {
	if depth > MaxConditionDepth {
		return true
	}
	for i := range c.All {
		if c.All[i].tooDeep(depth + 1) {
			return true
		}
	}
	for i := range c.Any {
		if c.Any[i].tooDeep(depth + 1) {
			return true
		}
	}
	return c.Not != nil && c.Not.tooDeep(depth+1)
}

func FuzzPattern(f *testing.F) {
	f.Add("[a-z]+-[0-9]{2}", "ab-12")
	f.Add("(?i)a|b", "B")
	f.Add(".{1000}.{1000}.{1000}", "")
	f.Fuzz(func(t *testing.T, source, s string) {
		p, err := compilePattern(source, NewBudget())
		if err != nil || p == nil {
			return
		}
		if utf8.RuneCountInString(source) > maxPatternChars {
			t.Fatalf("a pattern of %d bytes was compiled", len(source))
		}
		if p.matches(s) && !regexp.MustCompile(source).MatchString(s) {
			t.Fatalf("%q matches %q only with anchors", s, source)
		}
		if sample, ok := p.sample(); ok && !p.matches(sample) {
			t.Fatalf("the sample %q does not match %q", sample, source)
		}
	})
}

func FuzzField(f *testing.F) {
	for _, typ := range types {
		f.Add([]byte(`{"name":"f","type":"`+string(typ)+`","input":"seeded","options":["a"],"rows":["a"],"items":["a","b"],"labels":["a"],"columns":[{"name":"a","type":"number"}]}`), []byte(`"a"`))
	}
	f.Add([]byte(`{"name":"f","type":"list","input":"contributor","item_type":"select","options":["a"],"rules":{"min":1,"step":0,"pattern":"["}}`), []byte(`["a",null,[{}]]`))
	f.Fuzz(func(t *testing.T, definition, raw []byte) {
		var field Field
		if strictly(definition, &field) != nil {
			return
		}
		fields := []Field{field, {Name: "g", Type: LongText, Input: Seeded}, field}
		form := New(fields)
		form.Problems(fields, NewBudget())
		form.Problems(nil, NewBudget())
		values := Values{field.Name: raw, "g": json.RawMessage(`"text"`)}
		form.CheckSeed(values, NewBudget())
		form.CheckDraft(values)
		form.CheckValue(field.Name, raw, values)
		form.Visible(values)
		kept, problems := form.CheckSubmission(values, values)
		if (kept == nil) != (len(problems) > 0) {
			t.Fatalf("kept %v with problems %v", kept, problems)
		}
		for _, entry := range form.Schema() {
			if !json.Valid(entry.JSONSchema) || !json.Valid(entry.Example) {
				t.Fatalf("the schema is not JSON: %+v", entry)
			}
		}
	})
}

func FuzzCheckSeed(f *testing.F) {
	fields := []Field{
		{Name: "t", Type: LongText, Input: Seeded, Required: true, Rules: Rules{MaxChars: new(50), MaxWords: new(10)}},
		{Name: "s", Type: TextSpans, Input: Seeded, Source: "t", Labels: []Option{{Value: "a"}}},
		{Name: "l", Type: List, Input: Seeded, Rules: Rules{Unique: true}},
		{Name: "r", Type: Ranking, Input: Seeded, Source: "l", AllowTies: true},
		{Name: "n", Type: Number, Input: Seeded, Rules: Rules{Min: json.RawMessage(`0.5`), Step: json.RawMessage(`0.1`)}},
		{Name: "c", Type: Chat, Input: Seeded},
		{Name: "j", Type: JSON, Input: Seeded},
		{Name: "u", Type: URL, Input: Seeded},
		{Name: "d", Type: Datetime, Input: Seeded},
	}
	form := New(fields)
	f.Add([]byte(`{"t":"a b","s":[{"start":0,"end":1,"label":"a","text":"a"}],"l":["x","y"],"r":[["y"],"x"],"n":0.8,"c":[{"role":"user","content":"x"}]}`))
	f.Add([]byte(`{"j":{"a":[1e5,-0,"\ud83d\ude00"]},"u":"https://example.com","d":"2026-11-20T08:00:00.5+05:30","x":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var values Values
		if json.Unmarshal(data, &values) != nil {
			values = Values{"t": data, "j": data, "n": data, "s": data}
		}
		for _, p := range form.CheckSeed(values, NewBudget()) {
			if p.Message == "" || !utf8.ValidString(p.Message) || !utf8.ValidString(p.Path) {
				t.Fatalf("a message that cannot be sent: %+v", p)
			}
		}
	})
}

// FuzzParse compares the parser with encoding/json, and its output with its input.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\u00e9\ud83d\ude00\n"],"b":null}`, `"\ud800"`, `"\u0000"`, `01`, `[1,]`, ` true `, "\"\xff\"", `1e400`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parse(data)
		_, scanned := scan(data)
		if !errors.Is(scanned, err) {
			t.Fatalf("parse says %v, scan %v", err, scanned)
		}
		if valid := json.Valid(data); err == nil && !valid || errors.Is(err, errMalformed) && valid {
			t.Fatalf("json.Valid says %v, parse %v", valid, err)
		}
		if err != nil {
			return
		}
		var theirs, ours any
		if json.Unmarshal(data, &theirs) != nil || json.Unmarshal(v.appendJSON(nil), &ours) != nil {
			t.Fatalf("%q became %q", data, v.appendJSON(nil))
		}
		a, _ := parse(marshal(theirs))
		b, _ := parse(marshal(ours))
		if !v.hasCRLF() && !equal(&a, &b) {
			t.Fatalf("%q became %q", data, v.appendJSON(nil))
		}
	})
}
