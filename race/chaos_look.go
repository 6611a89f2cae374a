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
	return h.doneBy(ctx, conn)
}

// doneBy is done for those who look often.
func (h *havoc) doneBy(ctx context.Context, conn *pgx.Conn) (map[int64]int64, error) {
	rows, _ := conn.Query(ctx, h.system.effects())
	out := map[int64]int64{}
	var n, count int64
	_, err := pgx.ForEachRow(rows, []any{&n, &count}, func() error {
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

// follow notes every half second how many items are done. While Postgres is away
// nobody can look: then the next one tells.
func (h *havoc) follow(ctx context.Context) {
	for wait(ctx, time.Second/2) == nil {
		_ = h.look(ctx) // of what goes wrong others tell
	}
}

// look notes how many items are done now.
func (h *havoc) look(ctx context.Context) error {
	done, err := h.done(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, progress{time.Now(), len(done)})
	return nil
}

// stretch is the rate between two looks that are rateOver apart, or further where
// nobody could look meanwhile.
type stretch struct {
	from, until time.Time
	rate        float64
}

// stretches are those that begin with each look.
func stretches(looks []progress) (out []stretch) {
	for i, a := range looks {
		for _, b := range looks[i:] {
			if over := b.at.Sub(a.at); over >= rateOver {
				out = append(out, stretch{a.at, b.at, float64(b.done-a.done) / over.Seconds()})
				break
			}
		}
	}
	return out
}

// worst is the least rate of what has a part of a fault in it: also of the stretch
// between the last look before it and the first after an outage.
func (h *havoc) worst(caused, healed time.Time) float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	least := math.Inf(1)
	for _, s := range stretches(h.progress) {
		if s.until.After(caused) && s.from.Before(healed) {
			least = min(least, s.rate)
		}
	}
	if math.IsInf(least, 1) {
		return 0 // nobody could look
	}
	return least
}

// awaitRate waits for a rate, chaosHeal at most, and returns how long after a fault
// was over a stretch ended that began after it and had that rate: rateOver at least.
func (h *havoc) awaitRate(ctx context.Context, over time.Time, rate float64) (time.Duration, error) {
	for time.Since(over) < h.r.chaosHeal {
		if at, ok := h.reached(over, rate); ok {
			return at.Sub(over), nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return h.r.chaosHeal, nil // or more
}

// reached is the end of the first stretch after a moment that has the rate.
func (h *havoc) reached(after time.Time, rate float64) (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range stretches(h.progress) {
		if !s.from.Before(after) && s.rate >= rate {
			return s.until, true
		}
	}
	return time.Time{}, false
}
