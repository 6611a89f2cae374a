package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// walkMost is how many tasks a walk sees: what an export of a day would have.
const walkMost = 200_000

// walkAt is the share of a script's length at which somebody walks over all tasks: in
// the busiest hour of a day.
const walkAt = 0.8

// besideWalk starts a walk beside the people of a script.
func (r *run) besideWalk(ctx context.Context, g *sync.WaitGroup) {
	r.stream(ctx, g, scriptTimes(r.dur, walkAt), func(time.Time) { r.walk(ctx) })
}

// walk reads page after page, as programs do that keep a copy. It has a key of its
// own, and 1,000 pages are fewer than a key may ask for in a minute. Its rate has all in
// it, being refused, too; a walk that ended early has none.
func (r *run) walk(ctx context.Context) {
	began, cursor, seen := time.Now(), "", 0
	for seen < walkMost {
		a := r.ask(ctx, request{
			op: "walk", method: http.MethodGet, key: r.world.walkKey(),
			path:     fmt.Sprintf("/api/v1/workflows/%d/tasks?limit=%d&cursor=%s", r.world.main, pageSize, url.QueryEscape(cursor)),
			patience: insistent,
		})
		var page struct {
			Tasks      []struct{} `json:"tasks"`
			HasMore    bool       `json:"has_more"`
			NextCursor string     `json:"next_cursor"`
		}
		if ctx.Err() != nil {
			return
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
	rate := float64(seen) / time.Since(began).Seconds()
	r.say("a walk over %d tasks read %.0f a second", seen, rate)
	r.number("tasks walked over", float64(seen))
	r.facts.walked(rate)
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
