package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/taskloom/taskloom/internal/store"
)

// rejected is the share of work that reviewers return.
const rejected = 0.1

// reviewsWait is how long a review waits for somebody who is free, in times of what one
// takes: it is done later then, by as many people as there are. In the busiest stretch
// of a day each of them goes from one to the next.
const reviewsWait = 3

// review is one verdict, from the claim until it is given. Nothing to review
// is no failure.
func (r *run) review(ctx context.Context, due time.Time, reviewing time.Duration) {
	p, waited := r.facts.reviewers.await(ctx, r.think.IntN, reviewsWait*reviewing, r.home.get())
	if p == nil && !waited {
		return // they go home
	}
	if !r.somebody("reviews", due, p != nil, "review: every reviewer is at work") {
		return
	}
	if waited {
		due = time.Now() // they ask when they can
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

// await takes somebody who is free, or waits in turn for somebody who will be; nil when
// nobody is by then. It tells whether it waited: not when it was not to the end, since
// people went home.
func (c *crew) await(ctx context.Context, pick func(n int) int, most time.Duration, home <-chan struct{}) (p *person, waited bool) {
	c.mu.Lock()
	if p = c.anybody(pick); p != nil {
		c.mu.Unlock()
		return p, false
	}
	turn := make(chan *person, 1)
	c.waiting = append(c.waiting, turn)
	c.mu.Unlock()
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case p = <-turn:
		return p, true
	case <-t.C:
		waited = true
	case <-home:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, turn); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		return nil, waited
	}
	return <-turn, true // they came at the last moment
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
	r.facts.acked(h.claim, ruling(body))
	return nil
}

// ruling is a verdict and its last comment, the words of a review.
func ruling(verdict map[string]any) string {
	words := fmt.Sprint(verdict["verdict"])
	if comments, _ := verdict["comments"].([]map[string]string); len(comments) > 0 {
		words += comments[len(comments)-1]["text"]
	}
	return words
}
