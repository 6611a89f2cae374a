package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// A life is the durable run of one task with people in it. Of its steps people
// cause two: the submission makes the review visible, the verdict the end. The
// step before is the claim, which the life itself makes.
const (
	stepClaimed   = 1
	stepSubmitted = 2
	stepFinished  = 3
)

const flowClients = 64

// flowSystem runs lives.
type flowSystem interface {
	// begin starts a life, up to and with the claim, and returns its handle.
	begin(ctx context.Context, client int) (life, error)
	// message sends what a person decided: stepSubmitted or stepFinished. It
	// returns which life it was for: a queue decides that itself.
	message(ctx context.Context, client int, l life, step int) (life, error)
	// reached is the query for those of the lives $1 whose step stands in the rows.
	reached(step int) string
	children() []*child
	// directory holds what the system keeps outside Postgres; empty for nothing.
	directory() string
	end(r *room)
}

// life is a run by its number, and by what its system needs to know.
type life struct {
	id    int64
	token string
}

// flowContender measures a system.
type flowContender struct {
	in      info
	prepare func(ctx context.Context, r *room) error
	open    func(ctx context.Context, r *room) (flowSystem, *database, error)
}

func (c *flowContender) info() info { return c.in }

func (c *flowContender) setup(ctx context.Context, r *room) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx, r)
}

func (c *flowContender) close(*room) {}

