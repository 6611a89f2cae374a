package limit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/common"
)

const (
	// cleanEvery is how often windows that are over are dropped from memory.
	cleanEvery = time.Minute
	// maxKeys bounds the memory, to about 100 MB, against callers who make up
	// names: a new one has no count then, until others are dropped.
	maxKeys = 400_000
)

var errFull = errors.New("too many buckets to remember another one")

// memoryStore counts in this process. The library's own store remembers without
// bounds, cleans by a goroutine that only the garbage collector ends, and ends its
// windows by the machine's clock, which somebody may set back.
type memoryStore struct {
	began   time.Time
	windows sync.Map     // *window by key
	keys    atomic.Int64 // about as many as there are
	cleaned atomic.Int64 // when, in nanoseconds since it began
	maxKeys int64
}

// window is the count of a bucket until its end, which is told from when the store
// began: no step of the machine's clock is in that.
type window struct {
	mu      sync.Mutex
	count   int64
	end     time.Duration // 0 before anything was counted
	dropped bool          // from the store: what is counted here is lost
}

func newMemory() *memoryStore { return &memoryStore{began: time.Now(), maxKeys: maxKeys} }

func (m *memoryStore) age() time.Duration { return time.Since(m.began) }

// Increment adds n to a counter.
func (m *memoryStore) Increment(_ context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	m.clean(cleanEvery)
	for {
		w, err := m.window(key)
		if err != nil {
			return limiter.Context{}, err
		}
		if count, left, ok := w.add(n, m.age(), rate.Period); ok {
			return state(rate, count, left), nil
		}
		m.windows.CompareAndDelete(key, w) // who drops it may not have come to that yet
	}
}

// window is the window of a bucket, a new one where there is none.
func (m *memoryStore) window(key string) (*window, error) {
	known, ok := m.windows.Load(key)
	if !ok {
		if m.keys.Load() >= m.maxKeys {
			m.clean(time.Second)
			return nil, errFull
		}
		if known, ok = m.windows.LoadOrStore(key, &window{}); !ok {
			m.keys.Add(1)
		}
	}
	return known.(*window), nil
}

// Peek returns a counter as it is.
func (m *memoryStore) Peek(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	known, ok := m.windows.Load(key)
	if !ok {
		return state(rate, 0, rate.Period), nil
	}
	count, left := known.(*window).look(m.age(), rate.Period)
	return state(rate, count, left), nil
}

// Reset drops a counter.
func (m *memoryStore) Reset(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	m.windows.Delete(key)
	return state(rate, 0, rate.Period), nil
}

// add counts n in the window, or begins the next one, and tells how long it lasts. It
// is not ok where the window was dropped: another one counts.
func (w *window) add(n int64, now, period time.Duration) (count int64, left time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dropped {
		return 0, 0, false
	}
	if w.over(now) {
		w.count, w.end = 0, now+period
	}
	w.count += n
	return w.count, w.end - now, true
}

func (w *window) look(now, period time.Duration) (count int64, left time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over(now) {
		return 0, period
	}
	return w.count, w.end - now
}

// drop ends the window for good if it is over, which one is not that has not begun. It
// reports whether it did.
func (w *window) drop(now time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = w.end != 0 && w.over(now)
	return w.dropped
}

func (w *window) over(now time.Duration) bool { return w.end == 0 || now > w.end }

// state is what the library's callers are told, which is when a window ends.
func state(rate limiter.Rate, count int64, left time.Duration) limiter.Context {
	now := time.Now()
	return common.GetContextFromState(now, rate, now.Add(left), count)
}

// clean drops what is over, unless that was done a moment ago. One caller does
// it, beside the others.
func (m *memoryStore) clean(every time.Duration) {
	now, last := m.age(), m.cleaned.Load()
	if now-time.Duration(last) < every || !m.cleaned.CompareAndSwap(last, int64(now)) {
		return
	}
	go func() {
		var left int64
		m.windows.Range(func(key, known any) bool {
			if known.(*window).drop(m.age()) {
				m.windows.CompareAndDelete(key, known)
			} else {
				left++
			}
			return true
		})
		m.keys.Store(left)
	}()
}
