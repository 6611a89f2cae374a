package form_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/form"
)

// costly counts as nine hundred steps a byte, and takes none of them for a text of a.
var costly = form.Rules{Pattern: "b{900}|a*"}

// listOfTexts has so many texts of so many a, as JSON.
func listOfTexts(n, chars int) json.RawMessage {
	return json.RawMessage("[" + strings.Join(slices.Repeat([]string{`"` + strings.Repeat("a", chars) + `"`}, n), ",") + "]")
}

// Each text fits, but a list of them would be matched for minutes.
func TestMatchingManyTextsIsBounded(t *testing.T) {
	t.Parallel()
	list := func(name string, input form.Input) form.Field {
		return form.Field{Name: name, Type: form.List, ItemType: form.LongText, Input: input, Rules: costly}
	}
	requireRefused := func(t *testing.T, problems []form.Problem, field, path string) {
		t.Helper()
		require.Len(t, problems, 1)
		require.Equal(t, field, problems[0].Field)
		require.Equal(t, path, problems[0].Path)
		require.Contains(t, problems[0].Message, "too long together; give fewer or shorter ones")
	}
	seeded, answered := form.New([]form.Field{list("a", form.Seeded)}), form.New([]form.Field{list("a", form.Contributor)})
	most, tooMany := form.Values{"a": listOfTexts(10, 10_000)}, form.Values{"a": listOfTexts(50, 10_000)}
	require.Empty(t, seeded.CheckSeed(most, form.NewBudget()))
	requireRefused(t, seeded.CheckSeed(tooMany, form.NewBudget()), "a", "/11")
	requireRefused(t, seeded.CheckValue("a", tooMany["a"], nil), "a", "/11")
	kept, problems := answered.CheckSubmission(most, nil)
	require.Empty(t, problems)
	require.Equal(t, most, kept)
	_, problems = answered.CheckSubmission(tooMany, nil)
	requireRefused(t, problems, "a", "/11")

	t.Run("the next submission has all of it again", func(t *testing.T) {
		_, problems := answered.CheckSubmission(most, nil)
		require.Empty(t, problems)
	})
	t.Run("the sum of several fields", func(t *testing.T) {
		f := form.New([]form.Field{list("a", form.Contributor), list("b", form.Contributor)})
		_, problems := f.CheckSubmission(form.Values{"a": listOfTexts(8, 10_000), "b": listOfTexts(8, 10_000)}, nil)
		requireRefused(t, problems, "b", "/3")
	})
	t.Run("cells of a table", func(t *testing.T) {
		f := form.New([]form.Field{{Name: "t", Type: form.Table, Input: form.Contributor, Columns: []form.Column{
			{Name: "c", Type: form.LongText, Rules: costly},
		}}})
		rows := strings.NewReplacer(`"a`, `{"c":"a`, `a"`, `a"}`).Replace(string(listOfTexts(50, 10_000)))
		_, problems := f.CheckSubmission(form.Values{"t": json.RawMessage(rows)}, nil)
		requireRefused(t, problems, "t", "/11/c")
	})
	t.Run("what a definition fixes", func(t *testing.T) {
		static := list("a", form.Static)
		static.Value = tooMany["a"]
		requireRefused(t, form.New([]form.Field{static}).Problems(nil, form.NewBudget()), "a", "/value/11")
	})
	t.Run("short texts beside spent ones", func(t *testing.T) {
		f := form.New([]form.Field{list("a", form.Contributor), {Name: "b", Type: form.ShortText, Input: form.Contributor, Rules: form.Rules{Pattern: "[a-c]+"}}})
		_, problems := f.CheckSubmission(form.Values{"a": tooMany["a"], "b": json.RawMessage(`"abc"`)}, nil)
		requireRefused(t, problems, "a", "/11")
	})
	t.Run("a whole value of texts with a pattern as they are", func(t *testing.T) {
		one := list("a", form.Contributor)
		one.Rules = form.Rules{Pattern: `[A-Za-z]+(?:-[0-9]+)?`}
		_, problems := form.New([]form.Field{one}).CheckSubmission(form.Values{"a": listOfTexts(100, 10_000)}, nil)
		require.Empty(t, problems)
	})
}
