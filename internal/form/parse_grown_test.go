package form

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What Postgres writes for the literal as jsonb is the second text.
func TestNumbersAreCountedAsJsonbWritesThem(t *testing.T) {
	t.Parallel()
	for literal, written := range map[string]string{
		"0":        "0",
		"-12.50":   "-12.50",
		"1e3":      "1000",
		"1E+3":     "1000",
		"-1.5e2":   "-150",
		"1.25e-3":  "0.00125",
		"-1e-9":    "-0.000000001",
		"12.5e1":   "125",
		"123e-2":   "1.23",
		"1e-999":   "0." + strings.Repeat("0", 998) + "1",
		"1.5e300":  "15" + strings.Repeat("0", 299),
		"-9.9e307": "-99" + strings.Repeat("0", 306),
	} {
		p := parser{data: []byte(literal)}
		_, err := p.document()
		require.NoError(t, err, literal)
		require.Equal(t, max(0, len(written)-len(literal)), p.grown, literal)
	}
	p := parser{data: []byte(`{"a":[1e-9,{"b":1e-9}],"c":1e-9}`)}
	_, err := p.document()
	require.NoError(t, err)
	require.Equal(t, 3*(11-4), p.grown)
}

func TestAValueIsNoLargerStoredThanItMayBeSent(t *testing.T) {
	t.Parallel()
	numbers := func(literal string, n int) []byte {
		return []byte("[" + literal + strings.Repeat(","+literal, n-1) + "]")
	}
	for name, row := range map[string]struct {
		value []byte
		says  string
	}{
		"ordinary exponents": {numbers("-1.25e-7", 80_000), ""},
		"small numbers":      {numbers("1e-999", 1100), "the value has 1102201 bytes when its numbers are stored, which is without exponents"},
		"large numbers":      {numbers("1.5e300", 4000), "round these numbers or send them as texts"},
		"a few of them":      {numbers("1e-999", 1000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := Values{"data": row.value}
			seeded := New([]Field{{Name: "data", Type: JSON, Input: Seeded}}).CheckSeed(values, NewBudget())
			asked := New([]Field{{Name: "data", Type: JSON, Input: Contributor}})
			_, submitted := asked.CheckSubmission(values, nil)
			drafted := asked.CheckDraft(values)
			for _, problems := range [][]Problem{seeded, submitted, drafted} {
				if row.says == "" {
					require.Empty(t, problems)
					continue
				}
				require.Len(t, problems, 1)
				require.Equal(t, "data", problems[0].Field)
			}
			if row.says != "" {
				require.Contains(t, seeded[0].Message, row.says)
				require.Equal(t, seeded, submitted)
				require.Contains(t, drafted[0].Message, "the draft has")
			}
		})
	}
}

// A text is stored as it is, whatever numbers it spells.
func TestNumbersInACodeTextDoNotCount(t *testing.T) {
	t.Parallel()
	f := New([]Field{{Name: "code", Type: Code, Input: Seeded, Languages: []string{"json"}, Rules: Rules{Parse: true}}})
	require.Empty(t, f.CheckSeed(Values{"code": []byte(`"[1e-999` + strings.Repeat(",1e-999", 2000) + `]"`)}, NewBudget()))
}

// jsonb puts a space behind each comma and colon, and nobody sent them.
func TestAValueThatWasLetInIsNotTooLargeWhenItComesBack(t *testing.T) {
	t.Parallel()
	most := int64(13)
	f := New([]Field{{Name: "f", Type: JSON, Input: Seeded, Rules: Rules{MaxBytes: &most}}})
	for raw, says := range map[string]string{
		`{"a":1,"b":2}`:     "",
		`{"a": 1, "b": 2}`:  "",
		"{\n\t\"a\": [ ] }": "",
		`{"a": 1, "b": 23}`: "is too large: 14 bytes, at most 13",
		`["a b c d  e"]`:    "is too large: 14 bytes, at most 13",
		`["a\\", "b\""]`:    "",
		`["a\", \" b  "]`:   "is too large: 15 bytes, at most 13",
	} {
		problems := f.CheckSeed(Values{"f": json.RawMessage(raw)}, NewBudget())
		if says == "" {
			require.Empty(t, problems, raw)
			continue
		}
		require.Len(t, problems, 1, raw)
		require.Contains(t, problems[0].Message, says, raw)
	}
}

// A form may be of before these had limits: what it says is checked for each of
// thousands of items, and stands in every problem.
func TestOldFormsCostNoMoreThanNewOnes(t *testing.T) {
	t.Parallel()
	alone := append(slices.Repeat([]string{"a"}, 2*maxOptions), "b")
	fields := []Field{
		{Name: "t", Type: ShortText, Input: Seeded, Rules: Rules{Pattern: "[a-z]+", PatternMessage: strings.Repeat("m", 900_000)}},
		{Name: "m", Type: MultiSelect, Input: Seeded, Options: []Option{{Value: "a"}, {Value: "b"}}, Rules: Rules{Exclusive: alone}},
	}
	f := New(fields)
	problems := f.CheckSeed(Values{"t": json.RawMessage(`"1"`), "m": json.RawMessage(`["b", "a"]`)}, NewBudget())
	require.Len(t, problems, 3)
	require.Less(t, len(problems[0].Message), 1000)
	require.Contains(t, problems[1].Message, `"a" cannot be chosen`)
	require.Contains(t, problems[2].Message, `"b" cannot be chosen`)

	var paths []string
	for _, p := range f.Problems(nil, NewBudget()) {
		paths = append(paths, p.Path)
	}
	require.Equal(t, []string{"/rules/pattern_message", "/rules/exclusive"}, paths)
}
