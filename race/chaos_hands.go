package main

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"
)

const (
	// handsWithin is how long is waited for a worker that has something in its hands.
	handsWithin = 30 * time.Second
	// underWay is how long what a worker has told Postgres may take to be done.
	underWay = 50 * time.Millisecond
)

// stopWithWork stops the worker that is to be killed, as SIGSTOP does, at a moment
// when it has begun items and not finished them. They stay in its hands until it is
// killed. How long the items of a dead worker wait says nothing where there are none,
// and ours has its own for some milliseconds only.
func stopWithWork(ctx context.Context, h *havoc) error {
	conn, err := h.observe(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	held, err := stopWhen(ctx, h.system.workers()[0], handsWithin, func() ([]int64, error) {
		done, err := h.doneBy(ctx, conn)
		if err != nil {
			return nil, err
		}
		return h.system.hands(ctx, 0, h.open(done))
	}, func(of []int64) ([]int64, error) {
		done, err := h.doneBy(ctx, conn)
		return slices.DeleteFunc(of, func(n int64) bool { return done[n] > 0 }), err
	})
	h.held = len(held)
	h.r.say("    the worker has %d items in its hands", h.held)
	return err
}

// stopWhen looks at what a worker has begun until there is something, stops it, and
// returns what is still not done then. When all is, it lets the worker go on and looks
// again. A worker that has had nothing for so long is stopped as it is.
func stopWhen(ctx context.Context, worker *child, within time.Duration, begun func() ([]int64, error),
	undone func([]int64) ([]int64, error),
) ([]int64, error) {
	for end := time.Now().Add(within); ; {
		held, err := begun()
		if err != nil {
			return nil, err
		}
		if len(held) > 0 {
			if held, err = stopAndLook(ctx, worker, held, undone); err != nil || len(held) > 0 {
				return held, err
			}
		}
		if time.Now().After(end) {
			return nil, nil
		}
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// stopAndLook leaves the worker stopped when something is not done.
func stopAndLook(ctx context.Context, worker *child, held []int64, undone func([]int64) ([]int64, error)) ([]int64, error) {
	pid := worker.Pid()
	if pid == 0 { // it has ended by itself, and is started again
		return nil, nil
	}
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	err := wait(ctx, underWay)
	if err == nil {
		held, err = undone(held)
	}
	if err == nil && len(held) > 0 {
		return held, nil
	}
	return nil, errors.Join(err, syscall.Kill(-pid, syscall.SIGCONT))
}

// open are the items that are acknowledged and not done.
func (h *havoc) open(done map[int64]int64) (out []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := range h.acked {
		if done[n] == 0 {
			out = append(out, n)
		}
	}
	return out
}

// awaitOrphans waits until everything that was there when the worker died is
// done, or for as long as that is worth, and notes how long after its death that
// was.
func (h *havoc) awaitOrphans(ctx context.Context) error {
	for first := true; ; first = false {
		done, err := h.done(ctx)
		if err != nil {
			return err
		}
		var left []int64
		h.mu.Lock()
		for n, at := range h.acked {
			if at.Before(h.killedAt) && done[n] == 0 {
				left = append(left, n)
			}
		}
		if first { // what was there when it died, in its hands or not
			h.left = len(left)
		}
		waited := time.Since(h.killedAt)
		over := len(left) == 0 || waited > h.r.rescue
		if over {
			h.rescued = min(waited, h.r.rescue)
			for _, n := range left {
				h.orphans[n] = true
			}
		}
		h.mu.Unlock()
		if over {
			return nil
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// tellRescue notes what became of the items of the dead worker. When they were done
// is not told of one that had nothing in its hands.
func (h *havoc) tellRescue() {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := h.s.Values
	v["held_at_kill"], v["left_at_kill"], v["not_rescued"] = float64(h.held), float64(h.left), float64(len(h.orphans))
	if h.held == 0 {
		h.r.say("    the killed worker had nothing in its hands")
		return
	}
	v["rescue_s"] = h.rescued.Seconds()
	h.r.say("    of %d items of the dead worker and what else was there %d are left after %.1f s", h.held, len(h.orphans), h.rescued.Seconds())
}

// among are those of all that are open.
func among(all, open []int64) []int64 {
	return slices.DeleteFunc(all, func(n int64) bool { return !slices.Contains(open, n) })
}
