package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// leaf matches the field t against a pattern.
func leaf(pattern string) Condition {
	return Condition{Field: "t", Op: OpMatches, Value: json.RawMessage(`"` + pattern + `"`)}
}

// manyLeaves is any of so many leaves, of which each counts as nine hundred steps a byte and none holds for a text of a.
func manyLeaves(n int) Condition {
	return Condition{Any: slices.Repeat([]Condition{leaf("b{900}|c*")}, n)}
}

var longText = Values{"t": json.RawMessage(`"` + strings.Repeat("a", 10_000) + `"`)}

// Each leaf may look at the text, but all together would look at it for minutes.
func TestMatchingInConditionsIsBounded(t *testing.T) {
	t.Parallel()
	few, many := manyLeaves(10), manyLeaves(MaxConditionLeaves)
	few.Any = append(few.Any, leaf("a*"))
	many.Any[MaxConditionLeaves-1] = leaf("b{900}|a*")
	for name, row := range map[string]struct {
		conditions    []Condition
		holds, missed bool
	}{
		"few leaves":                   {[]Condition{few}, true, false},
		"one leaf after many":          {[]Condition{many}, false, true},
		"one condition after others":   {[]Condition{manyLeaves(40), manyLeaves(15), leaf("b{900}|a*")}, false, true},
		"what costs less than is left": {[]Condition{manyLeaves(55), leaf("b{900}|a*"), leaf("a*")}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := NewBudget()
			known := Know(longText, b)
			holds := false
			for _, c := range row.conditions {
				holds = c.Compile().Holds(known)
			}
			require.Equal(t, row.holds, holds)
			require.Equal(t, row.missed, b.Missed())
			require.GreaterOrEqual(t, b.left[deciding], 0)
			require.Equal(t, row.missed, len(b.Problems()) > 0)
		})
	}
	t.Run("values that are compared", func(t *testing.T) {
		t.Parallel()
		list, err := json.Marshal(slices.Repeat([]string{"b"}, maxConditionValues))
		require.NoError(t, err)
		one := Condition{Field: "t", Op: OpIn, Value: list}
		for n, missed := range map[int]bool{1: false, 6: true} {
			b := NewBudget()
			known := Know(Values{"t": json.RawMessage(`"` + strings.Repeat("a", 100_000) + `"`)}, b)
			Condition{Any: slices.Repeat([]Condition{one}, n)}.Compile().Holds(known)
			require.Equal(t, missed, b.Missed(), n)
		}
	})
	t.Run("a long value with each of many", func(t *testing.T) {
		t.Parallel()
		b := NewBudget()
		items, err := json.Marshal(slices.Repeat([]string{"a"}, 10_000))
		require.NoError(t, err)
		has := Condition{Field: "t", Op: OpContains, Value: json.RawMessage(`"` + strings.Repeat("b", 100_000) + `"`)}
		has.Compile().Holds(Know(Values{"t": items}, b))
		require.True(t, b.Missed())
	})
	t.Run("a short part of a long value", func(t *testing.T) {
		t.Parallel()
		whole := json.RawMessage(`{"country":"de","rest":"` + strings.Repeat("a", 100_000) + `"}`)
		list := json.RawMessage(`["at","be","ch","dk","es","fr","gb","it","nl","pl"]`)
		one := Condition{Field: "t.country", Op: OpIn, Value: list}
		many := Condition{Any: slices.Repeat([]Condition{one, {Field: "t", Op: OpEmpty}}, MaxConditionLeaves/2)}.Compile()
		b := BudgetFor(1000, 1000*len(whole))
		for range 1000 {
			many.Holds(Know(Values{"t": whole}, b))
		}
		require.False(t, b.Missed(), "only what is compared counts")
	})
	t.Run("fields of a form", func(t *testing.T) {
		t.Parallel()
		most, last, few := manyLeaves(55), manyLeaves(1), leaf("c*")
		ask := func(name string, when *Condition) Field {
			return Field{Name: name, Type: ShortText, Input: Contributor, VisibleWhen: when}
		}
		text := Field{Name: "t", Type: LongText, Input: Seeded}
		f := New([]Field{text, ask("a", &most), ask("b", &last), ask("c", &few)})
		require.Equal(t, map[string]bool{"t": true, "a": false, "b": true, "c": false}, f.Visible(longText), "b may be there")
		kept, problems := f.CheckSubmission(Values{"b": json.RawMessage(`"hours of work"`)}, longText)
		require.Nil(t, kept, "what may be asked is not dropped")
		require.Len(t, problems, 1)
		require.Contains(t, problems[0].Message, "conditions cannot be decided")
		f = New([]Field{text, ask("a", &most), ask("c", &few)})
		require.Equal(t, map[string]bool{"t": true, "a": false, "c": false}, f.Visible(longText))
		_, problems = f.CheckSubmission(nil, longText)
		require.Empty(t, problems)
	})
}

