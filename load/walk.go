package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// walkMost is how many tasks a walk sees: what an export of a day would have.
const walkMost = 200_000

// walk reads page after page, as programs do that keep a copy.
func (r *run) walk(ctx context.Context) {
	cursor, seen := "", 0
	for seen < walkMost && ctx.Err() == nil {
		a := r.ask(ctx, request{
			op: "walk", method: http.MethodGet, key: r.world.keys[integratorCount+1],
			path:     fmt.Sprintf("/api/v1/workflows/%d/tasks?limit=%d&cursor=%s", r.world.main, pageSize, url.QueryEscape(cursor)),
			patience: insistent,
		})
		var page struct {
			Tasks      []struct{} `json:"tasks"`
			HasMore    bool       `json:"has_more"`
			NextCursor string     `json:"next_cursor"`
		}
		if !a.ok() || a.decode(&page) != nil {
			r.note("the walk ended after %d tasks: %s", seen, a.cause())
			return
		}
		seen += len(page.Tasks)
		if cursor = page.NextCursor; !page.HasMore || cursor == "" {
			break
		}
	}
	r.number("tasks walked over", float64(seen))
}

// fillSmall puts tasks into the pipeline whose queue runs empty.
func (w *world) fillSmall(ctx context.Context, n int) error {
	at := w.place()
	at.Pipeline, at.Version = w.small, w.smallVersion
	if err := mathcheck.FillNew(ctx, w.pool, at, n); err != nil {
		return fmt.Errorf("fill in %d tasks: %w", n, err)
	}
	return w.mark(ctx)
}
