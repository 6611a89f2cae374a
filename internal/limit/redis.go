package limit

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/sony/gobreaker/v2"
	"github.com/ulule/limiter/v3"
	redisstore "github.com/ulule/limiter/v3/drivers/store/redis"
)

// prefix begins every key in Redis.
const prefix = "taskloom:limit"

// ParseURL reads the address of a Redis. The error does not repeat the address,
// which may hold a password.
func ParseURL(address string) (*redis.Options, error) {
	o, err := redis.ParseURL(address)
	if err == nil {
		return o, nil
	}
	const wanted = "is no address of a Redis; write redis://user:password@host:6379/0, or rediss:// for TLS"
	if _, quotes := errors.AsType[*url.Error](err); quotes {
		return nil, errors.New(wanted)
	}
	return nil, errors.New(wanted + " (" + err.Error() + ")")
}

// redisStore counts in Redis as long as that answers. After a failure it fails
// at once, without asking, until a pause is over; then one caller tries.
type redisStore struct {
	client  *redis.Client
	breaker *gobreaker.CircuitBreaker[limiter.Context]
	timeout time.Duration
	pause   time.Duration
	log     *slog.Logger
	up      atomic.Bool
	cause   atomic.Value // the text of the last failure

	mu     sync.Mutex
	opened limiter.Store // nil until Redis has answered once
}

func openRedis(o Options) (*redisStore, error) {
	options, err := ParseURL(o.RedisURL)
	if err != nil {
		return nil, err
	}
	silence()
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = o.Timeout, o.Timeout, o.Timeout
	options.PoolTimeout = o.Timeout / 2  // a crowd is to be told from a dead Redis, see IsExcluded
	options.ContextTimeoutEnabled = true // bounds all of that together
	options.MaxRetries, options.DialerRetries = -1, 1
	options.ClientName = "taskloom"
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	s := &redisStore{client: redis.NewClient(options), timeout: o.Timeout, pause: o.Pause, log: o.Log}
	s.up.Store(true)
	s.breaker = gobreaker.NewCircuitBreaker[limiter.Context](gobreaker.Settings{
		Name: "redis", MaxRequests: 1, Timeout: o.Pause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures > 0 },
		// A crowd that waits for connections says nothing about Redis.
		IsExcluded:    func(err error) bool { return errors.Is(err, redis.ErrPoolTimeout) },
		OnStateChange: s.changed,
	})
	// The first try comes before there are callers: if it fails, they find the
	// breaker open and do not queue up for the next one.
	s.try()
	return s, nil
}

// try asks Redis for nothing but an answer.
func (s *redisStore) try() {
	_, _ = s.do(context.Background(), func(ctx context.Context, _ limiter.Store) (limiter.Context, error) {
		return limiter.Context{}, s.client.Ping(ctx).Err()
	})
}

// silence keeps the client from writing what it also returns to standard error.
var silence = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// changed logs when Redis goes away and when it is back; tries in between are
// not news.
func (s *redisStore) changed(_ string, from, to gobreaker.State) {
	switch {
	case from == gobreaker.StateClosed:
		s.up.Store(false)
		s.log.Warn("Redis does not answer: until it does, requests are not counted and failed authentications are refused.",
			"addr", s.client.Options().Addr, "error", s.cause.Load())
	case to == gobreaker.StateClosed:
		s.up.Store(true)
		s.log.Info("Redis answers: requests are counted again.", "addr", s.client.Options().Addr)
	}
}

// do asks Redis, unless it failed a moment ago. A caller who hangs up does not
// end the call: that would look like a failure of Redis.
func (s *redisStore) do(ctx context.Context, ask func(context.Context, limiter.Store) (limiter.Context, error)) (limiter.Context, error) {
	return s.breaker.Execute(func() (limiter.Context, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		st, err := s.open()
		var c limiter.Context
		if err == nil {
			c, err = ask(ctx, st)
		}
		if err != nil {
			s.cause.Store(err.Error())
		}
		return c, err
	})
}

// open makes the library's store, which loads its scripts into Redis: that works
// only when Redis is there. Nobody queues here for a dead one, see openRedis.
func (s *redisStore) open() (limiter.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return s.opened, nil
	}
	st, err := redisstore.NewStoreWithOptions(s.client, limiter.StoreOptions{Prefix: prefix})
	if err == nil {
		s.opened = st
	}
	return st, err
}

// Increment adds n to a counter.
func (s *redisStore) Increment(ctx context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	return s.do(ctx, func(ctx context.Context, st limiter.Store) (limiter.Context, error) {
		return st.Increment(ctx, key, n, rate)
	})
}

// Peek returns a counter as it is.
func (s *redisStore) Peek(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return s.do(ctx, func(ctx context.Context, st limiter.Store) (limiter.Context, error) {
		return st.Peek(ctx, key, rate)
	})
}

// Reset drops a counter.
func (s *redisStore) Reset(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return s.do(ctx, func(ctx context.Context, st limiter.Store) (limiter.Context, error) {
		return st.Reset(ctx, key, rate)
	})
}

func (s *redisStore) close() error { return s.client.Close() }