// No condition is compiled beyond its leaves, however many a draft has.
func TestALeafTooManyIsNotCompiled(t *testing.T) {
	t.Parallel()
	c := manyLeaves(MaxConditionLeaves + 2)
	for i := range c.Any {
		c.Any[i] = leaf("a")
	}
	compiled := c.Compile().test.any
	require.NotNil(t, compiled[MaxConditionLeaves-1].match)
	for _, beyond := range compiled[MaxConditionLeaves:] {
		require.True(t, beyond.never)
		require.Nil(t, beyond.match)
	}
}

// Each pattern of a form fits, but they are kept for as long as the form is.
func TestThePatternsOfAFormAreBounded(t *testing.T) {
	t.Parallel()
	require.Equal(t, 200_000, maxPrograms)
	const pattern = "a{999}b{990}" // 1,991 instructions at least, 2,000 at most
	var fields []Field
	for i := range 150 {
		fields = append(fields, Field{
			Name: fmt.Sprintf("f%d", i), Title: "F", Type: LongText, Input: Contributor, Rules: Rules{Pattern: pattern},
		})
	}
	f := New(fields)
	kept := 0
	for i := range f.compiled {
		if f.compiled[i].kind.(textKind).pattern != nil {
			require.Equal(t, kept, i, "the first ones are kept")
			kept++
		}
	}
	require.Equal(t, 100, kept)
	problems := f.Problems(nil, NewBudget())
	require.Len(t, problems, 50)
	require.Equal(t, "f100", problems[0].Field)
	require.Equal(t, "/rules/pattern", problems[0].Path)
	require.Contains(t, problems[0].Message, "is too large beside those before it")

	t.Run("several forms", func(t *testing.T) {
		t.Parallel()
		b := NewBudget()
		NewWithin(fields[:60], b)
		require.NotNil(t, NewWithin(fields[60:100], b).compiled[39].kind.(textKind).pattern)
		require.Nil(t, NewWithin(fields[100:], b).compiled[0].kind.(textKind).pattern)
		b = NewBudget()
		require.Empty(t, New(fields[:60]).Problems(nil, b))
		require.Len(t, New(fields[60:]).Problems(nil, b), 50)
	})
	t.Run("conditions", func(t *testing.T) {
		t.Parallel()
		known := func(string) (Field, bool) { return Field{Name: "t", Type: LongText}, true }
		c := manyLeaves(150)
		for i := range c.Any {
			c.Any[i] = leaf(pattern)
		}
		problems := c.Problems(known, NewBudget())
		require.Len(t, problems, 20, "as many as are told")
		require.Equal(t, "/any/100/value", problems[0].Path)
		require.Contains(t, problems[0].Message, "is too large beside those before it")
		compiled := c.Compile().test.any
		require.NotNil(t, compiled[99].match)
		require.Nil(t, compiled[100].match)
	})
}

// Each value fits once it is stored, but there may be hundreds.
func TestTheGrowthOfAllValuesIsBounded(t *testing.T) {
	t.Parallel()
	numbers := json.RawMessage("[1e-999" + strings.Repeat(",1e-999", 999) + "]") // 995,000 bytes more
	fields := func(input Input) []Field {
		return []Field{{Name: "a", Type: JSON, Input: input}, {Name: "b", Type: JSON, Input: input}}
	}
	values := Values{"a": numbers, "b": numbers}
	seeded := New(fields(Seeded))
	problems := seeded.CheckSeed(values, NewBudget())
	require.Len(t, problems, 1)
	require.Equal(t, "b", problems[0].Field)
	require.Contains(t, problems[0].Message, "the value has 995000 bytes more when its numbers are stored")
	kept, submitted := New(fields(Contributor)).CheckSubmission(values, nil)
	require.Nil(t, kept)
	require.Equal(t, problems, submitted)

	t.Run("of a batch", func(t *testing.T) {
		t.Parallel()
		b := BudgetFor(10, 5<<20)
		for range 5 {
			require.Empty(t, seeded.CheckSeed(Values{"a": numbers}, b.Part()))
		}
		require.Len(t, seeded.CheckSeed(Values{"a": numbers}, b.Part()), 1)
		require.Empty(t, seeded.CheckSeed(Values{"a": json.RawMessage(`[1.5e-7]`)}, b.Part()), "what grows by less than is left")
	})
}
