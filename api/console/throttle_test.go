package console

import (
	"context"
	"net/netip"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/limit/limittest"
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
	h := newThrottle(nil)
	for i := range failuresPerAddress {
		require.Equal(t, 1, tries(t, h, strconv.Itoa(i), from(1), 1))
	}
	require.Zero(t, tries(t, h, "owner@acme.test", from(1), 50))
	unheard := newAttempt("owner@acme.test", from(1))
	for name, d := range map[string]limit.Decision{
		"pair":    h.pair.own.Peek(t.Context(), h.pair.bucket, unheard.pair),
		"account": h.account.own.Peek(t.Context(), h.account.bucket, unheard.account),
	} {
		require.True(t, d.Counted(), name)
		require.Equal(t, d.Rate.Limit, d.Remaining, name)
	}
}

// Somebody with many addresses makes up accounts until no other is remembered: whoever
// comes from an address of their own still has a try a minute, and no more.
func TestMadeUpAccountsLockNobodyOut(t *testing.T) {
	t.Parallel()
	h := newThrottle(nil)
	full := func(i int) bool { return h.account.take(t.Context(), strconv.Itoa(i)).Unknown }
	for i := 0; !full(i); i++ {
		require.Less(t, i, 10_000_000, "what is remembered has a bound")
	}
	require.Equal(t, triesWhenGuessed, tries(t, h, "owner@acme.test", from(1), 10))
	require.Equal(t, triesWhenGuessed, tries(t, h, "other@acme.test", from(2), 10))
}

// Guessing from many addresses gets slow, and the owner of the account still
// gets in.
func TestManyAddressesSlowDownButLockNobodyOut(t *testing.T) {
	t.Parallel()
	h := newThrottle(nil)
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

// household is an address of the n-th /64 of one IPv6 /48.
func household(n int) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 1, byte(n >> 8), byte(n), 15: 1})
}

// A site of IPv6 has an address for each try, and gets few tries all the same.
func TestManyNetworksOfOneSiteSlowDownTogether(t *testing.T) {
	t.Parallel()
	h := newThrottle(nil)
	for i := range failuresPerAccount / failuresPerPair {
		require.Equal(t, failuresPerPair, tries(t, h, "owner@acme.test", from(i), failuresPerPair))
	}
	allowed := 0
	for i := range 1000 {
		allowed += tries(t, h, "owner@acme.test", household(i), 1)
	}
	require.Equal(t, triesOfSite, allowed)
	require.Equal(t, triesWhenGuessed, tries(t, h, "owner@acme.test", netip.MustParseAddr("2001:db8:2::1"), 10), "another site")
	require.Equal(t, triesWhenGuessed, tries(t, h, "owner@acme.test", from(1000), 10))
	require.Equal(t, failuresPerPair, tries(t, h, "other@acme.test", household(2000), 20), "another account")
	own := newAttempt("owner@acme.test", netip.MustParseAddr("2001:db8:3::1"))
	for range 2 * triesOfSite {
		require.NoError(t, h.allow(t.Context(), own), "the owner logs in as often as they like")
		h.succeeded(t.Context(), own)
	}
}

// What the server could not decide is no failure, however often it is tried.
func TestWhatNobodyDecidedDoesNotCount(t *testing.T) {
	t.Parallel()
	h := newThrottle(nil)
	own := newAttempt("owner@acme.test", from(1))
	require.Equal(t, failuresPerPair-1, tries(t, h, "owner@acme.test", from(1), failuresPerPair-1))
	for range 2 * failuresPerAccount {
		require.NoError(t, h.allow(t.Context(), own))
		h.undecided(t.Context(), own)
	}
	require.Equal(t, 1, tries(t, h, "owner@acme.test", from(1), 5), "what failed before stays counted")

	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	hasty := newAttempt("hasty@acme.test", from(2))
	for range failuresPerPair {
		require.NoError(t, h.allow(t.Context(), hasty))
		h.undecided(gone, hasty)
	}
	require.Zero(t, tries(t, h, "hasty@acme.test", from(2), 1), "who hangs up is counted")
}

func TestSuccessesDoNotCount(t *testing.T) {
	t.Parallel()
	h := newThrottle(nil)
	for i := range 3 * failuresPerAddress {
		a := newAttempt(strconv.Itoa(i%3), from(1))
		require.NoError(t, h.allow(t.Context(), a))
		h.succeeded(t.Context(), a)
	}
}

// What fails here counts there, and a success there opens the door here.
func TestProcessesShareTheThrottle(t *testing.T) {
	t.Parallel()
	shared := limit.Memory(nil)
	here, there := newThrottle(shared), newThrottle(shared)
	require.Equal(t, failuresPerPair/2, tries(t, here, "owner@acme.test", from(1), failuresPerPair/2))
	require.Equal(t, failuresPerPair/2, tries(t, there, "owner@acme.test", from(1), failuresPerPair))
	there.succeeded(t.Context(), newAttempt("owner@acme.test", from(1)))
	require.Equal(t, 1, tries(t, here, "owner@acme.test", from(1), 1))
}

// While Redis is away each process counts by itself: people get in, guessing
// stays slow.
func TestTheThrottleHoldsWithoutRedis(t *testing.T) {
	t.Parallel()
	shared, err := limit.New(limit.Options{RedisURL: limittest.Hanging(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, shared.Close()) })
	h := newThrottle(shared)
	require.Equal(t, failuresPerPair, tries(t, h, "owner@acme.test", from(1), 2*failuresPerPair))
	own := newAttempt("owner@acme.test", from(2))
	for range 2 * failuresPerPair {
		require.NoError(t, h.allow(t.Context(), own))
		h.succeeded(t.Context(), own)
	}
}
