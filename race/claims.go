package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// claimQueue is a queue on a fresh database with items that lie ready.
type claimQueue interface {
	// work lets clients take and finish one item after the other until the limit
	// or the time is reached or nothing is left. It may finish a few more: as many
	// as there are clients.
	work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error)
	// pace takes and finishes an item at a constant rate. Systems that hand items
	// to their own workers cannot be asked to: they return errPushed.
	pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error)
	// finished counts items that the rows call done.
	finished(ctx context.Context) (int64, error)
	children() []*child
	end(r *room)
}

var errPushed = errors.New("the system hands out items by itself")

// claimRun is what came of working.
type claimRun struct {
	done, doubles int
	claim         *latencies // from the request for an item until it is there
	finish        *latencies // from handing in until it is acknowledged
}

func newClaimRun() claimRun { return claimRun{claim: newLatencies(), finish: newLatencies()} }

// claimContender measures a queue.
type claimContender struct {
	in      info
	clients int
	prepare func(ctx context.Context, r *room) error
	open    func(ctx context.Context, r *room) (claimQueue, error)
	shut    func(r *room)
}

func (c *claimContender) info() info { return c.in }

func (c *claimContender) setup(ctx context.Context, r *room) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx, r)
}

func (c *claimContender) close(r *room) {
	if c.shut != nil {
		c.shut(r)
	}
}

// sample measures in four phases on one database, after some items that warm
// processes, connections and plans: as fast as it goes, at a constant rate, while an old snapshot is held and items go on being worked,
// and then once more as fast as it goes with the snapshot still held.
func (c *claimContender) sample(ctx context.Context, r *room) (*sample, error) {
	q, err := c.open(ctx, r)
	if q != nil {
		defer q.end(r)
	}
	if err != nil {
		return nil, err
	}
	s := newSample()
	var done, doubles int
	work := func(phase string, clients, limit int, most time.Duration) error {
		var run claimRun
		seconds, cpu, err := s.measured(phase, c.in, q.children(), func() (err error) {
			run, err = q.work(ctx, clients, limit, most)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", phase, err)
		}
		done, doubles = done+run.done, doubles+run.doubles
		if run.done == 0 {
			return fmt.Errorf("%s: nothing was left to do: -items is too small", phase)
		}
		s.Values[phase+"_per_s"] = ratio(float64(run.done), seconds)
		s.Values[phase+"_per_cpu_s"] = ratio(float64(run.done), cpu)
		s.latency(phase+"_claim", run.claim)
		s.latency(phase+"_finish", run.finish)
		return nil
	}
	warm, err := q.work(ctx, c.clients, max(1, r.items/20), max(time.Second, r.window/2))
	if err != nil {
		return nil, fmt.Errorf("warm: %w", err)
	}
	done, doubles = warm.done, warm.doubles
	var refused int64
	if g, ok := q.(guarded); ok {
		refused = g.refusals()
	}
	// Each phase as fast as it goes ends with two fifths of the items, so that the
	// last one finds as many as the first.
	share := max(1, 2*r.items/5)
	if err := work("free", c.clients, share, r.window); err != nil {
		return nil, err
	}
	if g, ok := q.(guarded); ok {
		s.Values["free_refused"] = float64(g.refusals() - refused)
	}
	var paced claimRun
	if _, _, err := s.measured("paced", c.in, q.children(), func() (err error) {
		paced, err = q.pace(ctx, r.claimRate, r.window)
		return err
	}); err == nil {
		done, doubles = done+paced.done, doubles+paced.doubles
		s.latency("paced_claim", paced.claim)
	} else if !errors.Is(err, errPushed) {
		return nil, fmt.Errorf("paced: %w", err)
	}
	if r.heldChurn > 0 {
		hold, err := holdSnapshot(ctx, q)
		if err != nil {
			return nil, err
		}
		defer hold()
		if err := work("churn", c.clients, min(r.heldChurn, max(1, r.items/10)), r.window); err != nil {
			return nil, err
		}
		if err := wait(ctx, r.heldFor); err != nil {
			return nil, err
		}
		if err := work("held", c.clients, share, r.window); err != nil {
			return nil, err
		}
		s.Values["held_kept"] = ratio(s.Values["held_per_cpu_s"], s.Values["free_per_cpu_s"])
	}
	n, err := q.finished(ctx)
	if err != nil {
		return nil, err
	}
	s.Values["doubles"] = float64(doubles)
	s.Values["lost"] = max(0, float64(done)-float64(n))
	return s, nil
}

// guarded is a queue that tells callers to come again when there are too many.
type guarded interface{ refusals() int64 }

// heldURL is a queue whose database can be reached.
type heldURL interface{ databaseURL() string }

// holdSnapshot opens a transaction that has an id and does nothing, as a dump or
// a forgotten BEGIN does: nothing that dies from now on can be removed.
func holdSnapshot(ctx context.Context, q claimQueue) (release func(), err error) {
	at, ok := q.(heldURL)
	if !ok {
		return nil, errors.New("the queue does not say where its database is")
	}
	conn, err := pgx.Connect(ctx, at.databaseURL())
	if err != nil {
		return nil, err
	}
	for _, sql := range []string{
		`SET idle_in_transaction_session_timeout = 0`, `BEGIN ISOLATION LEVEL REPEATABLE READ`, `SELECT pg_current_xact_id()`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
	}
	return func() { _ = conn.Close(context.WithoutCancel(ctx)) }, nil
}

// claimer takes an item and finishes it for the client of a number.
type claimer interface {
	claim(ctx context.Context, client int) (id, token string, err error)
	finish(ctx context.Context, client int, id, token string) error
}

// pulled works a queue whose clients ask for items.
type pulled struct{ claimer }

func (p pulled) work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error) {
	run := newClaimRun()
	end := time.Now().Add(most)
	var begun, done atomic.Int64
	taken := make([][]string, clients)
	g, gctx := errgroup.WithContext(ctx)
	for c := range clients {
		g.Go(func() error {
			for begun.Add(1) <= int64(limit) && time.Now().Before(end) {
				id, err := p.one(gctx, c, &run, time.Now())
				if errors.Is(err, errEmpty) {
					return nil
				}
				if err != nil {
					return err
				}
				taken[c] = append(taken[c], id)
				done.Add(1)
			}
			return nil
		})
	}
	err := g.Wait()
	run.done = int(done.Load())
	run.doubles = doublesIn(taken)
	return run, err
}

