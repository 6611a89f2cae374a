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
	"github.com/taskloom/taskloom/internal/form"
)

// anyName lets all names pass for those of fields.
func anyName(string) bool { return true }

func TestDecodeBatchSharesTheBody(t *testing.T) {
	t.Parallel()
	body := []byte(`{"tasks": [{"fields": {"a": "one", "b": [1, 2]}}, {"fields": {}}]}`)
	items, err := decodeBatch(body, anyName)
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
		_, err := decodeBatch([]byte(body), anyName)
		require.True(t, fault.Is(err, fault.Validation))
		require.ErrorContains(t, err, want)
	}
}

func TestDecodeBatchReadsNoMoreNamesThanThereCanBe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`"%d":1,`, `"a":%d,`} {
		var b strings.Builder
		for i := range 4 * maxNames {
			fmt.Fprintf(&b, name, i)
		}
		items, err := decodeBatch([]byte(`{"tasks":[{"fields":{`+b.String()+`"z":1}}]}`), anyName)
		require.NoError(t, err)
		require.LessOrEqual(t, len(items[0].Fields), maxNames)
		require.LessOrEqual(t, len(items[0].Problems), maxNames)
		require.Contains(t, items[0].Problems[len(items[0].Problems)-1].Message, "more than 5000 names")
	}
}

// However often names come again, and however many are made up, few are kept of
// each item; all of them are counted.
func TestDecodeBatchKeepsFewProblems(t *testing.T) {
	t.Parallel()
	const names = 100
	known := func(name string) bool { return name == "a" }
	for kind, name := range map[string]string{"repeated": `"a":%d,`, "made up": `"n%d":1,`, "keys twice": `"n%d":{"k":1,"k":2},`} {
		var b strings.Builder
		for i := range names {
			fmt.Fprintf(&b, name, i)
		}
		item := `{"fields":{` + strings.TrimSuffix(b.String(), ",") + `}}`
		items, err := decodeBatch([]byte(`{"tasks":[`+strings.Repeat(item+",", maxTasks-1)+item+`]}`), known)
		require.NoError(t, err)
		require.Len(t, items, maxTasks)
		problems := 0
		for _, item := range items {
			problems += len(item.Problems)
			require.LessOrEqual(t, len(item.Fields), maxKept, kind)
		}
		require.LessOrEqual(t, problems, maxTasks*(maxKept+2), kind)
		last := items[maxTasks-1]
		switch kind {
		case "repeated":
			require.Len(t, last.Problems, maxKept)
			require.Equal(t, names-1, len(last.Problems)+last.More)
			require.Equal(t, form.Problem{Field: "a", Message: `field "a" is given more than once`}, last.Problems[maxKept-1])
		case "made up":
			require.Equal(t, []form.Problem{{Message: "80 more names that cannot be given"}}, last.Problems)
		default:
			require.Len(t, last.Problems, maxKept+1)
			require.Equal(t, `the value has the key "k" twice in one object`, last.Problems[0].Message)
		}
	}
}

// What an answer says of names that no field has does not depend on who counts
// them.
func TestMadeUpNamesAreToldAsBefore(t *testing.T) {
	t.Parallel()
	seed := form.New([]form.Field{{Name: "a", Type: form.ShortText, Input: form.Seeded}})
	for _, names := range []int{1, maxKept, maxKept + 1, maxKept + 2} {
		var b strings.Builder
		for i := range names {
			fmt.Fprintf(&b, `"n%02d":1,`, i)
		}
		body := []byte(`{"tasks":[{"fields":{` + b.String() + `"a":"x"}}]}`)
		all, err := decodeBatch(body, anyName)
		require.NoError(t, err)
		few, err := decodeBatch(body, seed.Seeds)
		require.NoError(t, err)
		require.ElementsMatch(t, seed.CheckSeed(all[0].Fields, form.NewBudget()), append(few[0].Problems, seed.CheckSeed(few[0].Fields, form.NewBudget())...))
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
		items, err := decodeBatch(body, anyName)
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
		if _, err := decodeBatch(body, anyName); err != nil {
			b.Fatal(err)
		}
	}
}
