package edge

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// patience is how long a request waits for its turn. A burst is let in as work
// gets done. Who comes while requests have been waiting without a pause for
// lasting is told to come again soon: a line that does not get shorter only makes
// everybody late (controlled delay, as in Maurer, "Fail at Scale", ACM Queue
// 2015).
type patience struct {
	burst, lasting, lastingWait time.Duration
}

// What is answered in milliseconds waits for milliseconds; what takes a second
// or more by its nature would be turned away by that with nobody else there.
var (
	quickPatience = patience{burst: 100 * time.Millisecond, lasting: 500 * time.Millisecond, lastingWait: 5 * time.Millisecond}
	slowPatience  = patience{burst: 2 * time.Second, lasting: 5 * time.Second, lastingWait: 500 * time.Millisecond}
)

// longestLine is how many wait at a time at most. While a line lasts, it is as
// many as are let in.
const longestLine = 1024

// line is a number of places and who waits for one, in order of arrival.
type line struct {
	places *semaphore.Weighted
	size   int64
	patience
	now func() time.Time
	// waiting is how many stand in line.
	waiting atomic.Int64
	// free is when somebody last found a place without waiting, in nanoseconds
	// since 1970.
	free atomic.Int64
}

func newLine(places int, p patience, now func() time.Time) *line {
	l := &line{places: semaphore.NewWeighted(int64(places)), size: int64(places), patience: p, now: now}
	l.free.Store(now().UnixNano())
	return l
}

// enter takes a place and reports whether there was one in time.
func (l *line) enter(ctx context.Context) bool {
	if l.places.TryAcquire(1) { // fails while others wait, too
		l.free.Store(l.now().UnixNano())
		return true
	}
	wait := l.burst
	if l.lasts() {
		wait = l.lastingWait
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return l.places.Acquire(ctx, 1) == nil
}

// lasts reports whether requests have been waiting without a pause for a while.
func (l *line) lasts() bool { return l.now().UnixNano()-l.free.Load() > l.lasting.Nanoseconds() }

// full reports whether the line is so long that nobody new has a chance.
func (l *line) full() bool {
	n := l.waiting.Load()
	return n >= longestLine || n >= l.size && l.lasts()
}
