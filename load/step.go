package main

import (
	"context"
	"time"
)

const (
	stepLook = 10 * time.Millisecond
	// stepMost is how long a step is waited for.
	stepMost = 30 * time.Second
)

// awaitStep times a submission from when it was due until its consequences are
// written: the next node can be claimed. It asks the rows, so that what is
// measured is not the asking through the API; looks become rarer with time. What
// is under way when steps are timed no more counts for nothing.
func (r *run) awaitStep(ctx context.Context, claim string, due time.Time) {
	for every := stepLook; ctx.Err() == nil && time.Since(due) < stepMost; every = min(every*5/4, time.Second) {
		if !r.facts.probes.Load() {
			return
		}
		var done bool
		err := r.pool.QueryRow(ctx, `SELECT t.applied_seq >= s.seq FROM submissions s JOIN tasks t ON t.id = s.task_id WHERE s.claim_id = $1`,
			claim).Scan(&done)
		if err == nil && done {
			r.took("step", due, time.Now())
			return
		}
		if wait(ctx, every) != nil {
			return
		}
	}
	if ctx.Err() == nil {
		r.facts.overdue.Add(1)
		r.took("step", due, time.Now())
	}
}
