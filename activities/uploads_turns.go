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
// Where Postgres does not tell how long people wait, there are as many turns as
// before.
func (t *fileTurns) take(ctx context.Context) (freed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pace.Due() {
		if behind, err := t.steps.StepsBehind(ctx); err == nil {
			t.pace.Learn(behind)
		}
	}
	if t.taken >= int(t.pace.Now()) {
		return t.freed
	}
	t.taken++
	return nil
}

func (t *fileTurns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken--
	close(t.freed)
	t.freed = make(chan struct{})
}
