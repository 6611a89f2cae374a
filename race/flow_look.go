package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// lookEvery is how often the rows are looked at for the steps that somebody
	// waits for.
	lookEvery = 5 * time.Millisecond
	// visibleTimeout is when a step is called lost.
	visibleTimeout = time.Minute
)

// lookout looks for all who wait, with one statement for each step: if each of
// them looked for themselves, looking would be most of what Postgres does.
type lookout struct {
	pool    *pgxpool.Pool
	reached func(step int) string

	mu      sync.Mutex
	waiting map[int]map[int64]chan struct{} // by step and life
	err     error
}

func newLookout(pool *pgxpool.Pool, reached func(step int) string) *lookout {
	l := &lookout{pool: pool, reached: reached, waiting: map[int]map[int64]chan struct{}{}}
	for step := stepSubmitted; step <= stepFinished; step++ {
		l.waiting[step] = map[int64]chan struct{}{}
	}
	return l
}

// see waits until a step of a life stands in the rows.
func (l *lookout) see(ctx context.Context, step int, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, visibleTimeout)
	defer cancel()
	seen := make(chan struct{})
	l.mu.Lock()
	l.waiting[step][id] = seen
	l.mu.Unlock()
	select {
	case <-seen:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.err
	case <-ctx.Done():
		return fmt.Errorf("life %d did not get there: %w", id, ctx.Err())
	}
}

// run looks until ctx ends.
func (l *lookout) run(ctx context.Context) {
	for wait(ctx, lookEvery) == nil {
		for step := range l.waiting {
			l.look(ctx, step)
		}
	}
}

func (l *lookout) look(ctx context.Context, step int) {
	l.mu.Lock()
	ids := make([]int64, 0, len(l.waiting[step]))
	for id := range l.waiting[step] {
		ids = append(ids, id)
	}
	l.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	rows, _ := l.pool.Query(ctx, l.reached(step), ids)
	there, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		l.err, there = err, ids // all of them hear of it
	}
	for _, id := range there {
		if seen := l.waiting[step][id]; seen != nil {
			close(seen)
			delete(l.waiting[step], id)
		}
	}
}
