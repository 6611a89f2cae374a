package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

// hold is a task that somebody works on.
type hold struct {
	person *person
	claim  string
	task   int64
	node   string
	got    time.Time // since when they have it
	ends   time.Time // when it is handed in

	saving   sync.Mutex // one save at a time, as a browser does
	revision int64      // acked
}

// work is what a claim answers, as far as it matters here.
type work struct {
	ClaimID string `json:"claim_id"`
	TaskID  int64  `json:"task_id"`
	Node    string `json:"node"`
	Draft   *struct {
		Revision int64 `json:"revision"`
	} `json:"draft"`
}

// crew are people, of whom some are free, and what waits for one of them.
type crew struct {
	mu      sync.Mutex
	free    []*person
	waiting []chan *person // each takes one, in turn
	holds   []*hold
}

// take takes somebody who is free; nil when nobody is.
func (c *crew) take(pick func(n int) int) *person {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.anybody(pick)
}

// anybody wants the crew's mu held.
func (c *crew) anybody(pick func(n int) int) *person {
	if len(c.free) == 0 {
		return nil
	}
	i, last := pick(len(c.free)), len(c.free)-1
	p := c.free[i]
	c.free[i] = c.free[last]
	c.free = c.free[:last]
	return p
}

// release lets somebody do what waits for longest.
func (c *crew) release(p *person) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.free = append(c.free, p)
		return
	}
	c.waiting[0] <- p
	c.waiting = c.waiting[1:]
}

func (c *crew) add(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds = append(c.holds, h)
}

func (c *crew) remove(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, have := range c.holds {
		if have == h {
			last := len(c.holds) - 1
			c.holds[i] = c.holds[last]
			c.holds = c.holds[:last]
			return
		}
	}
}

// pick is something that is worked on and goes on for a while; nil when there
// is none.
func (c *crew) pick(among func(n int) int) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range min(10, len(c.holds)) {
		if h := c.holds[among(len(c.holds))]; time.Until(h.ends) > 2*time.Second {
			return h
		}
	}
	return nil
}

// open are all that is held now.
func (c *crew) open() []*hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*hold(nil), c.holds...)
}

// contribute is one task from the claim until it is handed in. Left is the
// share of the handling time that it still takes.
func (r *run) contribute(ctx context.Context, due time.Time, handling time.Duration, left float64) {
	p := r.facts.contributors.take(r.think.IntN)
	if !r.somebody("claims", due, p != nil, "claim: every contributor is at work") {
		return
	}
	h := r.claim(ctx, p, r.world.main, "contributor", "claim", due)
	if h == nil {
		r.facts.contributors.release(p)
		return
	}
	r.lookAfter(ctx, p)
	h.plan(due.Add(time.Duration(left * float64(r.think.LogNormal(handling)))))
	r.facts.contributors.add(h)
	if !r.ponder(ctx, time.Until(h.ends)) {
		r.facts.released(h)
		return // it stays open, with its draft, until the lease ends
	}
	if r.submit(ctx, h) == nil { // else it is recorded
		r.lookAfter(ctx, p)
		r.awaitStep(ctx, h.claim, h.ends)
	}
	r.facts.contributors.remove(h)
	r.facts.contributors.release(p)
}

// ponder is how people spend their time. It tells whether they came to an end
// before they went home.
func (r *run) ponder(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.home.get():
	case <-ctx.Done():
	}
	return false
}

// claim asks for the next node; nil when there is none.
func (r *run) claim(ctx context.Context, p *person, pipeline int64, role, op string, due time.Time) *hold {
	defer p.acts()()
	a := r.ask(ctx, request{
		op: op, empty: op + "-empty", method: http.MethodPost, path: fmt.Sprintf("/api/console/pipelines/%d/claim", pipeline),
		session: p.token, body: encode(map[string]string{"role": role}), due: due, patience: patient,
	})
	var w work
	if ctx.Err() != nil || !a.ok() || a.status != http.StatusOK || a.decode(&w) != nil {
		return nil
	}
	r.facts.claimed(w)
	h := &hold{person: p, claim: w.ClaimID, task: w.TaskID, node: w.Node, got: time.Now()}
	if w.Draft != nil {
		h.revision = w.Draft.Revision
	}
	return h
}

