package wirejson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api/internal/wirejson"
)

func TestCheckTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	require.NoError(t, wirejson.Check([]byte(` {"a": [1, "\ud83d\ude00", null]} `)))
	require.ErrorIs(t, wirejson.Check([]byte("{\"a\": \"\xff\"}")), wirejson.ErrUTF8)
	for body, want := range map[string]string{
		"":                "empty",
		"{":               "unexpected end",
		`{"a": 1} x`:      "at byte 10",
		`{"a": 1,}`:       "at byte 9",
		"{\"a\": \"\n\"}": "not valid JSON",
	} {
		require.ErrorContains(t, wirejson.Check([]byte(body)), want, body)
	}
}

func TestDuplicateFindsKeysAtEveryDepth(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"a":1,"a":2}`:                       "a",
		`{"a":1,"\u0061":2}`:                  "a",
		`[{"x":{"y":[{"b":1,"c":2,"b":3}]}}]`: "b",
		`{"a":{"a":{"a":1}},"b":{"a":2}}`:     "",
		`[{"a":1},{"a":2}]`:                   "",
		`"{\"a\":1,\"a\":2}"`:                 "",
		`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"3":1}`: "3",
	} {
		key, found := wirejson.Duplicate([]byte(value))
		require.Equal(t, want, key, value)
		require.Equal(t, want != "", found, value)
	}
	deep := strings.Repeat(`{"a":[`, 4000) + strings.Repeat(`]}`, 4000)
	_, found := wirejson.Duplicate([]byte(deep))
	require.False(t, found)
}

// FuzzWalk checks the walker against encoding/json: on every text that is
// JSON, it hands out the same members and elements.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":[true,null,"x\"\\"],"c":{"d":-1.5e3}}`, `[]`, `[[],{},""]`, ` { "a\\" : "\\\"" , "b":2 } `, `7`, `"\\\\"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if wirejson.Check(data) != nil {
			return
		}
		wirejson.Duplicate(data)
		switch wirejson.Shape(data) {
		case '{':
			var want map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(data, &want))
			got := map[string]json.RawMessage{}
			wirejson.Members(data, func(k string, v []byte) bool { got[k] = v; return true })
			require.Equal(t, want, got)
		case '[':
			var want []json.RawMessage
			require.NoError(t, json.Unmarshal(data, &want))
			got := []json.RawMessage{}
			wirejson.Elements(data, func(v []byte) bool { got = append(got, v); return true })
			require.Equal(t, want, got)
		}
	})
}
