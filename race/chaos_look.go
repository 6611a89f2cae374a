package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
)

// done is how many effects each item had.
func (h *havoc) done(ctx context.Context) (map[int64]int64, error) {
	conn, err := h.observe(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, h.system.effects())
	out := map[int64]int64{}
	var n, count int64
	_, err = pgx.ForEachRow(rows, []any{&n, &count}, func() error {
		out[n] = count
		return nil
	})
	return out, err
}

// observe connects, and waits for a Postgres that is being restarted.
func (h *havoc) observe(ctx context.Context) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(h.system.databaseURL())
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] = chaosName
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err == nil {
			return conn, nil
		}
		if waited := wait(ctx, 100*time.Millisecond); waited != nil {
			return nil, fmt.Errorf("connect to Postgres: %w", err)
		}
	}
}

// rate is items done a second from now on.
func (h *havoc) rate(ctx context.Context, over time.Duration) (float64, error) {
	before, err := h.done(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := wait(ctx, over); err != nil {
		return 0, err
	}
	after, err := h.done(ctx)
	return float64(len(after)-len(before)) / time.Since(began).Seconds(), err
}

// progress is how many items were done at a moment.
type progress struct {
	at   time.Time
	done int
}

// follow notes every second how many items are done.
func (h *havoc) follow(ctx context.Context) {
	for wait(ctx, time.Second) == nil {
		done, err := h.done(ctx)
		if err != nil {
			continue // Postgres is away: the next one tells
		}
		h.mu.Lock()
		h.progress = append(h.progress, progress{time.Now(), len(done)})
		h.mu.Unlock()
	}
}

// worst is the least rate over rateOver or somewhat more in a stretch of time.
func (h *havoc) worst(from, until time.Time) float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	least := math.Inf(1)
	for i, a := range h.progress {
		for _, b := range h.progress[i:] {
			if over := b.at.Sub(a.at); a.at.After(from) && b.at.Before(until) && over >= rateOver {
				least = min(least, float64(b.done-a.done)/over.Seconds())
				break
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0 // nobody could look
	}
	return least
}