// sample lets 64 clients live as fast as they can, looks at the disk, and then
// begins lives at a constant rate for the latency.
func (c *flowContender) sample(ctx context.Context, r *room) (*sample, error) {
	system, db, err := c.open(ctx, r)
	if system != nil {
		defer system.end(r)
	}
	if err != nil {
		return nil, err
	}
	if err := settle(ctx, db.url); err != nil {
		return nil, err
	}
	pool, err := newPool(ctx, db.url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	looking, stop := context.WithCancel(ctx)
	defer stop()
	f := &flow{system: system, lookout: newLookout(pool, system.reached), took: newLatencies()}
	go f.lookout.run(looking)
	warm := min(flowClients, r.flowTasks)
	if err := f.crowd(ctx, warm, warm); err != nil {
		return nil, fmt.Errorf("warm: %w", err)
	}
	temporal := slices.Contains(c.in.Uses, partTemporal)
	before, err := diskUsed(ctx, db, temporal, system.directory())
	if err != nil {
		return nil, err
	}
	logged, err := logUsed(ctx, pool)
	if err != nil {
		return nil, err
	}
	s := newSample()
	seconds, cpu, err := s.measured("crowd", c.in, system.children(), func() error { return f.crowd(ctx, flowClients, r.flowTasks) })
	if err != nil {
		return nil, fmt.Errorf("as fast as it goes: %w", err)
	}
	flushed, err := logUsed(ctx, pool)
	if err != nil {
		return nil, err
	}
	after, err := diskUsed(ctx, db, temporal, system.directory())
	if err != nil {
		return nil, err
	}
	tasks := float64(r.flowTasks)
	s.Values["wal_syncs_per_task"] = (flushed.syncs - logged.syncs) / tasks
	s.Values["wal_bytes_per_task"] = (flushed.bytes - logged.bytes) / tasks
	s.Values["commits_per_task"] = (flushed.commits - logged.commits) / tasks
	s.Values["finished_per_s"], s.Values["finished_per_cpu_s"] = ratio(tasks, seconds), ratio(tasks, cpu)
	s.Values["bytes_per_task"] = float64(after-before) / tasks
	s.latency("crowd_visible", f.took)
	f.took = newLatencies()
	if _, _, err := s.measured("paced", c.in, system.children(), func() error { return f.arrive(ctx, r.flowEvery, max(1, r.flowTasks/5)) }); err != nil {
		return nil, fmt.Errorf("at a constant rate: %w", err)
	}
	s.latency("visible", f.took)
	return s, nil
}

// flow is lives on one system.
type flow struct {
	system  flowSystem
	lookout *lookout
	took    *latencies // from a message until its step is visible
}

// crowd lives so many lives with so many clients at a time.
func (f *flow) crowd(ctx context.Context, clients, lives int) error {
	var begun atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	for c := range clients {
		g.Go(func() error {
			for begun.Add(1) <= int64(lives) {
				if err := f.live(gctx, c, 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// arrive is an open loop: a life begins at each tick, with a person who thinks
// for half a second before each message.
func (f *flow) arrive(ctx context.Context, every time.Duration, lives int) error {
	const thinking = 500 * time.Millisecond
	g, gctx := errgroup.WithContext(ctx)
	began := time.Now()
	for n := range lives {
		if err := wait(gctx, time.Until(began.Add(time.Duration(n)*every))); err != nil {
			break
		}
		g.Go(func() error { return f.live(gctx, n%flowClients, thinking) })
	}
	return g.Wait()
}

func (f *flow) live(ctx context.Context, client int, thinking time.Duration) error {
	l, err := f.system.begin(ctx, client)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for _, step := range []int{stepSubmitted, stepFinished} {
		if thinking > 0 {
			if err := wait(ctx, thinking); err != nil {
				return err
			}
		}
		began := time.Now()
		of, err := f.system.message(ctx, client, l, step)
		if err != nil {
			return fmt.Errorf("message %d: %w", step, err)
		}
		if err := f.lookout.see(ctx, step, of.id); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		f.took.add(time.Since(began))
	}
	return nil
}

// diskUsed is the size of the sample's database, of Temporal's for those who use
// it, and of a directory.
func diskUsed(ctx context.Context, db *database, temporal bool, dir string) (int64, error) {
	if err := execURL(ctx, db.url, "CHECKPOINT"); err != nil {
		return 0, err
	}
	n, err := countURL(ctx, db.url, `SELECT sum(pg_database_size(oid))::bigint FROM pg_database
		WHERE datname = current_database() OR $1 AND datname NOT LIKE 'taskloom\_race\_%'`, temporal)
	if err != nil || dir == "" {
		return n, err
	}
	in, err := sizeOf(dir)
	return n + in, err
}

// walUse is what all databases together have written to the log so far.
type walUse struct{ syncs, bytes, commits float64 }

func logUsed(ctx context.Context, pool *pgxpool.Pool) (u walUse, err error) {
	err = pool.QueryRow(ctx, `SELECT wal_sync::float, wal_bytes::float, (SELECT sum(xact_commit) FROM pg_stat_database)::float FROM pg_stat_wal`).
		Scan(&u.syncs, &u.bytes, &u.commits)
	return u, err
}

// flowSteps is the table that systems without tables of their own for the state
// of a task write each step to.
const flowSteps = `CREATE TABLE flow_steps (id bigint PRIMARY KEY, step int NOT NULL, token text NOT NULL DEFAULT '')`

// Statements of the steps; each system runs one when a life begins and one for
// each message.
const (
	flowBegin   = `INSERT INTO flow_steps (id, step) VALUES ($1, 0) ON CONFLICT DO NOTHING`
	flowStep    = `UPDATE flow_steps SET step = $2 WHERE id = $1 AND step < $2`
	flowReached = `SELECT id FROM flow_steps WHERE id = ANY($1) AND step >= %d`
)

// newFlowDatabase makes a database with that table.
func newFlowDatabase(ctx context.Context, r *room) (*database, *pgxpool.Pool, error) {
	db, err := r.newDatabase(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := execURL(ctx, db.url, flowSteps); err != nil {
		return db, nil, err
	}
	pool, err := newPool(ctx, db.url)
	return db, pool, err
}

// stepsReached is flowSystem.reached for those.
func stepsReached(step int) string { return fmt.Sprintf(flowReached, step) }

// flowRace is race 3.
func flowRace(ctx context.Context, r *room) error {
	const floor = "bare Temporal"
	c := &competition{
		race: "flow", title: fmt.Sprintf("subtask and review, %d clients, %d tasks", flowClients, r.flowTasks), phase: "crowd",
		curves: []string{"visible"},
		figures: []figure{
			{Name: "finished_per_s", Says: "finished a second", Unit: "/s", More: true, Aim: 0.67, Against: floor},
			{Name: "finished_per_cpu_s", Says: "finished a CPU second", Unit: "/CPU-s", More: true, CPU: true},
			{Name: "visible_p50_ms", Says: "message to next step visible, p50", Unit: "ms"},
			{Name: "visible_p99_ms", Says: "p99", Unit: "ms", Bound: 1000},
			{Name: "crowd_visible_p99_ms", Says: "p99 under full load", Unit: "ms"},
			{Name: "commits_per_task", Says: "transactions of Postgres a task, those that look included"},
			{Name: "wal_syncs_per_task", Says: "flushes of the WAL a task"},
			{Name: "wal_bytes_per_task", Says: "WAL a task", Unit: "B"},
			{Name: "bytes_per_task", Says: "bytes on disk a task", Unit: "B"},
		},
	}
	c.add(r, taskloomFlowContender(r.options))
	c.add(r, temporalFlowContender(floor))
	c.add(r, dbosFlowContender())
	c.add(r, restateFlowContender(r.options))
	return c.run(ctx, r)
}
