package main

import (
	"context"
	"fmt"
	"time"
)

// creator puts mostPerRequest items into a database, in one request.
type creator interface {
	// create prepares a request, and returns how long it took once it was sent.
	create(ctx context.Context) (time.Duration, error)
	children() []*child
	end(r *room)
}

// createContender measures creations in an empty database and in one that holds
// many items.
type createContender struct {
	in info
	// base makes a database with so many items, that nobody is connected to.
	base func(ctx context.Context, r *room, items int) (*database, error)
	open func(ctx context.Context, r *room, db *database) (creator, error)

	bases [2]*database
}

func (c *createContender) info() info { return c.in }

func (c *createContender) setup(ctx context.Context, r *room) error {
	for i, items := range []int{0, r.present} {
		if i > 0 && items == 0 {
			break // only the empty one
		}
		began := time.Now()
		db, err := c.base(ctx, r, items)
		if err != nil {
			return fmt.Errorf("a database with %d items: %w", items, err)
		}
		if err := settle(ctx, db.url); err != nil {
			return err
		}
		c.bases[i] = db
		if items > 0 {
			r.say("  %s: %d items are there after %.0f s", c.in.Name, items, time.Since(began).Seconds())
		}
	}
	return nil
}

func (c *createContender) close(r *room) {
	for _, db := range c.bases {
		r.drop(db)
	}
}

func (c *createContender) sample(ctx context.Context, r *room) (*sample, error) {
	s := newSample()
	for i, phase := range []string{"empty", "full"} {
		if c.bases[i] == nil {
			continue
		}
		if err := c.phase(ctx, r, s, c.bases[i], phase); err != nil {
			return nil, fmt.Errorf("%s: %w", phase, err)
		}
	}
	if full, ok := s.Values["full_p50_ms"]; ok {
		s.Values["slope"] = ratio(full, s.Values["empty_p50_ms"])
	}
	return s, nil
}

func (c *createContender) phase(ctx context.Context, r *room, s *sample, base *database, phase string) error {
	db, err := r.newDatabase(ctx, base)
	if err != nil {
		return err
	}
	defer r.drop(db)
	x, err := c.open(ctx, r, db)
	if x != nil {
		defer x.end(r)
	}
	if err != nil {
		return err
	}
	if _, err := x.create(ctx); err != nil { // warm
		return err
	}
	took := newLatencies()
	var inside time.Duration
	// CPU time is that of sending and of preparing; the latter is little.
	_, cpu, err := s.measured(phase, c.in, x.children(), func() error {
		for range r.creates {
			d, err := x.create(ctx)
			if err != nil {
				return err
			}
			took.add(d)
			inside += d
		}
		return nil
	})
	if err != nil {
		return err
	}
	rows := float64(r.creates * mostPerRequest)
	s.latency(phase, took)
	s.Values[phase+"_rows_per_s"] = ratio(rows, inside.Seconds())
	s.Values[phase+"_rows_per_cpu_s"] = ratio(rows, cpu)
	return nil
}

// createRace is race 2.
func createRace(ctx context.Context, r *room) error {
	raw := "COPY of our rows"
	figures := []figure{
		{Name: "empty_rows_per_s", Says: "rows a second, empty", Unit: "/s", More: true},
		{Name: "empty_p50_ms", Says: "p50, empty", Unit: "ms", Aim: 3, Against: raw},
		{Name: "empty_p99_ms", Says: "p99, empty", Unit: "ms"},
		{Name: "empty_rows_per_cpu_s", Says: "rows a CPU second, empty", Unit: "/CPU-s", More: true, CPU: true},
	}
	if r.present > 0 {
		figures = append(figures,
			figure{Name: "full_p50_ms", Says: fmt.Sprintf("p50, %d present", r.present), Unit: "ms", Aim: 3, Against: raw},
			figure{Name: "full_p99_ms", Says: fmt.Sprintf("p99, %d present", r.present), Unit: "ms"},
			figure{Name: "slope", Says: "slope", Bound: 1.2})
	}
	c := &competition{
		race: "create", figures: figures, phase: "empty", curves: []string{"full"},
		title: fmt.Sprintf("%d x %d B in one request, %d requests, empty and beside %d", mostPerRequest, r.payload, r.creates, r.present),
	}
	if r.present == 0 {
		c.curves = []string{"empty"}
	}
	ours := &taskloomBases{}
	c.add(r, taskloomCreateContender(r.options, ours))
	c.add(r, copyContender(ours, raw))
	c.add(r, riverCreateContender())
	c.add(r, pgBossCreateContender(r.options))
	return c.run(ctx, r)
}
