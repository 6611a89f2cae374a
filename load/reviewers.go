package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/taskloom/taskloom/internal/store"
)

// rejected is the share of work that reviewers return.
const rejected = 0.1

// review is one verdict, from the claim until it is given. Nothing to review
// is no failure.
func (r *run) review(ctx context.Context, due time.Time, reviewing time.Duration) {
	p := r.facts.reviewers.take(r.think.IntN)
	if !r.somebody("reviews", due, p != nil, "review: every reviewer is at work") {
		return
	}
	defer r.facts.reviewers.release(p)
	h := r.claim(ctx, p, r.world.main, "reviewer", "claim-review", due)
	if h == nil {
		return
	}
	h.plan(due.Add(r.think.LogNormal(reviewing)))
	if !r.ponder(ctx, time.Until(h.ends)) {
		r.facts.released(h)
		return
	}
	_ = r.verdict(ctx, h, r.think.Float() >= rejected) // it is recorded
}

// verdict gives one. The error says why it was not taken.
func (r *run) verdict(ctx context.Context, h *hold, approve bool) error {
	body := map[string]any{"verdict": store.VerdictApprove}
	if !approve {
		body = map[string]any{
			"verdict":  store.VerdictReject,
			"comments": []map[string]string{{"field": "answer", "text": "Please count again.", "verdict": "wrong"}},
		}
	}
	encoded, large := encode(body), r.large(&r.facts.judged)
	if large {
		encoded = r.remarked(body)
	}
	r.facts.released(h)
	a := r.ask(ctx, request{
		op: "verdict", method: http.MethodPost, path: "/api/console/claims/" + h.claim + "/review", session: h.person.token,
		body: encoded, due: h.ends, patience: insistent,
	})
	if !a.ok() {
		return fmt.Errorf("give a verdict on task %d: %s", h.task, a.cause())
	}
	if large {
		r.took(verdictLarge, h.ends, time.Now())
	}
	r.facts.acked(h.claim)
	return nil
}
