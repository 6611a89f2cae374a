package form_test

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"github.com/taskloom/taskloom/internal/form"
)

// drawField draws a sound definition of any type that a contributor may fill.
func drawField(t *rapid.T, name string, input form.Input, earlier []form.Field) form.Field {
	var fillable []form.Type
	for _, typ := range form.Types() {
		if !typ.Display() {
			fillable = append(fillable, typ)
		}
	}
	f := form.Field{Name: name, Type: rapid.SampledFrom(fillable).Draw(t, "type"), Input: input}
	f.Required = rapid.Bool().Draw(t, "required")
	choices := []form.Option{{Value: "a"}, {Value: "b", Label: "Bee"}, {Value: "c"}}
	r := &f.Rules
	switch f.Type {
	case form.ShortText, form.LongText, form.RichText, form.Code:
		least := rapid.IntRange(0, 20).Draw(t, "min")
		r.MinChars, r.MaxChars = new(least), new(least+rapid.IntRange(1, 40).Draw(t, "more"))
		if rapid.Bool().Draw(t, "words") {
			r.MinChars = nil
			r.MinWords = new(rapid.IntRange(0, (*r.MaxChars+1)/2).Draw(t, "min_words"))
		}
	case form.Select:
		f.Options, f.AllowOther = choices, rapid.Bool().Draw(t, "other")
	case form.MultiSelect:
		f.Options = choices
		r.MinItems, r.MaxItems = new(rapid.IntRange(0, 2).Draw(t, "min")), new(rapid.IntRange(2, 3).Draw(t, "max"))
	case form.Boolean:
		r.MustBeTrue = rapid.Bool().Draw(t, "must")
	case form.Number, form.Integer:
		least := rapid.IntRange(-50, 50).Draw(t, "min")
		r.Min, r.Max = encode(least), encode(least+rapid.IntRange(0, 50).Draw(t, "more"))
	case form.Rating:
		f.Scale = &form.Scale{Min: rapid.IntRange(0, 1).Draw(t, "min"), Max: rapid.IntRange(2, 9).Draw(t, "max"), Half: rapid.Bool().Draw(t, "half")}
	case form.Likert:
		f.Rows, f.Scale = choices, &form.Scale{Min: 1, Max: 5, AllowNA: rapid.Bool().Draw(t, "na")}
	case form.Ranking:
		f.AllowTies = rapid.Bool().Draw(t, "ties")
		if f.Source = pick(t, earlier, input, form.List, form.MultiSelect); f.Source == "" {
			f.Items = choices
		}
	case form.Table:
		f.Columns = []form.Column{{Name: "x", Type: form.LongText, Required: true}, {Name: "n", Type: form.Number}, {Name: "s", Type: form.Select, Options: choices}}
	case form.List:
		f.ItemType = rapid.SampledFrom([]form.Type{"", form.LongText, form.Number, form.Date, form.Boolean}).Draw(t, "item_type")
		r.MaxItems = new(rapid.IntRange(1, 5).Draw(t, "max"))
	case form.TextSpans:
		f.Labels = choices
		if f.Source = pick(t, earlier, input, form.ShortText, form.LongText, form.RichText, form.Code); f.Source == "" {
			f.Type, f.Labels = form.JSON, nil
		}
	case form.FileUpload:
		f.Multiple = rapid.Bool().Draw(t, "multiple")
	case form.Pairwise, form.Date, form.Datetime, form.URL, form.JSON, form.Chat, form.Image, form.Audio, form.Video,
		form.PDF, form.StaticContent:
	}
	return f
}

