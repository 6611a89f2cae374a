package edge

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientIsTheRightmostUntrustedAddress(t *testing.T) {
	t.Parallel()
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer string
		xff  []string
		want string
	}{
		{"192.0.2.1:99", nil, "192.0.2.1"},
		{"192.0.2.1:99", []string{"198.51.100.7"}, "192.0.2.1"},
		{"10.0.0.1:99", nil, "10.0.0.1"},
		{"10.0.0.1:99", []string{"198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1:99", []string{"1.1.1.1, 198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1:99", []string{"1.1.1.1, 198.51.100.7, 10.2.2.2"}, "198.51.100.7"},
		{"10.0.0.1:99", []string{"1.1.1.1", "198.51.100.7", "10.2.2.2"}, "198.51.100.7"},
		{"10.0.0.1:99", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"10.0.0.1:99", []string{"198.51.100.7, unknown"}, "10.0.0.1"},
		{"10.0.0.1:99", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		{"[fd00::1]:99", []string{"[2001:db8::7]:4711"}, "2001:db8::7"},
		{"[::ffff:10.0.0.1]:99", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = c.peer, c.xff
		require.Equal(t, c.want, proxies.Client(r).String(), "%v", c)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = "@"
	require.False(t, proxies.Client(r).IsValid())
	require.Equal(t, "invalid IP", proxies.Client(r).String(), "one bucket for all of them")
}
