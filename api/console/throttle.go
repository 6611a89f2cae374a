package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"github.com/taskloom/taskloom/internal/fault"
)

// How many logins may fail: in a minute from one address, whatever the account;
// in a minute for one account from one address; and in an hour for one account,
// wherever from. The last one does not lock the account, for then strangers
// could keep its owner out: beyond it each address still has one try a minute.
const (
	failuresPerAddress = 60
	failuresPerPair    = 10
	failuresPerAccount = 100
	triesWhenGuessed   = 1
)

// throttle slows down the guessing of passwords.
type throttle struct{ address, pair, account *limiter.Limiter }

func newThrottle() *throttle {
	per := func(n int64, period time.Duration) *limiter.Limiter {
		return limiter.New(memory.NewStore(), limiter.Rate{Period: period, Limit: n})
	}
	return &throttle{
		address: per(failuresPerAddress, time.Minute),
		pair:    per(failuresPerPair, time.Minute),
		account: per(failuresPerAccount, time.Hour),
	}
}

// attempt is a login whose password is about to be checked.
type attempt struct{ address, pair, account string }

func newAttempt(email string, from netip.Addr) attempt {
	email = strings.ToLower(strings.TrimSpace(email))
	a := attempt{address: network(from), account: digest(email)}
	a.pair = digest(email + "\x00" + a.address)
	return a
}

// network is whom an address counts for. A household has a whole IPv6 /64.
func network(a netip.Addr) string {
	const household = 64
	if a.Is6() {
		if p, err := a.Prefix(household); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// digest has a fixed size, whatever is sent as an email.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// allow counts an attempt before its password is checked, so that attempts at
// the same time count too. The address comes first: once it is exhausted,
// whatever else it sends is not remembered.
func (t *throttle) allow(ctx context.Context, a attempt) error {
	address, err := t.address.Get(ctx, a.address)
	if err != nil || address.Reached {
		return tooMany(address, err)
	}
	pair, err := t.pair.Get(ctx, a.pair)
	if err != nil || pair.Reached {
		return tooMany(pair, err)
	}
	account, err := t.account.Get(ctx, a.account)
	if err != nil {
		return err
	}
	if account.Reached && pair.Limit-pair.Remaining > triesWhenGuessed {
		return tooMany(pair, nil)
	}
	return nil
}

func tooMany(c limiter.Context, err error) error {
	if err != nil {
		return err
	}
	return fault.New(fault.RateLimited, "too many failed logins; wait, then try again").
		After(time.Until(time.Unix(c.Reset, 0)))
}

// succeeded takes the attempt back: only failures count. The memory store
// cannot fail.
func (t *throttle) succeeded(ctx context.Context, a attempt) {
	_, _ = t.address.Increment(ctx, a.address, -1)
	_, _ = t.account.Increment(ctx, a.account, -1)
	_, _ = t.pair.Reset(ctx, a.pair)
}