// pick names an earlier field of one of the types, or none.
func pick(t *rapid.T, earlier []form.Field, input form.Input, types ...form.Type) string {
	var names []string
	for _, f := range earlier {
		for _, typ := range types {
			if f.Type == typ && f.Input == input && f.ItemType != form.Number && f.ItemType != form.Boolean {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return rapid.SampledFrom(names).Draw(t, "source")
}

func drawFields(t *rapid.T, input form.Input) []form.Field {
	var fields []form.Field
	for i := range rapid.IntRange(1, 6).Draw(t, "fields") {
		f := drawField(t, fmt.Sprintf("f%d", i), input, fields)
		if i > 0 && rapid.Bool().Draw(t, "conditional") {
			f.VisibleWhen = drawCondition(t, fields, 3)
		}
		fields = append(fields, f)
	}
	return fields
}

func drawCondition(t *rapid.T, earlier []form.Field, depth int) *form.Condition {
	if depth > 0 {
		switch rapid.IntRange(0, 5).Draw(t, "shape") {
		case 0:
			return &form.Condition{Not: drawCondition(t, earlier, depth-1)}
		case 1:
			return &form.Condition{All: []form.Condition{*drawCondition(t, earlier, depth-1), *drawCondition(t, earlier, depth-1)}}
		case 2:
			return &form.Condition{Any: []form.Condition{*drawCondition(t, earlier, depth-1), *drawCondition(t, earlier, depth-1)}}
		}
	}
	c := &form.Condition{Field: rapid.SampledFrom(earlier).Draw(t, "field").Name, Op: rapid.SampledFrom(form.Ops()).Draw(t, "op")}
	switch c.Op {
	case form.OpEmpty, form.OpNotEmpty:
	case form.OpIn, form.OpNin:
		c.Value = encode([]any{drawScalar(t), drawScalar(t)})
	case form.OpMatches:
		c.Value = encode(rapid.SampledFrom([]string{".*", "[a-z]+", "a|b", "\\d+"}).Draw(t, "pattern"))
	default:
		c.Value = encode(drawScalar(t))
	}
	return c
}

var texts = []string{
	"", " ", "a", "b", "c", "a b c", "one two three four", "x\r\ny", "\r\n", "\u0085", "\ufeffa", "e\u0301", "\U0001F600 \U0001F600",
	"2026-11-20", "2026-11-20T08:00:00Z", "https://example.com/", "a long text that has quite a few words in it",
}

func drawScalar(t *rapid.T) any {
	switch rapid.IntRange(0, 4).Draw(t, "scalar") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "boolean")
	case 2:
		return rapid.SampledFrom([]float64{0, 1, 2, 2.5, -3, 5, 40, 1e300}).Draw(t, "number")
	}
	return rapid.SampledFrom(texts).Draw(t, "text")
}

// drawValue draws a value that often fits the field, and sometimes is anything.
func drawValue(t *rapid.T, f *form.Field) json.RawMessage {
	if rapid.IntRange(0, 3).Draw(t, "wild") == 0 {
		return encode(drawAny(t, 3))
	}
	text := func() string { return rapid.SampledFrom(texts).Draw(t, "text") }
	abc := func() string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "choice") }
	switch f.Type {
	case form.ShortText, form.LongText, form.RichText, form.Code:
		return encode(text())
	case form.Select:
		return encode(abc())
	case form.MultiSelect:
		return encode(rapid.SampledFrom([][]string{{"a"}, {"b", "a"}, {"a", "b", "c"}}).Draw(t, "choices"))
	case form.Boolean:
		return encode(rapid.Bool().Draw(t, "boolean"))
	case form.Number, form.Integer, form.Rating:
		return encode(rapid.IntRange(-60, 110).Draw(t, "number"))
	case form.Likert:
		return encode(map[string]any{"a": 1, "b": 5, "c": rapid.SampledFrom([]any{3, "na"}).Draw(t, "row")})
	case form.Pairwise:
		return encode(map[string]any{"choice": rapid.SampledFrom([]string{"a", "b", "tie", "x"}).Draw(t, "choice")})
	case form.Ranking:
		return encode(rapid.SampledFrom([]any{[]string{"a", "b", "c"}, []string{"c", "a", "b"}, []string{"b", "a"}, []string{"a"}, []any{[]string{"a", "b"}, "c"}}).Draw(t, "ranking"))
	case form.Date:
		return encode("2026-11-20")
	case form.Datetime:
		return encode("2026-11-20T08:00:00+01:00")
	case form.URL:
		return encode("https://example.com/")
	case form.Table:
		return encode([]any{map[string]any{"x": text(), "n": 1}})
	case form.List:
		item := map[form.Type]any{form.Number: 4, form.Date: "2026-11-20", form.Boolean: false}[f.ItemType]
		if item == nil {
			item = text()
		}
		return encode([]any{item})
	case form.Chat:
		return encode([]any{map[string]any{"role": "user", "content": text()}})
	case form.TextSpans:
		return encode([]any{map[string]any{"start": 0, "end": 1, "label": abc()}})
	case form.FileUpload:
		file := map[string]any{"file_id": "f", "name": "n", "size": 1}
		if f.Multiple {
			return encode([]any{file})
		}
		return encode(file)
	case form.JSON, form.Image, form.Audio, form.Video, form.PDF, form.StaticContent:
	}
	return encode(drawAny(t, 2))
}

func drawAny(t *rapid.T, depth int) any {
	if depth > 0 {
		switch rapid.IntRange(0, 4).Draw(t, "nesting") {
		case 0:
			items := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				items = append(items, drawAny(t, depth-1))
			}
			return items
		case 1:
			members := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				key := rapid.SampledFrom([]string{"a", "choice", "role", "content", "start", "end", "label", "url", "x"}).Draw(t, "key")
				members[key] = drawAny(t, depth-1)
			}
			return members
		}
	}
	return drawScalar(t)
}

func drawValues(t *rapid.T, fields []form.Field) form.Values {
	values := form.Values{}
	for i := range fields {
		if rapid.IntRange(0, 4).Draw(t, "answered") > 0 {
			values[fields[i].Name] = drawValue(t, &fields[i])
		}
	}
	return values
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
