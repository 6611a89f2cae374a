package form_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
)

func decode(data string) (form.Field, error) {
	var f form.Field
	dec := json.NewDecoder(strings.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(&f)
	return f, err
}

func TestDefinitionsDecodeStrictly(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ definition, fault string }{
		"a plain field":             {`{"name":"a","type":"short_text","input":"seeded"}`, ""},
		"options as bare strings":   {`{"name":"a","type":"select","input":"seeded","options":["x",{"value":"y","label":"Y"}]}`, ""},
		"tools as bare strings":     {`{"name":"a","llm":{"model":"m","prompt":"p","tools":["t",{"name":"u","parameters":{}}]}}`, ""},
		"an unknown key":            {`{"name":"a","colour":"red"}`, `unknown field "colour"`},
		"an unknown rule":           {`{"name":"a","rules":{"maxchars":3}}`, `unknown field "maxchars"`},
		"an unknown key of options": {`{"name":"a","options":[{"value":"x","text":"X"}]}`, `an option: json: unknown field "text"`},
		"a number as option":        {`{"name":"a","options":[1]}`, `an option is a string or an object, not "1"`},
		"null as option":            {`{"name":"a","options":[null]}`, `an option is a string or an object, not "null"`},
		"an unknown key of tools":   {`{"name":"a","llm":{"tools":[{"nom":"x"}]}}`, `a tool: json: unknown field "nom"`},
		"an unknown condition key":  {`{"name":"a","visible_when":{"filed":"x"}}`, `unknown field "filed"`},
		"a fraction of characters":  {`{"name":"a","rules":{"max_chars":1.5}}`, "max_chars"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			field, err := decode(row.definition)
			if row.fault != "" {
				require.ErrorContains(t, err, row.fault)
				return
			}
			require.NoError(t, err)
			again, err := decode(string(raw(t, field)))
			require.NoError(t, err)
			require.Equal(t, field, again)
		})
	}
}

func TestAnOptionMayBeABareString(t *testing.T) {
	t.Parallel()
	field, err := decode(`{"name":"a","options":["x"]}`)
	require.NoError(t, err)
	require.Equal(t, []form.Option{{Value: "x"}}, field.Options)
}

func TestAFieldThatHasLittleEncodesToLittle(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `{"name":"a","type":"short_text","input":"contributor"}`,
		string(raw(t, form.Field{Name: "a", Type: form.ShortText, Input: form.Contributor})))
}

func TestValuesThatAreNotJSONAreReported(t *testing.T) {
	t.Parallel()
	f := form.New([]form.Field{
		{Name: "s", Type: form.ShortText, Input: form.Seeded}, {Name: "c", Type: form.JSON, Input: form.Contributor},
	})
	for _, broken := range []string{"", "{", `"`, `"a`, "nul", "1 2", "\"\xff\"", "01", "+1", "[1,]", `{"a"}`, `"\q"`, `"\u12g4"`, "\x00"} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			require.Len(t, f.CheckSeed(form.Values{"s": json.RawMessage(broken)}, form.NewBudget()), 1)
			_, problems := f.CheckSubmission(form.Values{"c": json.RawMessage(broken)}, form.Values{"s": json.RawMessage(broken)})
			require.Len(t, problems, 1)
			require.Len(t, f.CheckDraft(form.Values{"c": json.RawMessage(broken)}), 1)
			require.False(t, form.Condition{Field: "s", Op: form.OpNotEmpty}.Eval(form.Values{"s": json.RawMessage(broken)}))
		})
	}
}

func TestCheckValueKnowsEveryInput(t *testing.T) {
	t.Parallel()
	f := form.New([]form.Field{
		{Name: "n", Type: form.Number, Input: form.LLM, Required: true, Rules: form.Rules{Max: json.RawMessage(`3`)}},
		{Name: "o", Type: form.Number, Input: form.LLM},
	})
	for value, says := range map[string]string{`2`: "", `4`: "more than the maximum", `null`: "is required, got null", `"2"`: "expected a number", `{`: "not valid JSON"} {
		problems := f.CheckValue("n", json.RawMessage(value), nil)
		if says == "" {
			require.Empty(t, problems)
			continue
		}
		require.Len(t, problems, 1)
		require.Contains(t, problems[0].Message, says)
	}
	require.Empty(t, f.CheckValue("o", json.RawMessage(`null`), nil))
	require.Len(t, f.CheckValue("zz", json.RawMessage(`1`), nil), 1)
}

