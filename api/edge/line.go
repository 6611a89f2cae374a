package edge

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// patience is how long a request waits for its turn. A burst is let in as work
// gets done. Once somebody has waited for all of that in vain, waiting makes
// everybody late and serves nobody more: whoever comes is told to come again
// soon, until nobody had to be told so for as long as a burst takes (controlled
// delay, as in Maurer, "Fail at Scale", ACM Queue 2015). That the line is empty
// for a moment does not end an overload, for where processors are short, it is
// empty whenever the process did not run.
type patience struct{ burst, overload time.Duration }

// What is answered in milliseconds waits for milliseconds; what takes a second
// or more by its nature would be turned away by that with nobody else there.
var (
	quickPatience = patience{burst: 100 * time.Millisecond, overload: 5 * time.Millisecond}
	slowPatience  = patience{burst: 2 * time.Second, overload: 500 * time.Millisecond}
)

// longestLine is how many wait at a time at most. In an overload, it is as many
// as are let in.
const longestLine = 1024

// line is a number of places and who waits for one, in order of arrival.
type line struct {
	places *semaphore.Weighted
	size   int64
	patience
	now func() time.Time
	// waiting is how many stand in line.
	waiting atomic.Int64
	// vain is when somebody was last turned away, in nanoseconds since 1970.
	vain atomic.Int64
}

func newLine(places int, p patience, now func() time.Time) *line {
	return &line{places: semaphore.NewWeighted(int64(places)), size: int64(places), patience: p, now: now}
}

// enter takes a place and reports whether there was one in time.
func (l *line) enter(ctx context.Context) bool {
	if l.places.TryAcquire(1) { // fails while others wait, too
		return true
	}
	most := l.burst
	if l.overloaded() {
		most = l.overload
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	inTime, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if l.places.Acquire(inTime, 1) == nil {
		return true
	}
	if ctx.Err() == nil { // not someone who left
		l.vain.Store(l.now().UnixNano())
	}
	return false
}

// overloaded reports whether somebody was turned away not long ago.
func (l *line) overloaded() bool { return l.now().UnixNano()-l.vain.Load() < l.burst.Nanoseconds() }

// full reports whether the line is so long that nobody new has a chance. Who
// asks is turned away by that.
func (l *line) full() bool {
	n := l.waiting.Load()
	full := n >= longestLine || n >= l.size && l.overloaded()
	if full {
		l.vain.Store(l.now().UnixNano())
	}
	return full
}
