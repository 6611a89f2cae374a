package activities

import (
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
// runs on one machine, and Postgres in any case.
type fileTurns struct {
	steps stepsReader

	mu    sync.Mutex
	pace  *giveway.Pace
	taken int
	// freed is closed when somebody leaves.
	freed chan struct{}
}

// stepsReader is UploadStore's part of it.
type stepsReader interface {
	StepsBehind(ctx context.Context) (time.Duration, error)
}

func newFileTurns(steps stepsReader, most int) *fileTurns {
	return &fileTurns{
		steps: steps, pace: giveway.New(filesLeast, float64(most), stepsWait), freed: make(chan struct{}),
	}
}

// enter waits until one more file may be on its way. It fails when ctx ends.
func (t *fileTurns) enter(ctx context.Context) (leave func(), err error) {
	for ctx.Err() == nil {
		freed := t.take(ctx)
		if freed == nil {
			return t.leave, nil
		}
		select {
		case <-freed:
		case <-time.After(giveway.Every): // there may be more turns by now
		case <-ctx.Done():
		}
	}
	return nil, context.Cause(ctx)
}

// take takes a turn, and returns nil, or what is closed when there may be one.
func (t *fileTurns) take(ctx context.Context) (freed <-chan struct{}) {
	t.learn(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken >= int(t.pace.Now()) {
		return t.freed
	}
	t.taken++
	return nil
}

// learn finds out how long people wait when it is time to, one caller for all.
// Where Postgres does not tell, there are as many turns as before.
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
}

func (t *fileTurns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken--
	close(t.freed)
	t.freed = make(chan struct{})
}
