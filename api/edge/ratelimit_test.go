package edge

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
)

func TestAHouseholdIsOneAddress(t *testing.T) {
	t.Parallel()
	require.Equal(t, Network(netip.MustParseAddr("2001:db8:1:2::1")), Network(netip.MustParseAddr("2001:db8:1:2:ffff::9")))
	require.NotEqual(t, Network(netip.MustParseAddr("2001:db8:1:2::1")), Network(netip.MustParseAddr("2001:db8:1:3::1")))
	require.NotEqual(t, Network(netip.MustParseAddr("192.0.2.1")), Network(netip.MustParseAddr("192.0.2.2")))
	require.Equal(t, "invalid IP", Network(netip.Addr{}), "one bucket for all of them")
}

func TestASiteIsManyHouseholds(t *testing.T) {
	t.Parallel()
	require.Equal(t, Site(netip.MustParseAddr("2001:db8:1:2::1")), Site(netip.MustParseAddr("2001:db8:1:ffff::1")))
	require.NotEqual(t, Site(netip.MustParseAddr("2001:db8:1:2::1")), Site(netip.MustParseAddr("2001:db8:2:2::1")))
	require.Empty(t, Site(netip.MustParseAddr("192.0.2.1")))
	require.Empty(t, Site(netip.Addr{}))
}

// While Redis is away the first bad key is refused already: it is not told that
// there were many.
func TestWhoCannotBeCountedHearsSo(t *testing.T) {
	t.Parallel()
	away, err := limit.New(limit.Options{
		Rates: limit.Rates{limit.FailedAuth: {Limit: 5, Period: time.Minute}}, RedisURL: "redis://127.0.0.1:1",
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, away.Close()) })
	h := http.Header{}
	err = NewLimits(away, nil).Failed(t.Context(), h, netip.MustParseAddr("192.0.2.1"), fault.New(fault.InvalidAPIKey, "the key is unknown"))
	require.True(t, fault.Is(err, fault.RateLimited))
	require.NotContains(t, err.Error(), "too many")
	require.ErrorContains(t, err, "cannot be counted at the moment, so this one is refused; check the key; wait ")
	require.Empty(t, h)
}

func TestBodyCost(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]int64{
		0: 0, 1: 0, 1 << 20: 0, 1<<20 + 1: 1, 2 << 20: 1, 2<<20 + 1: 2, 32 << 20: 31,
	} {
		require.Equal(t, want, BodyCost(bytes), bytes)
	}
}

func TestMeterTellsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		read int64
		want []int64
	}{
		"read whole":   {"12345", 100, []int64{5}},
		"read in part": {"12345", 3, []int64{3}},
		"read not":     {"12345", 0, []int64{0}},
		"it is empty":  {"", 100, []int64{0}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(c.body))
		var told []int64
		done := Meter(r, func(bytes int64) { told = append(told, bytes) })
		_, err := io.CopyN(io.Discard, r.Body, c.read)
		require.True(t, err == nil || errors.Is(err, io.EOF))
		if name == "read whole" {
			require.Len(t, told, 1, "at the end of the body, before the answer")
		}
		done()
		done()
		require.Equal(t, c.want, told, name)
	}
}

func TestAdmitAdvisesAndRefuses(t *testing.T) {
	t.Parallel()
	l := NewLimits(limit.Memory(limit.Rates{limit.Key: {Limit: 2, Period: time.Minute}}), nil)
	for _, want := range []string{`^"key";r=1;t=\d+$`, `^"key";r=0;t=\d+$`, `^"key";r=0;t=\d+$`} {
		h := http.Header{}
		err := l.Admit(t.Context(), h, limit.Key, "a", 1)
		require.Equal(t, `"key";q=2;w=60`, h.Get("RateLimit-Policy"))
		require.Regexp(t, want, h.Get("RateLimit"))
		if err != nil {
			require.True(t, fault.Is(err, fault.RateLimited))
			require.ErrorContains(t, err, "too many requests; wait ")
		}
	}
	require.Error(t, l.Admit(t.Context(), http.Header{}, limit.Key, "a", 1))
	h := http.Header{}
	require.NoError(t, l.Admit(t.Context(), h, limit.Address, "a", 1), "that bucket has no limit")
	require.NoError(t, NewLimits(nil, nil).Admit(t.Context(), h, limit.Key, "a", 1))
	require.Empty(t, h)
}
