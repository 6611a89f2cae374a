package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// batchSize is the largest batch that the API takes.
	batchSize = 5000
	smallTask = 610 // characters of the question: 650 B an item with its frame
	// largeTask makes a body of just under 32 MB.
	largeTask = 6650
)

// createPart compares POST …/tasks with a COPY of the rows that it writes.
func createPart(ctx context.Context, b *bench) error {
	w, err := b.newWorld(ctx, 1)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		size int
	}{{"650 B a task", smallTask}, {"32 MB in all", largeTask}} {
		body := createBody(batchSize, c.size)
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
	body := createBody(batchSize, smallTask)
	beside, alone := large.creator(body), empty.creator(body)
	m := &measure{Case: fmt.Sprintf("5,000 tasks beside %d against beside none", b.tasks), Unit: unitMillis, Aim: 1.2}
	return b.race(ctx, m, func(ctx context.Context) (float64, error) {
		if err := empty.clear(ctx); err != nil {
			return 0, err
		}
		return alone(ctx)
	}, beside)
}
