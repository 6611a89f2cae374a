package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// riverWorkerCommand is this program as one of River's two workers: a process
// of its own, so that it can be killed.
const riverWorkerCommand = "river-worker"

// riverChaosItem is an item by its number.
type riverChaosItem struct {
	N int64 `json:"n"`
}

// Kind implements river.JobArgs.
func (riverChaosItem) Kind() string { return "chaos" }

type riverChaosWorker struct {
	river.WorkerDefaults[riverChaosItem]

	pool *pgxpool.Pool
}

// Work implements river.Worker: the item's effect is a row, after some work.
func (w *riverChaosWorker) Work(ctx context.Context, job *river.Job[riverChaosItem]) error {
	if err := wait(ctx, chaosWork); err != nil {
		return err
	}
	_, err := w.pool.Exec(ctx, `INSERT INTO race_effects (n) VALUES ($1)`, job.Args.N)
	return err
}

// riverWorkerMain works until it is told to stop. Its jobs are marked with the name
// that it is given, and with a number: River wants no two lives of a worker under one.
func riverWorkerMain(args []string) error {
	if len(args) != 1 {
		return errors.New("a worker needs a name")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool, err := newPool(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverChaosWorker{pool: pool})
	c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		ID:     fmt.Sprintf("%s-%d", args[0], time.Now().UnixNano()),
		Logger: quiet, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: chaosSlots}},
	})
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return c.StopAndCancel(context.WithoutCancel(ctx))
}

// riverChaos is River with two worker processes and a client that inserts.
type riverChaos struct {
	*riverQueue

	client *river.Client[pgx.Tx]
	pair   []*child
}

func riverChaosContender() *chaosContender {
	return &chaosContender{
		in: info{Name: "River", Version: moduleVersion(riverModule), Contract: "river", Uses: []string{partPostgres}},
		open: func(ctx context.Context, r *room) (chaosSystem, error) {
			q, err := openRiver(ctx, r, 0)
			if err != nil {
				return nil, err
			}
			c := &riverChaos{riverQueue: q}
			if err := execURL(ctx, q.db.url, effectsTable); err != nil {
				return c, err
			}
			self, err := os.Executable()
			if err != nil {
				return c, err
			}
			for i := range 2 {
				name := "river-" + strconv.Itoa(i)
				c.pair = append(c.pair, r.newChild(name, self, append(os.Environ(), "DATABASE_URL="+q.db.url), riverWorkerCommand, name))
			}
			c.client, err = river.NewClient(riverpgxv5.New(q.pool), &river.Config{Logger: quiet})
			return c, err
		},
	}
}

func (c *riverChaos) send(ctx context.Context, n int64) (int64, error) {
	_, err := c.client.Insert(ctx, riverChaosItem{N: n}, nil)
	return n, err
}

func (c *riverChaos) effects() string { return effectsQuery }

// hands are in the table of jobs: the last of those who tried a job is who works on it.
func (c *riverChaos) hands(ctx context.Context, i int, open []int64) ([]int64, error) {
	rows, _ := c.pool.Query(ctx, `SELECT (args->>'n')::bigint FROM river_job
		WHERE state = 'running' AND starts_with(attempted_by[array_upper(attempted_by, 1)], $1)`, c.pair[i].Name+"-")
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return among(all, open), err
}

func (c *riverChaos) workers() []*child { return c.pair }

func (c *riverChaos) startWorker(_ context.Context, i int) error { return c.pair[i].Start() }

func (c *riverChaos) children() []*child { return c.pair }

func (c *riverChaos) end(r *room) {
	for _, w := range c.pair {
		w.Kill() // nothing that it could still do counts
	}
	c.riverQueue.end(r)
}

// nodeChaos is a queue on Node with two worker processes and one that sends.
type nodeChaos struct {
	r      *room
	system nodeSystem
	db     *database
	sender *nodeDriver
	mu     sync.Mutex
	pair   []*child
	// drivers are kept: a worker ends when its input is closed, and an input that
	// nobody holds is.
	drivers [2]*nodeDriver
}

func nodeChaosContender(o options, system nodeSystem) *chaosContender {
	return &chaosContender{in: system.info(o), open: func(ctx context.Context, r *room) (chaosSystem, error) {
		c := &nodeChaos{r: r, system: system, pair: []*child{{}, {}}}
		var err error
		if c.db, err = r.newDatabase(ctx, nil); err != nil {
			return nil, err
		}
		if err := execURL(ctx, c.db.url, effectsTable); err != nil {
			return c, err
		}
		if c.sender, err = r.startNode(system.name+"-sender", system.system, c.db.url); err != nil {
			return c, err
		}
		return c, c.sender.do(ctx, "setup", nil, nil)
	}}
}

func (c *nodeChaos) send(ctx context.Context, n int64) (int64, error) {
	// The driver answers one command after the other, and may wait for Postgres:
	// the one who asks does not, or a fault would end it.
	sent := make(chan error, 1)
	go func() { sent <- c.sender.do(context.WithoutCancel(ctx), "send", map[string]any{"n": n}, nil) }()
	select {
	case err := <-sent:
		return n, err
	case <-time.After(patience):
		return n, errors.New("not sent in time")
	}
}

func (c *nodeChaos) effects() string { return effectsQuery }

// hands are told by the worker: pg-boss's table does not say who has a job.
func (c *nodeChaos) hands(ctx context.Context, i int, open []int64) (all []int64, err error) {
	c.mu.Lock()
	d := c.drivers[i]
	c.mu.Unlock()
	err = d.do(ctx, "hands", nil, &all)
	return among(all, open), err
}

func (c *nodeChaos) workers() []*child {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pair)
}

func (c *nodeChaos) startWorker(ctx context.Context, i int) error {
	d, err := c.r.startNode(fmt.Sprintf("%s-%d", c.system.name, i), c.system.system, c.db.url)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.pair[i], c.drivers[i] = d.child, d
	c.mu.Unlock()
	if err := d.do(ctx, "setup", nil, nil); err != nil {
		return err
	}
	return d.do(ctx, "effects", map[string]any{"clients": chaosSlots, "millis": chaosWork.Milliseconds()}, nil)
}

func (c *nodeChaos) databaseURL() string { return c.db.url }

func (c *nodeChaos) children() []*child { return append([]*child{c.sender.child}, c.workers()...) }

func (c *nodeChaos) end(r *room) {
	for _, w := range c.pair {
		w.Kill() // nothing that it could still do counts
	}
	if c.sender != nil {
		c.sender.Kill()
	}
	r.drop(c.db)
}
