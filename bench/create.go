package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// batchSize is the largest batch that the API takes.
const batchSize = 5000

// createPart compares POST …/tasks with a COPY of the rows that it writes.
func createPart(ctx context.Context, b *bench) error {
	w, err := b.newWorld(ctx, 1)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		size int
	}{{"650 B a task", mathcheck.Small}, {"32 MB in all", mathcheck.Large}} {
		body := mathcheck.CreateBody(batchSize, c.size)
		ours, floor := w.creator(body), &copyFloor{world: w, size: c.size}
		if err := floor.check(ctx, ours); err != nil {
			return err
		}
		m := &measure{
			Case: fmt.Sprintf("%s (%.1f MB)", c.name, float64(len(body))/(1<<20)), Unit: unitMillis, Aim: 1.3,
		}
		if err := b.race(ctx, m, floor.sample, ours); err != nil {
			return err
		}
	}
	return nil
}

// creator sends a body and takes the time to the end of the answer.
func (w *world) creator(body []byte) sampler {
	c, path := w.integrator(), fmt.Sprintf("/api/v1/workflows/%d/tasks", w.pipelineID)
	return func(ctx context.Context) (float64, error) {
		began := time.Now()
		_, answer, err := c.call(ctx, http.MethodPost, path, body)
		took := millisSince(began)
		if err == nil && !hasCount(answer, batchSize) {
			err = fmt.Errorf("not all tasks were created: %.200s", answer)
		}
		return took, err
	}
}

func hasCount(answer []byte, n int) bool {
	want := fmt.Sprintf(`{"success_count":%d,`, n)
	return len(answer) > len(want) && string(answer[:len(want)]) == want
}

// createFlatPart compares a creation beside many tasks with one beside none.
func createFlatPart(ctx context.Context, b *bench) error {
	large, err := b.largeWorld(ctx)
	if err != nil {
		return err
	}
	empty, err := b.newWorld(ctx, 1)
	if err != nil {
		return err
	}
	body := mathcheck.CreateBody(batchSize, mathcheck.Small)
	beside, alone := large.creator(body), empty.creator(body)
	m := &measure{Case: fmt.Sprintf("5,000 tasks beside %d against beside none", b.tasks), Unit: unitMillis, Aim: 1.2}
	return b.race(ctx, m, func(ctx context.Context) (float64, error) {
		if err := empty.clear(ctx); err != nil {
			return 0, err
		}
		return alone(ctx)
	}, beside)
}
