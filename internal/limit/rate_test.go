package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/limit"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]limit.Rate{
		"1200-M": {Limit: 1200, Period: time.Minute}, "300-m": {Limit: 300, Period: time.Minute},
		"1-S": {Limit: 1, Period: time.Second}, "5-H": {Limit: 5, Period: time.Hour}, "7-D": {Limit: 7, Period: 24 * time.Hour},
		"1000000000-S": {Limit: 1_000_000_000, Period: time.Second}, "off": {}, "OFF": {},
	} {
		got, err := limit.ParseRate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.Equal(t, want == limit.Rate{}, got.Off(), text)
	}
	for _, text := range []string{"", "1200", "M", "-M", "0-M", "-5-M", "1-", "1-W", "1-M-M", "1.5-S", "1000000001-S", "99999999999999999999-S", "on", " 1-M"} {
		_, err := limit.ParseRate(text)
		require.ErrorContains(t, err, "such as 1200-M", text)
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"1200-M", "off", "-1-S", "1-", "+7-d", "", "9-H-9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := limit.ParseRate(text)
		if err != nil {
			require.True(t, r.Off())
			return
		}
		require.GreaterOrEqual(t, r.Limit, int64(0))
		require.True(t, r.Off() || r.Period >= time.Second)
	})
}

func TestRedisAddressesAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"redis://h", "rediss://:hunter2@h:6380/2", "redis://u:hunter2@h?db=1"} {
		_, err := limit.ParseURL(good)
		require.NoError(t, err, good)
	}
	for _, bad := range []string{"", "h:6379", "http://h", "redis://:hunter2", "redis://u:hunter2@h:port", "redis://:hunter2@h/db", "redis://:hunter2@h?x=1"} {
		_, err := limit.ParseURL(bad)
		require.ErrorContains(t, err, "redis://user:password@host:6379/0", bad)
		require.NotContains(t, err.Error(), "hunter2", bad)
	}
}

func TestPoliciesAndStatesAreStructuredFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d             limit.Decision
		policy, state string
	}{
		{
			limit.Decision{Bucket: limit.Key, Rate: limit.Rate{Limit: 1200, Period: time.Minute}, Remaining: 1187, Reset: 22*time.Second + 1},
			`"key";q=1200;w=60`, `"key";r=1187;t=23`,
		},
		{
			limit.Decision{Bucket: limit.Key, Rate: limit.Rate{Limit: 2, Period: time.Minute}, Remaining: 1, Reset: 60*time.Second + 1},
			`"key";q=2;w=60`, `"key";r=1;t=60`,
		},
		{
			limit.Decision{Bucket: limit.FailedAuth, Rate: limit.Rate{Limit: 30, Period: time.Hour}, Reached: true, Reset: time.Hour + 1},
			`"failed_auth";q=30;w=3600`, `"failed_auth";r=0;t=3601`,
		},
		{
			limit.Decision{Bucket: limit.Address, Rate: limit.Rate{Limit: 1, Period: time.Second}, Remaining: -3, Reset: -time.Second},
			`"address";q=1;w=1`, `"address";r=0;t=1`,
		},
	} {
		require.Equal(t, c.policy, c.d.Policy())
		require.Equal(t, c.state, c.d.State())
	}
}
