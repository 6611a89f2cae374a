package edge

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of the proxies in front of the service. What others
// write into X-Forwarded-For is not believed.
type Proxies []netip.Prefix

// Client returns the address that the request comes from: the right-most one in
// X-Forwarded-For that no trusted proxy has. Everything left of it may be made
// up. It is the zero Addr when the connection has none.
func (p Proxies) Client(r *http.Request) netip.Addr {
	client := parseAddr(r.RemoteAddr)
	if !p.trust(client) {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr := parseAddr(strings.TrimSpace(hop))
		if !addr.IsValid() {
			return client
		}
		if client = addr; !p.trust(client) {
			return client
		}
	}
	return client
}

func (p Proxies) trust(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// parseAddr reads an address with or without a port.
func parseAddr(s string) netip.Addr {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}
