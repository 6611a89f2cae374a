package main

import (
	"context"
	"os"
	"time"

	"github.com/taskloom/taskloom/internal/measure/procfs"
)

// A disk that brings nothing back for a while although something waits for it stops all
// that writes, whoever it is. Machines that share a disk with others have such moments.
// They count as any others, and are told beside the figures.
const (
	// diskEach is how often the disk is looked at.
	diskEach = 50 * time.Millisecond
	// stillFor is from when on it stands still: a flush of a busy disk takes less.
	stillFor = 250 * time.Millisecond
	// stillLooks it must have been seen to: without them this program stood still itself.
	stillLooks = 3
)

// stillness is how long a disk stood still.
type stillness struct {
	times        int
	all, longest time.Duration

	done  int64     // what had come back
	good  time.Time // the last look at which something had, or nothing was waited for
	stuck time.Time // the last look since at which it was neither
	looks int       // of those
}

// saw takes a look at the disk into account.
func (s *stillness) saw(d procfs.Disk, at time.Time) {
	if d.Waiting > 0 && d.Done == s.done && !s.good.IsZero() {
		s.stuck = at
		s.looks++
		return
	}
	if span := s.stuck.Sub(s.good); s.looks >= stillLooks && span >= stillFor {
		s.times++
		s.all += span
		s.longest = max(s.longest, span)
	}
	s.done, s.good, s.looks = d.Done, at, 0
}

// watchDisk looks at the disk of the stack until the run ends.
func (r *run) watchDisk(ctx context.Context) {
	dir := os.Getenv("DEV_DIR")
	if dir == "" {
		return // it is not on this machine
	}
	next := time.NewTicker(diskEach)
	defer next.Stop()
	for {
		d, err := procfs.DiskOf(dir)
		if err != nil {
			r.note("whether the disk stood still is not known: %v", err)
			return
		}
		r.disk.with(func(s *stillness) { s.saw(d, time.Now()) })
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
	}
}

// sumDisk tells how long the disk stood still.
func (r *run) sumDisk() {
	s := r.disk.get()
	if s.good.IsZero() {
		return // nobody looked
	}
	r.number("disk stood still, s", s.all.Seconds())
	r.number("disk stood still, times", float64(s.times))
	r.number("disk stood still, longest s", s.longest.Seconds())
	if s.times > 0 {
		r.note("the disk brought nothing back for %.1f s, in %d moments of up to %.1f s, although something waited for it: "+
			"whatever writes stood still then", s.all.Seconds(), s.times, s.longest.Seconds())
	}
}
