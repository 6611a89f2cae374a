// Package limit counts requests against rates, in fixed windows: in this
// process, or in a Redis that all processes share. It knows nothing of HTTP and
// never fails: when the count is not to be had it says so, and the caller
// decides what that means.
package limit

import (
	"context"
	"log/slog"
	"time"

	"github.com/ulule/limiter/v3"
)

// store is what is used of limiter.Store.
type store interface {
	Increment(ctx context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error)
	Peek(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error)
	Reset(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error)
}

// Options say where and how much is counted.
type Options struct {
	Rates Rates
	// RedisURL is where processes share their counts; empty means that this
	// process counts by itself.
	RedisURL string
	// Log is told when Redis goes away and when it is back.
	Log *slog.Logger
	// Timeout bounds each wait for Redis, Pause is how long it is left alone
	// after it failed. Zero means DefaultTimeout and DefaultPause.
	Timeout, Pause time.Duration
}

// DefaultTimeout is long for a Redis nearby, and short for a caller who waits
// while it is dead; DefaultPause makes that one caller in so many seconds.
const (
	DefaultTimeout = 250 * time.Millisecond
	DefaultPause   = 3 * time.Second
)

// Limiter counts. A nil Limiter limits nothing.
type Limiter struct {
	rates Rates
	store store
	redis *redisStore // nil when this process counts by itself
}

// New makes a Limiter. A Redis that is not there is no error: it may come. The
// caller closes the Limiter.
func New(o Options) (*Limiter, error) {
	if o.RedisURL == "" {
		return Memory(o.Rates), nil
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Pause == 0 {
		o.Pause = DefaultPause
	}
	r, err := openRedis(o)
	if err != nil {
		return nil, err
	}
	return &Limiter{rates: o.Rates, store: r, redis: r}, nil
}

// Memory makes a Limiter that counts in this process. It needs no closing.
func Memory(rates Rates) *Limiter { return &Limiter{rates: rates, store: newMemory()} }

// With returns a Limiter over the same store that has other rates; nil over
// nil. Buckets of the same name are the same buckets.
func (l *Limiter) With(rates Rates) *Limiter {
	if l == nil {
		return nil
	}
	return &Limiter{rates: rates, store: l.store, redis: l.redis}
}

// Times returns a Limiter over the same store that allows one bucket n times as
// much and limits nothing else; nil over nil.
func (l *Limiter) Times(b Bucket, n int64) *Limiter {
	if l == nil {
		return nil
	}
	rate := l.rates[b]
	rate.Limit *= n
	return l.With(Rates{b: rate})
}

// Take counts cost against a bucket and decides. What is refused counts, too,
// and does not make the wait longer: windows are fixed.
func (l *Limiter) Take(ctx context.Context, b Bucket, key string, cost int64) Decision {
	rate, limited := l.rate(b)
	if !limited {
		return Decision{}
	}
	// What costs more than a whole window would never be admitted.
	c, err := l.store.Increment(ctx, place(b, key), min(cost, rate.Limit), rate.ulule())
	return l.decide(b, rate, c, err)
}

// Charge counts what is known only after the decision, such as the size of a
// body. It refuses nothing by itself: the next Take does.
func (l *Limiter) Charge(ctx context.Context, b Bucket, key string, cost int64) Decision {
	rate, limited := l.rate(b)
	if !limited {
		return Decision{}
	}
	c, err := l.store.Increment(ctx, place(b, key), cost, rate.ulule())
	return l.decide(b, rate, c, err)
}

// Return takes a Take of that cost back.
func (l *Limiter) Return(ctx context.Context, b Bucket, key string, cost int64) Decision {
	return l.Charge(ctx, b, key, -cost)
}

// Forget empties a bucket.
func (l *Limiter) Forget(ctx context.Context, b Bucket, key string) Decision {
	rate, limited := l.rate(b)
	if !limited {
		return Decision{}
	}
	c, err := l.store.Reset(ctx, place(b, key), rate.ulule())
	return l.decide(b, rate, c, err)
}

// Peek decides without counting.
func (l *Limiter) Peek(ctx context.Context, b Bucket, key string) Decision {
	rate, limited := l.rate(b)
	if !limited {
		return Decision{}
	}
	c, err := l.store.Peek(ctx, place(b, key), rate.ulule())
	return l.decide(b, rate, c, err)
}

// Up reports whether counts are to be had, as far as the last try tells. After one
// that failed it tries itself: there may be nobody whose request has to be counted.
func (l *Limiter) Up() bool {
	if l == nil || l.redis == nil || l.redis.up.Load() {
		return true
	}
	l.redis.try()
	return l.redis.up.Load()
}

// Close ends the connections to Redis.
func (l *Limiter) Close() error {
	if l == nil || l.redis == nil {
		return nil
	}
	return l.redis.close()
}

func (l *Limiter) rate(b Bucket) (Rate, bool) {
	if l == nil {
		return Rate{}, false
	}
	r := l.rates[b]
	return r, !r.Off()
}

func (l *Limiter) decide(b Bucket, rate Rate, c limiter.Context, err error) Decision {
	d := Decision{Bucket: b, Rate: rate}
	if err != nil {
		d.Unknown = true
		d.Reset = DefaultPause
		if l.redis != nil {
			d.Reset = l.redis.pause
		}
		return d
	}
	d.Remaining, d.Reached = c.Remaining, c.Reached
	// The library cuts the end of the window down to whole seconds; who comes
	// back a second after that is not too early.
	d.Reset = time.Until(time.Unix(c.Reset+1, 0))
	return d
}

// place is the key under which a bucket is stored.
func place(b Bucket, key string) string { return string(b) + ":" + key }
