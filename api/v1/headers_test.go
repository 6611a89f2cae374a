package v1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdempotencyKeyForms(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"abc": "abc", ` abc `: "abc", `"abc"`: "abc", `"a\"b\\c"`: `a"b\c`, `a"b`: `a"b`, `a\b`: `a\b`, `"a b"`: "a b",
		strings.Repeat("x", 255): strings.Repeat("x", 255),
	} {
		got, ok := parseIdempotencyKey([]string{header})
		require.True(t, ok, header)
		require.Equal(t, want, got)
	}
	for _, header := range []string{``, `"`, `""`, `"a`, `"a\`, `"a\b"`, `"a"b`, strings.Repeat("x", 256), "a\tb", "a\x7f", "ü"} {
		_, ok := parseIdempotencyKey([]string{header})
		require.False(t, ok, header)
	}
}

func FuzzIdempotencyKey(f *testing.F) {
	for _, s := range []string{"abc", `"a\"b"`, `"`, `"\`, "", " x ", strings.Repeat("x", 300)} {
		f.Add(s)
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, header string) {
		key, ok := parseIdempotencyKey([]string{header})
		if !ok {
			return
		}
		require.NotEmpty(t, key)
		require.LessOrEqual(t, len(key), maxIdempotencyKey)
		again, ok := parseIdempotencyKey([]string{`"` + quoted.Replace(key) + `"`})
		require.True(t, ok)
		require.Equal(t, key, again, "both forms of a key are the same key")
	})
}