func TestConditionFieldsAreNamedOnce(t *testing.T) {
	t.Parallel()
	var c form.Condition
	require.NoError(t, json.Unmarshal([]byte(`{"all":[{"field":"b.x","op":"empty"},{"any":[{"field":"a","op":"empty"},{"not":{"field":"b","op":"empty"}}]}]}`), &c))
	require.Equal(t, []string{"b", "a"}, c.Fields())
}

func TestPromptsAreRenderedOnce(t *testing.T) {
	t.Parallel()
	g := form.Generation{Prompt: "{{a}} {{ b }} {{a}} {{1}} {{}} {c}"}
	require.Equal(t, []string{"a", "b"}, g.Names())
	require.Equal(t, "<{{b}}> <b> <{{b}}> {{1}} {{}} {c}", g.Render(func(name string) string {
		return map[string]string{"a": "<{{b}}>", "b": "<b>"}[name]
	}))
}

func TestTypesAndInputs(t *testing.T) {
	t.Parallel()
	require.Len(t, form.Types(), 27)
	display := []form.Type{}
	for _, typ := range form.Types() {
		require.True(t, typ.Valid())
		if typ.Display() {
			display = append(display, typ)
		}
	}
	require.Equal(t, []form.Type{form.Image, form.Audio, form.Video, form.PDF, form.StaticContent}, display)
	require.False(t, form.Type("").Valid())
	for _, input := range form.Inputs() {
		require.True(t, input.Valid())
	}
	require.False(t, form.Input("").Valid())
}

func TestAFormCannotBeChangedThroughWhatItReturns(t *testing.T) {
	t.Parallel()
	fields := []form.Field{{Name: "s", Type: form.Select, Input: form.Seeded, Options: []form.Option{{Value: "a"}}}}
	f := form.New(fields)
	fields[0].Input = form.Contributor
	f.Fields()[0].Input = form.Contributor
	f.Schema()[0].FormatHint.([]string)[0] = "z"
	require.Equal(t, []string{"a"}, f.Schema()[0].FormatHint)
	require.Empty(t, f.CheckSeed(form.Values{"s": json.RawMessage(`"a"`)}, form.NewBudget()))
}

func TestWhatIsKeptIsNotTheCallersMemory(t *testing.T) {
	t.Parallel()
	f := form.New([]form.Field{{Name: "s", Type: form.ShortText, Input: form.Contributor}})
	sent := []byte(` "abc" `)
	kept, problems := f.CheckSubmission(form.Values{"s": sent}, nil)
	require.Empty(t, problems)
	copy(sent, bytes.Repeat([]byte("x"), len(sent)))
	require.Equal(t, `"abc"`, string(kept["s"]))
}

func TestAFormServesManyAtOnce(t *testing.T) {
	t.Parallel()
	f := seedForm(t)
	values := seedValues(t, 200)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				f.CheckSeed(values, form.NewBudget())
				f.Schema()
				f.Visible(values)
				f.CheckSubmission(form.Values{"sure": json.RawMessage("false")}, values)
				f.Problems(nil, form.NewBudget())
			}
		})
	}
	group.Wait()
}

func TestPatternsOfTheSchemaHaveSamples(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"[A-Z]{3}-\\d{4}", "(foo|bar)+x?", "\\p{Greek}+", "[^a-z]", ".+", "a*", "\\w+@\\w+\\.com", "[\\t-\\r]x", "(?i)abc", "[\\x{1F600}-\\x{1F64F}]", "^abc$", "\\d+(\\.\\d+)?",
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			f := form.New([]form.Field{{Name: "s", Type: form.ShortText, Input: form.Seeded, Required: true, Rules: form.Rules{Pattern: pattern}}})
			require.Empty(t, f.Problems(nil, form.NewBudget()))
			require.Empty(t, f.CheckSeed(form.Values{"s": f.Schema()[0].Example}, form.NewBudget()))
		})
	}
}
