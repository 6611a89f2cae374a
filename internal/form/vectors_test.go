package form_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
)

// The vectors are shared with the web app; testdata/vectors/README.md explains their shape.
type vectorFile struct {
	About  string          `json:"about"`
	Fields json.RawMessage `json:"fields"`
	Cases  []vector        `json:"cases"`
}

type vector struct {
	Name      string          `json:"name"`
	Fields    json.RawMessage `json:"fields"`
	Upstream  json.RawMessage `json:"upstream"`
	Values    form.Values     `json:"values"`
	Context   form.Values     `json:"context"`
	Condition *form.Condition `json:"condition"`
	Text      *string         `json:"text"`
	GoOnly    string          `json:"go_only"`
	Expect    expectation     `json:"expect"`
}

type expectation struct {
	Submission     *submission        `json:"submission"`
	Seed           *[]expected        `json:"seed"`
	Draft          *[]expected        `json:"draft"`
	Visible        map[string]bool    `json:"visible"`
	Definition     *[]expected        `json:"definition"`
	Holds          *bool              `json:"holds"`
	Condition      *[]expected        `json:"condition"`
	Counts         *form.Counts       `json:"counts"`
	Schema         *[]json.RawMessage `json:"schema"`
	HasFileUpload  *bool              `json:"has_file_upload"`
	OnlyFileUpload *bool              `json:"only_file_upload"`
}

type submission struct {
	Kept     form.Values `json:"kept"`
	Problems []expected  `json:"problems"`
}

type expected struct {
	Field string `json:"field"`
	Path  string `json:"path"`
	Says  string `json:"says"`
}

func TestVectors(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/vectors/*.json")
	require.NoError(t, err)
	covered := map[string]bool{}
	for _, path := range files {
		covered[strings.TrimSuffix(filepath.Base(path), ".json")] = true
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			var file vectorFile
			read(t, path, &file)
			require.NotEmpty(t, file.About)
			for i := range file.Cases {
				v := &file.Cases[i]
				if v.Fields == nil {
					v.Fields = file.Fields
				}
				t.Run(v.Name, func(t *testing.T) {
					t.Parallel()
					v.run(t)
				})
			}
		})
	}
	for _, typ := range form.Types() {
		require.True(t, covered[string(typ)], "no vectors for %s", typ)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	strict(t, data, into)
}

func strict(t *testing.T, data []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(into))
}

func (v *vector) run(t *testing.T) {
	t.Helper()
	fields := definitions(t, v.Fields)
	f := form.New(fields)
	values, context := unfold(t, v.Values), unfold(t, v.Context)
	e := &v.Expect
	require.NotEqual(t, expectation{}, *e, "a vector expects nothing")
	if e.Submission != nil {
		kept, problems := f.CheckSubmission(values, context)
		requireProblems(t, e.Submission.Problems, problems)
		if len(problems) == 0 {
			requireValues(t, unfold(t, e.Submission.Kept), kept)
		} else {
			require.Nil(t, kept)
		}
	}
	if e.Seed != nil {
		requireProblems(t, *e.Seed, f.CheckSeed(values, form.NewBudget()))
	}
	if e.Draft != nil {
		requireProblems(t, *e.Draft, f.CheckDraft(values))
	}
	if e.Visible != nil {
		all := form.Values{}
		for _, layer := range []form.Values{values, context} {
			maps.Copy(all, layer)
		}
		require.Equal(t, e.Visible, f.Visible(all))
	}
	if e.Definition != nil {
		requireProblems(t, *e.Definition, f.Problems(definitions(t, v.Upstream), form.NewBudget()))
	}
	if e.Holds != nil {
		require.Equal(t, *e.Holds, v.Condition.Eval(values))
	}
	if e.Condition != nil {
		requireProblems(t, *e.Condition, v.Condition.Problems(func(name string) (form.Field, bool) {
			for _, field := range fields {
				if field.Name == name {
					return field, true
				}
			}
			return form.Field{}, false
		}, form.NewBudget()))
	}
	if e.Counts != nil {
		require.Equal(t, *e.Counts, form.Count(*v.Text))
	}
	if e.Schema != nil {
		requireSchema(t, *e.Schema, f)
	}
	if e.HasFileUpload != nil {
		require.Equal(t, *e.HasFileUpload, f.HasFileUpload())
	}
	if e.OnlyFileUpload != nil {
		require.Equal(t, *e.OnlyFileUpload, f.OnlyFileUpload())
	}
}

func definitions(t *testing.T, raw json.RawMessage) []form.Field {
	t.Helper()
	var fields []form.Field
	if len(raw) > 0 {
		strict(t, unfoldRaw(t, raw), &fields)
	}
	return fields
}

// requireProblems compares number, order, field and path, and that each message says what is expected.
func requireProblems(t *testing.T, want []expected, got []form.Problem) {
	t.Helper()
	require.Len(t, got, len(want), "%v", got)
	for i, p := range got {
		require.Equal(t, want[i].Field, p.Field, "%v", got)
		require.Equal(t, want[i].Path, p.Path, "%v", got)
		require.Contains(t, p.Message, want[i].Says)
		require.Less(t, len(p.Message), 2000)
	}
}

func requireValues(t *testing.T, want, got form.Values) {
	t.Helper()
	require.Len(t, got, len(want), "%s", got)
	for name, raw := range want {
		require.Contains(t, got, name)
		require.JSONEq(t, string(raw), string(got[name]))
	}
}

func requireSchema(t *testing.T, want []json.RawMessage, f *form.Form) {
	t.Helper()
	entries := f.Schema()
	require.Len(t, entries, len(want))
	examples := form.Values{}
	for i, entry := range entries {
		got, err := json.Marshal(entry)
		require.NoError(t, err)
		require.JSONEq(t, string(want[i]), string(got))
		_, isList := entry.FormatHint.([]string)
		require.Equal(t, bytes.HasPrefix(bytes.TrimSpace(raw(t, entry.FormatHint)), []byte("[")), isList)
		examples[entry.Name] = entry.Example
	}
	require.Empty(t, f.CheckSeed(examples, form.NewBudget()))
}

func raw(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// unfold replaces the notations for values that a file should not spell out, see README.md.
func unfold(t *testing.T, values form.Values) form.Values {
	t.Helper()
	out := form.Values{}
	for name, raw := range values {
		out[name] = unfoldRaw(t, raw)
	}
	return out
}

func unfoldRaw(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if !bytes.Contains(raw, []byte(`{"$`)) {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	out, err := json.Marshal(unfoldAny(t, v))
	require.NoError(t, err)
	return out
}

func unfoldAny(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unfoldAny(t, v[i])
		}
	case map[string]any:
		if s, ok := v["$raw"].(string); ok {
			return json.RawMessage(s)
		}
		times := 0
		if n, ok := v["times"].(json.Number); ok {
			n, err := n.Int64()
			require.NoError(t, err)
			times = int(n)
		}
		if s, ok := v["$repeat"].(string); ok {
			return strings.Repeat(s, times)
		}
		if item, ok := v["$array_of"]; ok {
			items := make([]any, times)
			for i := range items {
				items[i] = item
			}
			return items
		}
		if n, ok := v["$nest"].(json.Number); ok {
			depth, err := n.Int64()
			require.NoError(t, err)
			return json.RawMessage(strings.Repeat("[", int(depth)) + strings.Repeat("]", int(depth)))
		}
		for key := range v {
			v[key] = unfoldAny(t, v[key])
		}
	}
	return v
}
