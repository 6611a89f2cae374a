package arrival

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// MostOpen bounds what may be under way at a time. A run that reaches it is no
// open loop any more; Loop counts what it left out.
const MostOpen = 20_000

// Loop starts what is due, each in its own time: whether something that was
// started before is done does not matter.
type Loop struct {
	Began time.Time
	// Late is told by how much each began after it was due: how well this
	// program itself keeps up.
	Late func(due time.Time, by time.Duration)

	open    atomic.Int64
	left    atomic.Int64
	started sync.WaitGroup
}

// LeftOut is how many were due and never started.
func (l *Loop) LeftOut() int64 { return l.left.Load() }

// Open is how many are under way.
func (l *Loop) Open() int64 { return l.open.Load() }

// Run starts do for each time, until ctx ends or the times do. It returns when
// the last one was started; Wait waits until all are done.
func (l *Loop) Run(ctx context.Context, times Times, do func(due time.Time)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for at := range times {
		due := l.Began.Add(at)
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		} else if ctx.Err() != nil {
			return
		}
		l.Start(due, func() { do(due) })
	}
}

// Start starts one thing beside all others.
func (l *Loop) Start(due time.Time, do func()) {
	if l.open.Add(1) > MostOpen {
		l.open.Add(-1)
		l.left.Add(1)
		return
	}
	if l.Late != nil {
		l.Late(due, max(0, time.Since(due)))
	}
	l.started.Go(func() {
		defer l.open.Add(-1)
		do()
	})
}

// Wait waits until all that was started is done.
func (l *Loop) Wait() { l.started.Wait() }
