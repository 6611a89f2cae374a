package activities

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/giveway"
)

const (
	// stepsWait is how long people may wait for what follows from what they did
	// before archives give way: half the objective for 95 of 100 submissions
	// (docs/load.md), for files take of the machine whatever they are let have, and
	// nobody waits for the last row of an archive.
	stepsWait = 250 * time.Millisecond
	// filesLeast are on their way however long people wait.
	filesLeast = 2
	// learnTime is how long Postgres may take to tell how long people wait.
	learnTime = time.Second
)

// fileTurns decides how many files of all a worker's archives are on their way
// at a time. They share processors and disks with people's work where everything
// runs on one machine, and Postgres in any case. Who came first is next: whoever
// stores one file after the other keeps no other archive waiting for its end.
type fileTurns struct {
	steps stepsReader

	mu      sync.Mutex
	pace    *giveway.Pace
	taken   int
	waiting list.List // of chan struct{}, closed when the turn is theirs
}

// stepsReader is UploadStore's part of it.
type stepsReader interface {
	StepsBehind(ctx context.Context) (time.Duration, error)
}

func newFileTurns(steps stepsReader, most int) *fileTurns {
	return &fileTurns{steps: steps, pace: giveway.New(filesLeast, float64(most), stepsWait)}
}

// enter waits until one more file may be on its way. It fails when ctx ends.
func (t *fileTurns) enter(ctx context.Context) (leave func(), err error) {
	if ctx.Err() != nil { // who has no use for the answer asks nobody
		return nil, context.Cause(ctx)
	}
	t.learn(ctx) // so that what begins after a pause goes by how it is now; not with a turn, which would stand idle
	mine := make(chan struct{})
	t.mu.Lock()
	self := t.waiting.PushBack(mine)
	t.pass()
	t.mu.Unlock()
	for ctx.Err() == nil {
		select {
		case <-mine:
			return t.leave, nil
		case <-time.After(giveway.Every): // there may be more turns by now
			// The turn may come meanwhile, and what waits for it may be over: the answer is
			// for all, and takes a second at most.
			go t.learn(context.WithoutCancel(ctx))
		case <-ctx.Done():
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-mine: // just now
		t.taken--
		t.pass()
	default:
		t.waiting.Remove(self)
	}
	return nil, context.Cause(ctx)
}

// pass gives the turns that are free to those who came first. The caller holds the
// lock.
func (t *fileTurns) pass() {
	for t.waiting.Len() > 0 && t.taken < int(t.pace.Now()) {
		t.taken++
		close(t.waiting.Remove(t.waiting.Front()).(chan struct{})) // nothing else is in the list
	}
}

// learn finds out how long people wait when it is time to, one caller for all, and
// passes on the turns that there are then. Where Postgres does not tell, there are as
// many as before.
func (t *fileTurns) learn(ctx context.Context) {
	t.mu.Lock()
	due := t.pace.Due()
	if due {
		t.pace.Asked()
	}
	t.mu.Unlock()
	if !due {
		return
	}
	soon, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	behind, err := t.steps.StepsBehind(soon)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pace.Learn(behind)
	t.pass()
}

func (t *fileTurns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken--
	t.pass()
}
