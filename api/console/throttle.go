package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"github.com/taskloom/taskloom/internal/fault"
)

// How many logins may fail in a minute: for one account from one address, and
// from one address whatever the account. An account is never locked for other
// addresses, so nobody can lock out somebody else.
const (
	failuresPerAccount = 10
	failuresPerAddress = 60
)

// throttle slows down the guessing of passwords.
type throttle struct{ account, address *limiter.Limiter }

func newThrottle() *throttle {
	per := func(n int64) *limiter.Limiter {
		return limiter.New(memory.NewStore(), limiter.Rate{Period: time.Minute, Limit: n})
	}
	return &throttle{account: per(failuresPerAccount), address: per(failuresPerAddress)}
}

// allow counts an attempt on the account before its password is checked, so
// that attempts at the same time count too.
func (t *throttle) allow(ctx context.Context, email, from string) error {
	address, err := t.address.Peek(ctx, from)
	if err != nil {
		return err
	}
	account, err := t.account.Get(ctx, accountKey(email, from))
	if err != nil {
		return err
	}
	for _, c := range []limiter.Context{address, account} {
		if c.Reached || c.Remaining < 0 {
			return fault.New(fault.RateLimited, "too many failed logins; wait, then try again").
				After(time.Until(time.Unix(c.Reset, 0)))
		}
	}
	return nil
}

// failed counts against the address. The memory store cannot fail.
func (t *throttle) failed(ctx context.Context, from string) {
	_, _ = t.address.Increment(ctx, from, 1)
}

// succeeded forgets the failures on the account.
func (t *throttle) succeeded(ctx context.Context, email, from string) {
	_, _ = t.account.Reset(ctx, accountKey(email, from))
}

// accountKey has a fixed size, whatever is sent as an email.
func accountKey(email, from string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(email)) + "\x00" + from))
	return hex.EncodeToString(sum[:16])
}
