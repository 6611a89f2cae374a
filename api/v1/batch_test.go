package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/api/internal/wirejson"
	"github.com/taskloom/taskloom/internal/fault"
)

func TestDecodeBatchSharesTheBody(t *testing.T) {
	t.Parallel()
	body := []byte(`{"tasks": [{"fields": {"a": "one", "b": [1, 2]}}, {"fields": {}}]}`)
	items, err := decodeBatch(body)
	require.NoError(t, err)
	require.Len(t, items, 2)
	require.Equal(t, `"one"`, string(items[0].Fields["a"]))
	at := slices.Index(body, 'o')
	body[at] = 'O'
	require.Equal(t, `"One"`, string(items[0].Fields["a"]), "a value is a slice of the body")
	require.NotNil(t, items[1].Fields)
}

func TestDecodeBatchNamesThePlace(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"tasks": [{"fields": {}}, {"fields": 7}]}`: `tasks[1].fields must be an object, got a number`,
		`{"tasks": [{"fields": {}, "x": 1}]}`:        `tasks[0] has the unknown property "x"; expected only "fields"`,
		`{"task": []}`:                               `the body has the unknown property "task"; expected only "tasks"`,
		`{"tasks": [true]}`:                          `tasks[0] must be an object with "fields", got true or false`,
		`{"tasks": [{}]}`:                            `tasks[0] must have "fields"`,
		`{"tasks": [{"fields": {}, "fields": {}}]}`:  `tasks[0] has "fields" twice`,
		`{"tasks": []}`:                              `tasks must have 1 to 5000 items, got none`,
		`{"tasks": "all"}`:                           `tasks must be an array, got a text`,
	} {
		_, err := decodeBatch([]byte(body))
		require.True(t, fault.Is(err, fault.Validation))
		require.ErrorContains(t, err, want)
	}
}

func TestDecodeBatchReadsNoMoreNamesThanThereCanBe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`"%d":1,`, `"a":1,%.0d`} {
		var b strings.Builder
		for i := range 4 * maxNames {
			fmt.Fprintf(&b, name, i)
		}
		items, err := decodeBatch([]byte(`{"tasks":[{"fields":{` + b.String() + `"z":1}}]}`))
		require.NoError(t, err)
		require.LessOrEqual(t, len(items[0].Fields), maxNames)
		require.LessOrEqual(t, len(items[0].Problems), maxNames)
		require.Contains(t, items[0].Problems[len(items[0].Problems)-1].Message, "more than 5000 names")
	}
}

// FuzzCreateBody: whatever the body, it is refused with a fault or every item
// is what encoding/json reads too.
func FuzzCreateBody(f *testing.F) {
	for _, s := range []string{
		`{"tasks": [{"fields": {"a": "one", "b": [1, {"c": null}]}}, {"fields": {}}]}`,
		`{"tasks": [{"fields": {"a": 1, "a": 2}}]}`, `{"tasks": [{"fields": {"a": {"x": 1, "\u0078": 2}}}]}`,
		`{"tasks": []}`, `[]`, `null`, `{"tasks": [{"fields": {"\u0000": "\ud800"}}]}`, "\xff", ``, `{"tasks":[{"fields":{"a":"\\\""}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if wirejson.Check(body) != nil {
			return
		}
		require.True(t, utf8.Valid(body))
		items, err := decodeBatch(body)
		if err != nil {
			require.True(t, fault.Is(err, fault.Validation))
			return
		}
		var want struct {
			Tasks []struct {
				Fields map[string]json.RawMessage `json:"fields"`
			} `json:"tasks"`
		}
		require.NoError(t, json.Unmarshal(body, &want))
		require.Len(t, items, len(want.Tasks))
		for i, item := range items {
			require.Len(t, item.Fields, len(want.Tasks[i].Fields))
			for name, value := range item.Fields {
				require.True(t, json.Valid(value))
				if len(item.Problems) == 0 {
					require.JSONEq(t, string(want.Tasks[i].Fields[name]), string(value))
				}
			}
		}
	})
}

func BenchmarkDecodeBatch(b *testing.B) {
	body := []byte(`{"tasks": [`)
	for i := range 5000 {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, `{"fields": {"question": "What is six times seven, please, in digits?", "level": 3, "tags": ["a", "b"]}}`...)
	}
	body = append(body, `]}`...)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := wirejson.Check(body); err != nil {
			b.Fatal(err)
		}
		if _, err := decodeBatch(body); err != nil {
			b.Fatal(err)
		}
	}
}
