package main

import (
	"context"
	"fmt"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// largeWorld is the world whose pipeline holds many tasks, made when it is
// first asked for.
func (b *bench) largeWorld(ctx context.Context) (*world, error) {
	if b.large != nil {
		return b.large, nil
	}
	w, err := b.newWorld(ctx, 1)
	if err != nil {
		return nil, err
	}
	b.say("  filling a pipeline with %d tasks", b.tasks)
	if err := w.fill(ctx, b.tasks); err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	b.large = w
	return w, nil
}

// fill makes n tasks in every state; see mathcheck.Fill.
func (w *world) fill(ctx context.Context, n int) error {
	return mathcheck.Fill(ctx, w.store.Pool(), w.place(), n)
}

// fillNew adds n tasks that nobody has touched, all to be claimed.
func (w *world) fillNew(ctx context.Context, n int) error {
	return mathcheck.FillNew(ctx, w.store.Pool(), w.place(), n)
}

func (w *world) place() mathcheck.Place {
	return mathcheck.Place{Org: w.orgID, Pipeline: w.pipelineID, Version: w.versionID, Actor: w.admin}
}
