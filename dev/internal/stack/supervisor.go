// Package stack brings the parts of a stack up in order, watches them, and
// takes them down again: Postgres, Temporal and S3, and for `up` the product's
// own two processes as well.
package stack

import (
	"context"
	"sync"
	"time"

	"github.com/taskloom/taskloom/dev/internal/child"
	"github.com/taskloom/taskloom/dev/internal/progress"
)

// Part is one process of the stack.
type Part struct {
	Spec child.Spec
	// Title is the part's name for people.
	Title string
	// Await returns when the part can be used. It may return early, without an
	// error, when the process ends meanwhile.
	Await func(ctx context.Context, c *child.Child) error
}

// Supervisor runs parts. With restart set a part that dies comes back;
// otherwise its death is handed to who waits on Deaths.
type Supervisor struct {
	spawner *child.Spawner
	say     *progress.Reporter
	restart bool
	deaths  chan *DeathError
	hurry   <-chan struct{} // closed: stop at once, without patience

	mu      sync.Mutex
	running map[string]*running
}

// running is a part with the process that it is at the moment.
type running struct {
	part Part
	stop chan struct{} // closed when it is meant to end

	mu    sync.Mutex
	child *child.Child
}

func newSupervisor(spawner *child.Spawner, say *progress.Reporter, restart bool, hurry <-chan struct{}) *Supervisor {
	return &Supervisor{
		spawner: spawner, say: say, restart: restart,
		deaths: make(chan *DeathError, 8), hurry: hurry,
		running: map[string]*running{},
	}
}

// Start runs a part and returns when it can be used.
func (s *Supervisor) Start(ctx context.Context, part Part) error {
	step := s.say.Start(part.Title, "starting")
	err := s.start(ctx, part, step)
	step.Done(err)
	return err
}

func (s *Supervisor) start(ctx context.Context, part Part, step *progress.Step) error {
	if err := child.KeepPrevious(part.Spec.Log); err != nil {
		return err
	}
	c, err := s.spawner.Start(part.Spec, step.Doing)
	if err != nil {
		return err
	}
	r := &running{part: part, stop: make(chan struct{}), child: c}
	s.mu.Lock()
	s.running[part.Spec.Name] = r
	s.mu.Unlock()

	// The death of a part that never was ready is an error in any case.
	if err := part.Await(ctx, c); err != nil {
		return err
	}
	select {
	case <-c.Done():
		return newDeath(c)
	default:
	}
	go s.watch(r)
	return nil
}

// watch notices the end of a part and brings it back or reports it.
func (s *Supervisor) watch(r *running) {
	for {
		r.mu.Lock()
		c := r.child
		r.mu.Unlock()
		<-c.Done()
		select {
		case <-r.stop:
			return
		default:
		}
		death := newDeath(c)
		if !s.restart {
			s.deaths <- death
			return
		}
		s.say.Say("%s; starting it again", death.summary())
		if !s.revive(r, time.Since(c.Started)) {
			return
		}
	}
}

const (
	firstPause = 50 * time.Millisecond
	longPause  = 2 * time.Second
)

// revive starts the part again, after a pause that grows with each attempt and
// starts small again for a part that had lived for a while. It returns false
// when the part is meant to end.
func (s *Supervisor) revive(r *running, lived time.Duration) bool {
	pause := firstPause
	if lived < longPause {
		pause = longPause / 4
	}
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-r.stop:
			timer.Stop()
			return false
		}
		r.mu.Lock()
		c, err := s.spawner.Start(r.part.Spec, nil)
		if err == nil {
			r.child = c
		}
		r.mu.Unlock()
		if err == nil {
			return true
		}
		s.say.Say("%v; trying again", err)
		pause = min(2*pause, longPause)
	}
}

// Stop ends the named parts in order. A part that does not run is skipped.
func (s *Supervisor) Stop(names ...string) {
	for _, name := range names {
		s.mu.Lock()
		r := s.running[name]
		delete(s.running, name)
		s.mu.Unlock()
		if r == nil {
			continue
		}
		close(r.stop)
		step := s.say.Start(r.part.Title, "stopping")
		r.mu.Lock()
		forced := r.child.Halt(s.hurry)
		r.mu.Unlock()
		step.Done(nil)
		select {
		case <-s.hurry:
		default:
			if forced > 0 {
				s.say.Say("%s did not stop in time and was made to; its log is %s", name, r.part.Spec.Log)
			}
		}
	}
}
