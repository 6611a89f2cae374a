package console

import (
	"net/netip"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
)

func from(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// tries makes n attempts and returns how many were allowed.
func tries(t *testing.T, h *throttle, email string, addr netip.Addr, n int) (allowed int) {
	t.Helper()
	for range n {
		err := h.allow(t.Context(), newAttempt(email, addr))
		if err == nil {
			allowed++
			continue
		}
		require.True(t, fault.Is(err, fault.RateLimited), "%v", err)
	}
	return allowed
}

// Names that an exhausted address makes up are not remembered.
func TestAnExhaustedAddressIsNotRememberedFurther(t *testing.T) {
	t.Parallel()
	h := newThrottle()
	for i := range failuresPerAddress {
		require.Equal(t, 1, tries(t, h, strconv.Itoa(i), from(1), 1))
	}
	require.Zero(t, tries(t, h, "owner@acme.test", from(1), 50))
	for _, touched := range []struct {
		name string
		used func() (int64, error)
	}{
		{"pair", func() (int64, error) {
			c, err := h.pair.Peek(t.Context(), newAttempt("owner@acme.test", from(1)).pair)
			return c.Limit - c.Remaining, err
		}},
		{"account", func() (int64, error) {
			c, err := h.account.Peek(t.Context(), newAttempt("owner@acme.test", from(1)).account)
			return c.Limit - c.Remaining, err
		}},
	} {
		n, err := touched.used()
		require.NoError(t, err)
		require.Zero(t, n, touched.name)
	}
}

// Guessing from many addresses gets slow, and the owner of the account still
// gets in.
func TestManyAddressesSlowDownButLockNobodyOut(t *testing.T) {
	t.Parallel()
	h := newThrottle()
	for i := range failuresPerAccount / failuresPerPair {
		require.Equal(t, failuresPerPair, tries(t, h, "owner@acme.test", from(i), failuresPerPair+5))
	}
	for i := range 50 {
		require.Equal(t, triesWhenGuessed, tries(t, h, " Owner@ACME.test", from(1000+i), 10))
	}
	require.Equal(t, failuresPerPair, tries(t, h, "other@acme.test", from(2000), 20), "other accounts are not slowed down")
	own := newAttempt("owner@acme.test", from(3000))
	for range 5 {
		require.NoError(t, h.allow(t.Context(), own), "the owner logs in as often as they like")
		h.succeeded(t.Context(), own)
	}
}

func TestSuccessesDoNotCount(t *testing.T) {
	t.Parallel()
	h := newThrottle()
	for i := range 3 * failuresPerAddress {
		a := newAttempt(strconv.Itoa(i%3), from(1))
		require.NoError(t, h.allow(t.Context(), a))
		h.succeeded(t.Context(), a)
	}
}

func TestAHouseholdIsOneAddress(t *testing.T) {
	t.Parallel()
	require.Equal(t, network(netip.MustParseAddr("2001:db8:1:2::1")), network(netip.MustParseAddr("2001:db8:1:2:ffff::9")))
	require.NotEqual(t, network(netip.MustParseAddr("2001:db8:1:2::1")), network(netip.MustParseAddr("2001:db8:1:3::1")))
}
