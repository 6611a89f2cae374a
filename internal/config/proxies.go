package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// Proxies returns the networks of TrustedProxies.
func (c Config) Proxies() []netip.Prefix {
	networks, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return nil // Load has told
	}
	return networks
}

func parseProxies(list string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			return nil, fmt.Errorf("%q is no network", entry)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}
