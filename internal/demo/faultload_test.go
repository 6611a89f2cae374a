package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// history is what the clients saw: what was acknowledged must be there, what
// was refused must have left nothing.
type history struct {
	mu      sync.Mutex
	tasks   map[int64]bool
	created map[string][]int64 // ids by Idempotency-Key
	handed  map[string]bool    // claims whose submit or verdict was acknowledged
	refused map[string]bool    // claims whose submit or verdict was refused for good
	ops     atomic.Int64       // acknowledged calls
	unknown atomic.Int64       // calls cut off, timed out or answered with 5xx
}

func newHistory() *history {
	return &history{
		tasks: map[int64]bool{}, created: map[string][]int64{}, handed: map[string]bool{}, refused: map[string]bool{},
	}
}

// ids returns the acknowledged tasks, oldest first.
func (h *history) ids() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.tasks))
}

// insist repeats a call until it is acknowledged or refused. Whatever is cut
// off or fails on the server's side is unknown, and the same call goes again.
func (h *history) insist(ctx context.Context, call func() error) error {
	for {
		err := call()
		var r *refusal
		switch {
		case err == nil:
			h.ops.Add(1)
			return nil
		case errors.As(err, &r) && r.Status < http.StatusInternalServerError && r.Status != http.StatusTooManyRequests:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		h.unknown.Add(1)
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// create makes batches of tasks, each under an Idempotency-Key.
func (h *history) create(ctx context.Context, a *api, batches, size int) error {
	for b := range batches {
		key := fmt.Sprintf("batch-%d", b)
		questions := make([]string, size)
		for i := range questions {
			questions[i] = fmt.Sprintf("What is %d plus %d?", b, i)
		}
		var ids []int64
		err := h.insist(ctx, func() (err error) {
			ids, err = a.keyed(key).createTasks(ctx, questions)
			return err
		})
		if err != nil {
			return fmt.Errorf("create %s: %w", key, err)
		}
		h.mu.Lock()
		h.created[key] = ids
		for _, id := range ids {
			h.tasks[id] = true
		}
		h.mu.Unlock()
	}
	return nil
}

// worker is a person who never gives up: every call goes until it is
// acknowledged or refused.
type worker struct {
	h    *history
	api  *api
	rand *rand.Rand
	role string
}

// live works until ctx ends.
func (w *worker) live(ctx context.Context, email string) error {
	err := w.h.insist(ctx, func() error { return w.api.login(ctx, email, Password) })
	for err == nil {
		var c *claim
		err = w.h.insist(ctx, func() (err error) {
			c, err = w.api.claim(ctx, w.role)
			return err
		})
		switch {
		case err != nil:
		case c == nil:
			err = wait(ctx, 100*time.Millisecond)
		default:
			err = w.handle(ctx, c)
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // being stopped is how a run ends
	}
	return fmt.Errorf("%s: %w", email, err)
}

func (w *worker) handle(ctx context.Context, c *claim) error {
	chance := w.rand.IntN(100)
	if chance < 3 {
		return nil // abandoned: the lease runs out
	}
	err := w.h.insist(ctx, func() error {
		switch {
		case chance < 8:
			return w.api.release(ctx, c.ID)
		case w.role == "reviewer" && chance < 20 && c.Iteration == 1:
			return w.api.verdict(ctx, c.ID, map[string]any{"verdict": "reject"})
		case w.role == "reviewer":
			return w.api.verdict(ctx, c.ID, map[string]any{"verdict": "approve"})
		}
		return w.api.submit(ctx, c.ID, map[string]any{"answer": "42", "confident": true})
	})
	var r *refusal
	refused := errors.As(err, &r) && r.Status == http.StatusConflict
	if chance >= 8 {
		w.h.mu.Lock()
		if refused {
			w.h.refused[c.ID] = true
		} else if err == nil {
			w.h.handed[c.ID] = true
		}
		w.h.mu.Unlock()
	}
	if refused {
		return nil // the lease ran out meanwhile
	}
	return err
}