// one takes and finishes an item that is asked for at a moment.
func (p pulled) one(ctx context.Context, client int, run *claimRun, asked time.Time) (string, error) {
	id, token, err := p.claim(ctx, client)
	if err != nil {
		return "", err
	}
	run.claim.add(time.Since(asked))
	began := time.Now()
	if err := p.finish(ctx, client, id, token); err != nil {
		return "", err
	}
	run.finish.add(time.Since(began))
	return id, nil
}

// pace is an open loop: an item is asked for at each tick, and its latency
// counts from the tick, whether or not earlier ones are through.
func (p pulled) pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error) {
	const mostOpen = mostPaced
	run := newClaimRun()
	var done atomic.Int64
	free := make(chan int, mostOpen)
	for c := range mostOpen {
		free <- c
	}
	var mu sync.Mutex
	var ids []string
	g, gctx := errgroup.WithContext(ctx)
	began := time.Now()
	for n := range int(during.Seconds() * float64(perSecond)) {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(perSecond))
		if err := wait(gctx, time.Until(due)); err != nil {
			break
		}
		g.Go(func() error {
			c := <-free
			defer func() { free <- c }()
			id, err := p.one(gctx, c, &run, due)
			if errors.Is(err, errEmpty) {
				return nil
			}
			if err == nil {
				done.Add(1)
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			}
			return err
		})
	}
	err := g.Wait()
	run.done, run.doubles = int(done.Load()), doublesIn([][]string{ids})
	return run, err
}

// doublesIn counts items that were handed out more than once.
func doublesIn(taken [][]string) (n int) {
	seen := map[string]bool{}
	for _, ids := range taken {
		for _, id := range ids {
			if seen[id] {
				n++
			}
			seen[id] = true
		}
	}
	return n
}

// mostPaced are the clients of an open loop, each with one item at a time. An
// open loop that needs more is far behind.
const mostPaced = 256
