package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"
	"time"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
)

// How many logins may fail: in a minute from one address, whatever the account;
// in a minute for one account from one address; and in an hour for one account,
// wherever from. The last one does not lock the account, for then strangers
// could keep its owner out: beyond it each address still has one try a minute,
// and those of one IPv6 site, which has tens of thousands, a few together.
const (
	failuresPerAddress = 60
	failuresPerPair    = 10
	failuresPerAccount = 100
	triesWhenGuessed   = 1
	triesOfSite        = 10
)

// throttle slows down the guessing of passwords.
type throttle struct{ address, pair, account, site window }

func newThrottle(shared *limit.Limiter) *throttle {
	rates := limit.Rates{
		"login_address": {Limit: failuresPerAddress, Period: time.Minute},
		"login_pair":    {Limit: failuresPerPair, Period: time.Minute},
		"login_account": {Limit: failuresPerAccount, Period: time.Hour},
		"login_site":    {Limit: triesOfSite, Period: time.Minute},
	}
	// Each has a memory of its own: accounts are remembered for an hour, so a network that makes
	// them up can fill theirs, and addresses must still be counted then.
	in := func(b limit.Bucket) window {
		return window{bucket: b, shared: shared.With(rates), own: limit.Memory(rates)}
	}
	return &throttle{address: in("login_address"), pair: in("login_pair"), account: in("login_account"), site: in("login_site")}
}

// window counts in the store that processes share, or in this process: where
// there is no such store, and while it is away. So a dead one neither locks
// people out nor lets strangers guess.
type window struct {
	bucket      limit.Bucket
	shared, own *limit.Limiter
}

func (w window) count(act func(*limit.Limiter) limit.Decision) limit.Decision {
	if w.shared != nil {
		if d := act(w.shared); !d.Unknown {
			return d
		}
	}
	return act(w.own)
}

func (w window) take(ctx context.Context, key string) limit.Decision {
	return w.count(func(l *limit.Limiter) limit.Decision { return l.Take(ctx, w.bucket, key, 1) })
}

func (w window) giveBack(ctx context.Context, key string) {
	w.count(func(l *limit.Limiter) limit.Decision { return l.Return(ctx, w.bucket, key, 1) })
}

func (w window) forget(ctx context.Context, key string) {
	w.count(func(l *limit.Limiter) limit.Decision { return l.Forget(ctx, w.bucket, key) })
}

// attempt is a login whose password is about to be checked. Its site is empty
// where it comes over IPv4.
type attempt struct{ address, pair, account, site string }

func newAttempt(email string, from netip.Addr) attempt {
	email = strings.ToLower(strings.TrimSpace(email))
	a := attempt{address: edge.Network(from), account: digest(email)}
	a.pair = digest(email + "\x00" + a.address)
	if site := edge.Site(from); site != "" {
		a.site = digest(email + "\x00" + site)
	}
	return a
}

// digest has a fixed size, whatever is sent as an email.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// allow counts an attempt before its password is checked, so that attempts at
// the same time count too. The address comes first: once it is exhausted,
// whatever else it sends is not remembered. An account whose count is not to be had
// counts as guessed.
func (t *throttle) allow(ctx context.Context, a attempt) error {
	if address := t.address.take(ctx, a.address); address.Reached || address.Unknown {
		return tooMany(address)
	}
	pair := t.pair.take(ctx, a.pair)
	if pair.Reached || pair.Unknown {
		return tooMany(pair)
	}
	account := t.account.take(ctx, a.account)
	if !account.Reached && !account.Unknown {
		return nil
	}
	if pair.Rate.Limit-pair.Remaining > triesWhenGuessed {
		return tooMany(pair)
	}
	if a.site == "" {
		return nil
	}
	if site := t.site.take(ctx, a.site); site.Reached || site.Unknown {
		return tooMany(site)
	}
	return nil
}

func tooMany(d limit.Decision) error {
	return fault.New(fault.RateLimited, "too many failed logins; wait, then try again").After(d.Reset)
}

// succeeded takes the attempt back: only failures count.
func (t *throttle) succeeded(ctx context.Context, a attempt) {
	t.address.giveBack(ctx, a.address)
	t.account.giveBack(ctx, a.account)
	t.pair.forget(ctx, a.pair)
	if a.site != "" {
		t.site.forget(ctx, a.site)
	}
}

// undecided takes an attempt back of which nobody knows whether it would have
// failed: an outage of ours is no guessing of theirs. What counts only of guessed
// accounts stays. A caller who hung up stays counted, too: it would never be otherwise.
func (t *throttle) undecided(ctx context.Context, a attempt) {
	if ctx.Err() != nil {
		return
	}
	t.address.giveBack(ctx, a.address)
	t.account.giveBack(ctx, a.account)
	t.pair.giveBack(ctx, a.pair)
}
