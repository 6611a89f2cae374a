package limit

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/common"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

const (
	// cleanEvery is how often windows that are over are dropped from memory.
	cleanEvery = time.Minute
	// maxKeys bounds the memory, to about 100 MB, against callers who make up
	// names: a new one has no count then, until others are dropped.
	maxKeys = 400_000
)

var errFull = errors.New("too many buckets to remember another one")

// memoryStore counts in this process, on the library's counters. The library's
// own store remembers without bounds and cleans by a goroutine that only the
// garbage collector ends; this one cleans when it is used.
type memoryStore struct {
	counters *memory.CacheWrapper
	keys     atomic.Int64 // about as many as there are
	cleaned  atomic.Int64 // when, in Unix nanoseconds
	maxKeys  int64
}

func newMemory() *memoryStore {
	m := &memoryStore{counters: memory.NewCache(0), maxKeys: maxKeys}
	m.cleaned.Store(time.Now().UnixNano())
	return m
}

// Increment adds n to a counter.
func (m *memoryStore) Increment(_ context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	m.clean(cleanEvery)
	if _, known := m.counters.Load(key); !known {
		if m.keys.Load() >= m.maxKeys {
			m.clean(time.Second)
			return limiter.Context{}, errFull
		}
		m.keys.Add(1)
	}
	count, end := m.counters.Increment(key, n, rate.Period)
	return common.GetContextFromState(time.Now(), rate, end, count), nil
}

// Peek returns a counter as it is.
func (m *memoryStore) Peek(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	count, end := m.counters.Get(key, rate.Period)
	return common.GetContextFromState(time.Now(), rate, end, count), nil
}

// Reset drops a counter.
func (m *memoryStore) Reset(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	count, end := m.counters.Reset(key, rate.Period)
	return common.GetContextFromState(time.Now(), rate, end, count), nil
}

// clean drops what is over, unless that was done a moment ago. One caller does
// it, beside the others.
func (m *memoryStore) clean(every time.Duration) {
	now, last := time.Now().UnixNano(), m.cleaned.Load()
	if now-last < int64(every) || !m.cleaned.CompareAndSwap(last, now) {
		return
	}
	go func() {
		m.counters.Clean()
		var left int64
		m.counters.Range(func(string, *memory.Counter) { left++ })
		m.keys.Store(left)
	}()
}