// plan sets when a task is handed in that somebody was to be done with by
// then: at once, should its claim have taken that long. The wait for the claim
// is told there, and not once more here.
func (h *hold) plan(done time.Time) {
	if h.ends = done; done.Before(h.got) {
		h.ends = h.got
	}
}

// submit hands a task in, when it is due. The error says why it was not taken.
func (r *run) submit(ctx context.Context, h *hold) error {
	var ready time.Time
	if !h.saving.TryLock() {
		h.saving.Lock() // a save under way goes first
		ready = time.Now()
	}
	defer h.saving.Unlock()
	due := h.ends
	r.facts.released(h)
	values, large := r.answers(), r.large(&r.facts.submitted)
	if large {
		values = r.largeAnswers()
	}
	acted := h.person.acts()
	a := r.ask(ctx, request{
		op: "submit", method: http.MethodPost, path: "/api/console/claims/" + h.claim + "/submit", session: h.person.token,
		body: handedIn(values), due: due, ready: ready, patience: insistent,
	})
	acted()
	if !a.ok() {
		return fmt.Errorf("hand in task %d: %s", h.task, a.cause())
	}
	if large {
		r.took(submitLarge, due, time.Now())
	}
	r.facts.acked(h.claim, doubtIn(values))
	return nil
}

// answers are what contributors hand in: half of them are sure, the others
// write 2 to 20 KB about why they are not.
func (r *run) answers() form.Values {
	v := mathcheck.Answers()
	if r.think.Float() < 0.5 {
		v["sure"], v["doubt"] = json.RawMessage("false"), r.doubt()
	}
	return v
}

// doubtIn is what somebody wrote who is not sure, the words of a submission.
func doubtIn(v form.Values) (text string) {
	_ = json.Unmarshal(v["doubt"], &text) // of those who are sure there is none
	return text
}

func (r *run) doubt() json.RawMessage {
	size := min(20_000, max(2_000, int(r.think.LogNormal(6*time.Second)/time.Millisecond)))
	return encode(strings.Repeat("I am not sure, since the text says so. ", size/39))
}

// extend renews the lease of something that is worked on.
func (r *run) extend(ctx context.Context, due time.Time) {
	h := r.facts.contributors.pick(r.think.IntN)
	if !r.somebody("renewed leases", due, h != nil, "extend: nothing is claimed") {
		return
	}
	r.ask(ctx, request{
		op: "extend", method: http.MethodPost, path: "/api/console/claims/" + h.claim + "/extend", session: h.person.token, due: due,
		patience: patient,
	})
}

// save saves a draft of something that is worked on.
func (r *run) save(ctx context.Context, due time.Time) {
	h := r.facts.contributors.pick(r.think.IntN)
	if !r.somebody("drafts", due, h != nil && h.saving.TryLock(), "draft: nothing is claimed, or it is being saved") {
		return
	}
	defer h.saving.Unlock()
	_ = r.saveNow(ctx, h, due) // it is recorded
}

// saveNow wants the hold's saving held. The error says why the draft was not
// taken.
func (r *run) saveNow(ctx context.Context, h *hold, due time.Time) error {
	a := r.ask(ctx, request{
		op: "draft", method: http.MethodPut, path: "/api/console/claims/" + h.claim + "/draft", session: h.person.token, due: due,
		patience: patient,
		body: encode(map[string]any{
			"values":   form.Values{"answer": json.RawMessage(`"72"`), "sure": json.RawMessage("false"), "doubt": r.doubt()},
			"revision": h.revision,
		}),
	})
	var saved struct {
		Revision int64 `json:"revision"`
	}
	if !a.ok() {
		return fmt.Errorf("save a draft of task %d: %s", h.task, a.cause())
	}
	if err := a.decode(&saved); err != nil {
		return fmt.Errorf("save a draft of task %d: %w", h.task, err)
	}
	h.revision = saved.Revision
	return nil
}
