package apikey_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
)

var form = regexp.MustCompile(`^pk_live_[0-9a-f]{40}$`)

func TestGenerate(t *testing.T) {
	t.Parallel()
	a, err := apikey.Generate(rand.Reader)
	require.NoError(t, err)
	b, err := apikey.Generate(rand.Reader)
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	require.Regexp(t, form, a)
	require.Len(t, a, apikey.Length)
	require.Equal(t, 48, apikey.Length)
	require.True(t, apikey.Valid(a))

	fixed, err := apikey.Generate(bytes.NewReader(bytes.Repeat([]byte{0xAB}, 20)))
	require.NoError(t, err)
	require.Equal(t, "pk_live_"+strings.Repeat("ab", 20), fixed)
	require.Equal(t, "abab", apikey.Last4(fixed))
	require.Equal(t, sha256.Sum256([]byte(fixed)), apikey.Hash(fixed))

	_, err = apikey.Generate(iotest.ErrReader(errors.New("no entropy")))
	require.ErrorContains(t, err, "no entropy")
	_, err = apikey.Generate(bytes.NewReader(make([]byte, 19)))
	require.Error(t, err, "never from too little randomness")
}

func TestValid(t *testing.T) {
	t.Parallel()
	good := "pk_live_0123456789abcdef0123456789abcdef01234567"
	require.True(t, apikey.Valid(good))
	for name, value := range map[string]string{
		"empty": "", "prefix only": "pk_live_", "another prefix": "pk_test_" + good[8:], "no prefix": good[8:],
		"too short": good[:47], "too long": good + "0", "upper case": strings.ToUpper(good),
		"upper case digits": "pk_live_" + strings.ToUpper(good[8:]), "not hexadecimal": good[:47] + "g",
		"white space": good[:47] + " ", "leading white space": " " + good, "wide digits": good[:45] + "\uff11",
	} {
		require.False(t, apikey.Valid(value), name)
	}
}

func TestLast4OfAnything(t *testing.T) {
	t.Parallel()
	require.Empty(t, apikey.Last4(""))
	require.Equal(t, "abc", apikey.Last4("abc"))
}

func TestExpiresAt(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		require.NoError(t, err)
		return v
	}
	for name, c := range map[string]struct {
		expiry    apikey.Expiry
		now, want string
	}{
		"30 days":                         {apikey.Days30, "2026-11-20T08:00:00Z", "2026-12-20T08:00:00Z"},
		"30 days over the end of a year":  {apikey.Days30, "2026-12-15T23:59:59Z", "2027-01-14T23:59:59Z"},
		"30 days over 29 February":        {apikey.Days30, "2028-02-10T00:00:00Z", "2028-03-11T00:00:00Z"},
		"90 days":                         {apikey.Days90, "2026-11-20T08:00:00Z", "2027-02-18T08:00:00Z"},
		"a year":                          {apikey.Year, "2026-11-20T08:00:00Z", "2027-11-20T08:00:00Z"},
		"a year that holds a 29 February": {apikey.Year, "2027-06-01T00:00:00Z", "2028-06-01T00:00:00Z"},
		"a year from 29 February":         {apikey.Year, "2028-02-29T12:00:00Z", "2029-03-01T12:00:00Z"},
		"30 days over a change of clocks": {apikey.Days30, "2026-03-15T12:00:00+01:00", "2026-04-14T11:00:00Z"},
		"a year in another time zone":     {apikey.Year, "2026-12-31T23:30:00-05:00", "2028-01-01T04:30:00Z"},
	} {
		got := apikey.ExpiresAt(c.expiry, at(c.now))
		require.NotNil(t, got, name)
		require.Equal(t, at(c.want).UTC(), *got, name)
	}
	require.Nil(t, apikey.ExpiresAt(apikey.Never, at("2026-11-20T08:00:00Z")))
}

func TestExpiries(t *testing.T) {
	t.Parallel()
	require.Equal(t, []apikey.Expiry{"never", "30d", "90d", "1y"}, apikey.Expiries())
	for _, e := range apikey.Expiries() {
		require.True(t, e.Valid())
	}
	for _, e := range []apikey.Expiry{"", "1Y", "31d", "year"} {
		require.False(t, e.Valid())
	}
}

// FuzzAPIKey asserts that Valid accepts exactly the spec's form, and that what
// is shown of a value is never the whole of it.
func FuzzAPIKey(f *testing.F) {
	f.Add("pk_live_0123456789abcdef0123456789abcdef01234567")
	f.Add("pk_live_")
	f.Add("")
	f.Fuzz(func(t *testing.T, value string) {
		require.Equal(t, form.MatchString(value), apikey.Valid(value))
		require.LessOrEqual(t, len(apikey.Last4(value)), 4)
		require.NotEqual(t, apikey.Hash(value), apikey.Hash(value+"0"))
	})
}
