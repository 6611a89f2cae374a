package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

// sweepPage is how many uploads, or files, one look of the sweep takes up.
const sweepPage = 100

// sweepTold is how many failures of a kind an attempt tells: with the object store
// away, there are as many as things to sweep.
const sweepTold = 10

const (
	// sweepOneTime is how long one thing may take. What was deleted of a large one by
	// then is deleted, but each try lists all of it from the front: one of a hundred
	// thousand files takes minutes on a slow object store, and must have them.
	sweepOneTime = 7 * time.Minute
	// handOver is how long before its deadline an attempt begins nothing more, so that
	// it is not the deadline that ends what is under way.
	handOver = sweepOneTime + 30*time.Second
)

// sweep is one attempt at a sweep.
type sweep struct {
	*Uploads

	// over says that nothing more is to be begun.
	over func() bool

	mu  sync.Mutex
	far SweepProgress // how far the sweep is, with the attempts before
}

// leftover is one thing that a sweep has to do.
type leftover struct {
	place SweepPlace
	sweep func(ctx context.Context) error
}

// sweptBefore is where the last attempt was: at the front where there was none, or none
// that told.
func sweptBefore(ctx context.Context) SweepProgress {
	var out SweepProgress
	if !activity.HasHeartbeatDetails(ctx) {
		return out
	}
	if err := activity.GetHeartbeatDetails(ctx, &out); err != nil {
		activity.GetLogger(ctx).Warn("A sweep begins anew: it does not understand how far it was.", "cause", err.Error())
		return SweepProgress{}
	}
	return out
}

func (s *sweep) progress() SweepProgress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.far
}

func (s *sweep) note(change func(p *SweepProgress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.far)
}

// goThrough does each of what is left of one kind, behind the place that it is at and
// in pages of sweepPage, until there is no more, or no time. It goes on behind what
// fails: nothing due is kept waiting by what cannot go, however much of that there is.
// One is done however late it is, so that each attempt comes further.
func (s *sweep) goThrough(ctx context.Context, at *SweepPlace, left func(ctx context.Context, after SweepPlace) ([]leftover, error)) error {
	var failed []error
	defer func() {
		if len(failed) > 0 {
			activity.GetLogger(ctx).Warn("The sweep went on behind what it could not delete.", "cause", errors.Join(failed...).Error())
		}
	}()
	for {
		var page []leftover
		err := unpanicked(ctx, func() (err error) {
			page, err = left(ctx, *at)
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range page {
			err := l.inTime(ctx)
			if err != nil && ctx.Err() != nil {
				return err // cut off, which is no word on it: the next attempt begins with it
			}
			s.pass(at, l.place, err)
			if err != nil && len(failed) < sweepTold {
				failed = append(failed, err)
			}
			if s.over() {
				return nil
			}
		}
		if len(page) < sweepPage {
			s.note(func(*SweepProgress) { *at = SweepPlace{Through: true} })
			return nil
		}
	}
}

// pass notes that one thing was tried.
func (s *sweep) pass(at *SweepPlace, place SweepPlace, err error) {
	s.note(func(p *SweepProgress) {
		at.Due, at.ID = place.Due, place.ID
		if err != nil {
			p.Done.Failed++
		} else {
			p.Done.Swept++
		}
	})
}

func (l leftover) inTime(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepOneTime)
	defer cancel()
	return unpanicked(ctx, func() error { return l.sweep(ctx) })
}

// unpanicked makes an error of a panic, of which the log tells. It would end the whole
// worker, whose steps the SDK guards in their own goroutines only.
func unpanicked(ctx context.Context, do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			activity.GetLogger(ctx).Error("The sweep panicked.", "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			err = errors.New("the sweep panicked")
		}
	}()
	return do()
}
