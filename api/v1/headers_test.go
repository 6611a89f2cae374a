package v1

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/fault"
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

func FuzzKeyHeaders(f *testing.F) {
	good := apikey.Prefix + strings.Repeat("0a", 20)
	f.Add("Bearer "+good, "")
	f.Add("", good)
	f.Add("Bearer "+good, good)
	f.Add(good, "x")
	f.Add("Basic \x00", " ")
	f.Fuzz(func(t *testing.T, authorization, header string) {
		h := http.Header{}
		if authorization != "" {
			h.Set("Authorization", authorization)
		}
		if header != "" {
			h.Set(keyHeader, header)
		}
		key, err := keyOf(h)
		if err != nil {
			require.True(t, fault.Is(err, fault.MissingAPIKey) || fault.Is(err, fault.InvalidAPIKey))
			require.NotContains(t, err.Error(), good)
			return
		}
		require.True(t, apikey.Valid(key))
		require.True(t, strings.Contains(authorization, key) || strings.Contains(header, key))
	})
}
