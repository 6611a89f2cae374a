package edge

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/limit"
)

// Limits puts rate limits on requests: it tells callers in headers how they
// stand and refuses what is too much. Headers are advice; Retry-After is what
// counts.
type Limits struct {
	limiter *limit.Limiter
	// unproven bounds the keys that one address can make up.
	unproven *limit.Limiter
	refused  *prometheus.CounterVec
	again    refusals
}

const tooMany = "too many requests"

// NewLimits registers the metrics, if there are limits. Both may be nil.
func NewLimits(l *limit.Limiter, reg prometheus.Registerer) *Limits {
	limits := &Limits{limiter: l, unproven: l.Times(limit.Address, unprovenTimes), refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "taskloom_rate_limited_total",
		Help: "Requests that were refused because a bucket was full, in requests.",
	}, []string{"bucket"})}
	if l == nil || reg == nil {
		return limits
	}
	for _, b := range []limit.Bucket{limit.Key, limit.Address, limit.FailedAuth} {
		limits.refused.WithLabelValues(string(b)) // from zero on, for rates
	}
	reg.MustRegister(limits.refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "taskloom_rate_limit_store_up",
		Help: "1 when requests can be counted, 0 while Redis does not answer.",
	}, func() float64 {
		if l.Up() {
			return 1
		}
		return 0
	}))
	return limits
}

// Admit counts a request against a bucket, of limit.Address that of a Network. The
// error refuses it. While counts are not to be had, everybody is admitted.
func (l *Limits) Admit(ctx context.Context, h http.Header, b limit.Bucket, id string, cost int64) error {
	_, err := l.admit(ctx, h, b, id, cost)
	return err
}

// AdmitKey is Admit for a key that is good. Whom it refuses AgainRefused refuses
// for a moment.
func (l *Limits) AdmitKey(ctx context.Context, h http.Header, id string, cost int64) error {
	d, err := l.admit(ctx, h, limit.Key, id, cost)
	if err != nil {
		l.again.note(id, d, time.Now())
	}
	return err
}

func (l *Limits) admit(ctx context.Context, h http.Header, b limit.Bucket, id string, cost int64) (limit.Decision, error) {
	d := l.limiter.Take(ctx, b, id, cost)
	advise(h, d)
	switch {
	case !d.Reached:
		return d, nil
	case b == limit.Address:
		return d, l.refuseFrom(ctx, id, d, tooMany)
	}
	return d, l.refuse(ctx, d, tooMany)
}

// unprovenTimes is how many times the rate of an address it has for calls that
// carry keys which nobody checks. Without a bound, a key made up for each call
// would open a bucket for each call.
const unprovenTimes = 10

// AdmitUnproven is Admit by the key that came with a request which needs none.
func (l *Limits) AdmitUnproven(ctx context.Context, h http.Header, keyID string, client netip.Addr, cost int64) error {
	network := Network(client)
	if d := l.unproven.Take(ctx, limit.Address, "keys of "+network, cost); d.Reached {
		return l.refuseFrom(ctx, network, d, tooMany)
	}
	return l.Admit(ctx, h, limit.Key, keyID, cost)
}

// Failed counts a failed authentication against its sender's address and
// returns what the answer is: err, or that there were too many. While counts are
// not to be had, nobody may go on guessing.
func (l *Limits) Failed(ctx context.Context, h http.Header, client netip.Addr, err error) error {
	network := Network(client)
	d := l.limiter.Take(ctx, limit.FailedAuth, network, 1)
	advise(h, d)
	switch {
	case d.Unknown:
		return l.refuseFrom(ctx, network, d, "requests without a valid API key cannot be counted at the moment, so this one is refused; check the key")
	case d.Reached:
		return l.refuseFrom(ctx, network, d, "too many requests without a valid API key from this address; check the key")
	}
	return err
}

// Charge counts what a request turned out to cost beyond what it was admitted
// for.
func (l *Limits) Charge(ctx context.Context, h http.Header, b limit.Bucket, id string, cost int64) {
	if cost > 0 {
		advise(h, l.limiter.Charge(ctx, b, id, cost))
	}
}

// refuseFrom is refuse of whom a network counts for, which the log line then has:
// whoever is to stop them must know where they are.
func (l *Limits) refuseFrom(ctx context.Context, network string, d limit.Decision, what string) error {
	From(ctx).Note(slog.String("client", network))
	return l.refuse(ctx, d, what)
}

func (l *Limits) refuse(ctx context.Context, d limit.Decision, what string) error {
	l.refused.WithLabelValues(string(d.Bucket)).Inc()
	From(ctx).Note(slog.String("rate_limited", string(d.Bucket)))
	wait, unit := d.Seconds(), "seconds"
	if wait == 1 {
		unit = "second"
	}
	return fault.New(fault.RateLimited, "%s; wait %d %s", what, wait, unit).After(time.Duration(wait) * time.Second)
}

// advise tells the caller how they stand (draft-ietf-httpapi-ratelimit-headers).
func advise(h http.Header, d limit.Decision) {
	if !d.Counted() {
		return
	}
	h.Set("RateLimit-Policy", d.Policy())
	h.Set("RateLimit", d.State())
}

// KeyID names the bucket of an API key, of which hash is what the database
// stores. The key itself leaves the process nowhere.
func KeyID(hash [32]byte) string { return hex.EncodeToString(hash[:16]) }

// Network is whom an address counts for. A household has a whole IPv6 /64.
func Network(a netip.Addr) string {
	const household = 64
	if n := network6(a, household); n != "" {
		return n
	}
	return a.String()
}

// Site is the largest network that a provider commonly gives one customer, an
// IPv6 /48; "" for an IPv4 address, which is all that its customer has.
func Site(a netip.Addr) string {
	const site = 48
	return network6(a, site)
}

// network6 is the IPv6 network of an address, "" for one of IPv4.
func network6(a netip.Addr, bits int) string {
	if !a.Is6() {
		return ""
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return ""
	}
	return p.String()
}
