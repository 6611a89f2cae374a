package store

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

func TestStorableJSON(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		`{}`, `"é\u00e9\ud83d\ude00"`, `"\\u0000"`, `"\\\\ud800"`, `"\n\"\\"`, `[1,"\u0001"]`,
		`0`, `-0`, `1e308`, `-1.5E+3`, `1e-400`, `"1e999999"`, `[1,-2.5,3e2]`, ` 1 `, `0.` + strings.Repeat("1", 400),
	} {
		require.True(t, json.Valid([]byte(good)), good)
		require.True(t, storableJSON([]byte(good)), good)
	}
	for _, bad := range []string{
		`"\u0000"`, `{"\u0000":1}`, `"\\\u0000"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx\ude00"`, `"\ud83d\ud83d"`, "\"\x00\"", "\"\xff\"",
		`1e309`, `-1e309`, `1e999999`, `1e99999999999999999999`, `1e-401`, `1e-99999999999999999999`, `[{"a":1e999999}]`,
		strings.Repeat("9", 400), `0.` + strings.Repeat("1", 401),
	} {
		require.False(t, storableJSON([]byte(bad)), bad)
	}
}

func TestUnstorableTellsThePlace(t *testing.T) {
	t.Parallel()
	for doc, place := range map[string]string{
		`"\u0000"`: "", ` {"a": {"b": [1, "\u0000"]}}`: "a.b[1]", `[[1e999999]]`: "[0][0]",
		`{"a": {"\u0000": 1}}`: "a", `{"a": "x", "b": "\ud800"}`: "b",
		`{"` + strings.Repeat("k", 80) + `": "\u0000"}`:                    strings.Repeat("k", 60) + "…",
		strings.Repeat("[", 5000) + `"\u0000"` + strings.Repeat("]", 5000): strings.Repeat("[0]", 8),
	} {
		got, why := Unstorable([]byte(doc))
		require.Equal(t, place, got, doc)
		require.NotEmpty(t, why)
	}
	place, why := Unstorable([]byte(`{"a": [1, "x"]}`))
	require.Empty(t, place)
	require.Empty(t, why)
}

// A few bytes that come back as many are many where there is a limit.
func TestNumbersAreCountedWithoutExponents(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		`[1, 2.5, "1e-400"]`: 18, `[1e3]`: 6, `{"a1e9":[-1E-3]}`: 17, `1e-400`: 402, `"\"1e9"`: 7,
	} {
		require.Equal(t, want, storedBytes([]byte(raw)), raw)
	}
	small := `[` + strings.Repeat(`1e-400,`, pipeline.MaxDefinition/400) + `0]`
	err := checkDraft(pipeline.Definition{Name: "x"}, json.RawMessage(small))
	require.True(t, fault.Is(err, fault.PayloadTooLarge), "%v", err)
	require.NoError(t, checkDraft(pipeline.Definition{Name: "x"}, json.RawMessage(small[:len(small)/2]+`0]`)))
}

// What storableJSON lets pass, Go reads and writes without loss of characters.
func FuzzStorableJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"\u00e9"]}`, `"\ud83d\ude00"`, `"\ud83d"`, `1e999`, `"\"`, `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, why := Unstorable(raw) // must not panic, whatever it gets
		if !json.Valid(raw) || why != "" {
			return
		}
		var v any
		require.NoError(t, json.Unmarshal(raw, &v))
		again, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(again), `\u0000`)
	})
}
