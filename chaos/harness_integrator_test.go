package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/task"
)

// integrator keeps an organization's queue filled and polls what becomes of
// its tasks.
type integrator struct {
	*client

	load    Load
	batches int
	wrongs  int // creations that were to be refused
	// open are the tasks that may still change, by their last status.
	open map[int64]string
	// refill stops when it is closed: then it only polls.
	refill <-chan struct{}
}

// live works until home is closed.
func (g *integrator) live(ctx context.Context, home <-chan struct{}) error {
	for !closed(home) {
		err := g.round(ctx)
		if err == nil {
			err = wait(ctx, 50*time.Millisecond)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // being stopped is how a run ends
		}
		if err != nil && !errors.Is(err, errRefused) {
			return fmt.Errorf("%s: %w", g.who, err)
		}
	}
	return nil
}

func (g *integrator) round(ctx context.Context) error {
	if len(g.open) < g.load.Backlog && !closed(g.refill) {
		if err := g.fill(ctx); err != nil {
			return err
		}
		if g.chance(g.load.Wrong) {
			if err := g.wrong(ctx); err != nil {
				return err
			}
		}
	}
	page, err := g.newest(ctx)
	if err != nil {
		return err
	}
	seen := make(map[int64]bool, len(page))
	for _, t := range page {
		seen[t.ID] = true
		g.saw(t)
	}
	// Those that fell off the first page, one by one, some in each round.
	const most = 50
	for id := range g.open {
		if seen[id] || len(seen) >= len(page)+most {
			continue
		}
		seen[id] = true
		t, err := g.task(ctx, id)
		if err != nil {
			return err
		}
		g.saw(t)
	}
	return nil
}

// saw notes a status. What is over stays over.
func (g *integrator) saw(t polled) {
	before, known := g.open[t.ID]
	switch task.Status(t.Status) {
	case task.Finished, task.Failed, task.Escalated:
		delete(g.open, t.ID)
	case task.Quarantined:
		g.run.Violate("task %d of %s is quarantined; it was %s", t.ID, g.org.Mark, before)
		delete(g.open, t.ID)
	default:
		if known {
			g.open[t.ID] = t.Status
		} else if g.run.finishedBefore(t.ID) {
			g.run.Violate("task %d of %s is %s after it was finished", t.ID, g.org.Mark, t.Status)
		}
		return
	}
	if t.Status == string(task.Finished) {
		g.run.noteFinished(t.ID)
	}
}

// fill creates a batch, reads it back, and now and then sends it once more.
func (g *integrator) fill(ctx context.Context) error {
	g.batches++
	key := fmt.Sprintf("%s-%d", g.org.Mark, g.batches)
	questions := make([]string, g.load.Batch)
	for i := range questions {
		questions[i] = fmt.Sprintf("%s question %d of batch %d", g.org.Mark, i, g.batches)
	}
	ids, err := g.persist(ctx, key, questions)
	if err != nil {
		return err
	}
	for _, id := range ids {
		g.open[id] = ""
	}
	// A poll sees what was just written.
	if _, err := g.task(ctx, ids[len(ids)-1]); err != nil {
		return err
	}
	if !g.chance(g.load.Repeat) {
		return nil
	}
	again, err := g.persist(ctx, key, questions)
	if err != nil {
		return err
	}
	if !slices.Equal(ids, again) {
		g.run.Violate("create %s answered with the tasks %v, and with %v when it was sent once more", key, ids, again)
	}
	return nil
}

// persist creates and asks again while an earlier try with the key still runs.
func (g *integrator) persist(ctx context.Context, key string, questions []string) ([]int64, error) {
	for {
		ids, err := g.create(ctx, key, questions)
		if !errors.Is(err, errRefused) {
			return ids, err
		}
		if err := wait(ctx, pauseAfterUnknown); err != nil {
			return nil, err
		}
	}
}
