package main

import (
	"context"
	"fmt"

	"github.com/taskloom/taskloom/internal/measure/slo"
)

// check looks in the database for everything that clients were told is done,
// and for what should not be.
func (r *run) check(ctx context.Context) error {
	f := &r.facts
	f.mu.Lock()
	handedIn, said, ids, double, most := f.handedIn, f.said, f.ids, f.double, int64(len(f.ids))+f.unsure+f.ingested
	peeks, leaks, missing := f.peeks, f.leaks, f.missing
	f.mu.Unlock()
	if peeks > 0 {
		r.number(slo.Foreign, float64(leaks))
	}
	var lost, lostTasks, inJournal, created int64
	for _, q := range []struct {
		into *int64
		sql  string
		args []any
	}{
		// What is there with other words is lost, too.
		{&lost, `SELECT count(*) FROM unnest($1::uuid[], $2::bytea[]) AS c(claim, said) WHERE NOT EXISTS (SELECT 1 FROM submissions s
			WHERE s.claim_id = c.claim AND c.said =
				sha256(convert_to(coalesce(s.values->>'doubt', s.verdict || coalesce(s.comments->-1->>'text', '')), 'UTF8')))`, []any{handedIn, said}},
		{&lostTasks, `SELECT count(*) FROM unnest($1::bigint[]) i WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = i)`, []any{ids}},
		// A claim right after a claim, with the lease of the first one running.
		{&inJournal, `SELECT count(*) FROM (SELECT e.kind, e.created_at, lag(e.kind) OVER w AS before, lag(e.lease_ends) OVER w AS ends
			FROM task_events e JOIN tasks t ON t.id = e.task_id WHERE t.seq > 1 AND e.node_key <> ''
			WINDOW w AS (PARTITION BY e.task_id, e.node_key ORDER BY e.seq)) s
			WHERE kind = 'claim' AND before = 'claim' AND ends > created_at`, nil},
		{&created, `SELECT count(*) FROM tasks WHERE id > $1`, []any{r.world.filled}},
	} {
		if err := r.pool.QueryRow(ctx, q.sql, q.args...).Scan(q.into); err != nil {
			return fmt.Errorf("check what was acked: %w", err)
		}
	}
	r.number(slo.LostWrites, float64(lost+lostTasks+missing))
	r.number(slo.DoubleClaims, float64(max(double, inJournal)))
	r.number(slo.Duplicates, float64(max(0, created-most)))
	return r.checkDrafts(ctx)
}

// checkDrafts looks for the last acked revision of everything that is still
// open: what is handed in has no draft any more.
func (r *run) checkDrafts(ctx context.Context) error {
	lost, drafts := 0, 0
	for _, h := range r.facts.contributors.open() {
		if h.revision == 0 {
			continue
		}
		drafts++
		var kept bool
		if err := r.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM drafts WHERE task_id = $1 AND node_key = $2 AND user_id = $3 AND revision >= $4)
			OR EXISTS (SELECT 1 FROM submissions WHERE claim_id = $5::uuid)`,
			h.task, h.node, h.person.id, h.revision, h.claim).Scan(&kept); err != nil {
			return fmt.Errorf("check drafts: %w", err)
		}
		if !kept {
			lost++
		}
	}
	if drafts > 0 {
		r.number(slo.LostDrafts, float64(lost))
	}
	return nil
}
