package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// claimPlan says how the items that lie ready are shared out among the phases of
// a sample.
type claimPlan struct {
	// warm items warm processes, connections and plans; share are taken in each
	// phase as fast as it goes.
	warm, share int
	// paced is how long items are taken at a constant rate, held for how long they
	// are while an old snapshot is held; 0 leaves the phase out.
	paced, held time.Duration
}

// longPlan leaves half of the items, so that the queue is long to the end.
func (o options) longPlan(clients int) claimPlan {
	return claimPlan{warm: o.warmItems(clients), share: max(1, 2*o.items/5), paced: min(o.window, o.lasting(o.items/10))}
}

// shortPlan takes nearly all as fast as it goes: there are few.
func (o options) shortPlan(clients int) claimPlan {
	warm := o.warmItems(clients)
	return claimPlan{warm: warm, share: max(1, o.items-warm-clients)}
}

// heldPlan lets the last phase find as many items as the first.
func (o options) heldPlan(clients int) claimPlan {
	p := claimPlan{warm: o.warmItems(clients), held: min(o.heldFor, o.lasting(3*o.items/10))}
	p.share = max(1, (o.items-p.warm-int(p.held.Seconds()*float64(o.claimRate))-clients)/2)
	return p
}

// warmItems are a twentieth, and at least one for each client.
func (o options) warmItems(clients int) int { return max(1, min(max(o.items/20, clients), o.items/4)) }

// lasting is how long items last at the rate of the open loop, at least a second.
func (o options) lasting(items int) time.Duration {
	return max(time.Second, time.Duration(items/o.claimRate)*time.Second)
}

// claimContender measures a queue.
type claimContender struct {
	in      info
	clients int
	plan    claimPlan
	prepare func(ctx context.Context, r *room) error
	open    func(ctx context.Context, r *room) (claimQueue, error)
}

func (c *claimContender) info() info { return c.in }

func (c *claimContender) setup(ctx context.Context, r *room) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx, r)
}

func (c *claimContender) close(*room) {}

// sample measures on one database, one phase after the other: as fast as it goes,
// at a constant rate, and, where a snapshot is held, at that rate for as long as
// it is, and then as fast as it goes once more.
func (c *claimContender) sample(ctx context.Context, r *room) (*sample, error) {
	q, err := c.open(ctx, r)
	if q != nil {
		defer q.end(r)
	}
	if err != nil {
		return nil, err
	}
	x := &claimSample{claimContender: c, room: r, queue: q, s: newSample()}
	for _, phase := range []struct {
		name string
		run  func(context.Context) error
	}{{"warm", x.warmUp}, {"free", x.free}, {"paced", x.atRate}, {"held", x.whileHeld}, {"count", x.count}} {
		if err := phase.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return x.s, nil
}

// claimSample is one sample of a queue.
type claimSample struct {
	*claimContender

	room          *room
	queue         claimQueue
	s             *sample
	done, doubles int
}

func (x *claimSample) add(run claimRun) { x.done, x.doubles = x.done+run.done, x.doubles+run.doubles }

// work takes items as fast as it goes. Who works on behind the answers is waited for
// and paid for: what a rate leaves to others is no part of the rate, and of its CPU
// time all the more.
func (x *claimSample) work(ctx context.Context, phase string) error {
	var run claimRun
	var worked, behind time.Duration
	_, cpu, err := x.s.measured(phase, x.in, x.queue.children(), func() (err error) {
		began := time.Now()
		if run, err = x.queue.work(ctx, x.clients, x.plan.share, x.room.window); err != nil {
			return err
		}
		worked = time.Since(began)
		err = x.catchUp(ctx)
		behind = time.Since(began) - worked
		return err
	})
	if err != nil {
		return err
	}
	x.add(run)
	seconds := worked.Seconds()
	if _, ok := x.queue.(followed); ok {
		x.s.Values[phase+"_behind_s"] = behind.Seconds()
	}
	if run.done == 0 {
		return errors.New("nothing was left to do: -items is too small")
	}
	x.s.Values[phase+"_per_s"] = ratio(float64(run.done), seconds)
	x.s.Values[phase+"_per_cpu_s"] = ratio(float64(run.done), cpu)
	x.s.latency(phase+"_claim", run.claim)
	x.s.latency(phase+"_finish", run.finish)
	return nil
}

func (x *claimSample) warmUp(ctx context.Context) error {
	run, err := x.queue.work(ctx, x.clients, x.plan.warm, max(time.Second, x.room.window/2))
	x.add(run)
	if err != nil {
		return err
	}
	return x.catchUp(ctx)
}

func (x *claimSample) free(ctx context.Context) error {
	g, ok := x.queue.(guarded)
	if !ok {
		return x.work(ctx, "free")
	}
	before := g.refusals()
	err := x.work(ctx, "free")
	x.s.Values["free_refused"] = float64(g.refusals() - before)
	return err
}

// atRate is the open loop, of systems that can be asked.
func (x *claimSample) atRate(ctx context.Context) error {
	if x.plan.paced == 0 {
		return nil
	}
	err := x.pace(ctx, "paced", x.plan.paced)
	if errors.Is(err, errPushed) {
		return nil
	}
	return err
}

// catchUp waits for whoever works on behind the answers.
func (x *claimSample) catchUp(ctx context.Context) error {
	if q, ok := x.queue.(followed); ok {
		return q.caughtUp(ctx)
	}
	return nil
}

func (x *claimSample) pace(ctx context.Context, phase string, during time.Duration) error {
	var run claimRun
	_, _, err := x.s.measured(phase, x.in, x.queue.children(), func() (err error) {
		if run, err = x.queue.pace(ctx, x.room.claimRate, during); err != nil {
			return err
		}
		return x.catchUp(ctx)
	})
	if err == nil {
		err = run.served()
	}
	if err != nil {
		return err
	}
	x.add(run)
	x.s.latency(phase+"_claim", run.claim)
	return nil
}

// whileHeld holds an old snapshot while items are worked at the constant rate, for
// dead rows to pile up, and then measures as fast as it goes with the snapshot
// still held.
func (x *claimSample) whileHeld(ctx context.Context) error {
	if x.plan.held == 0 {
		return nil
	}
	release, err := holdSnapshot(ctx, x.queue)
	if err != nil {
		return err
	}
	defer release()
	err = x.pace(ctx, "churn", x.plan.held)
	if errors.Is(err, errPushed) {
		err = x.slices(ctx, x.plan.held)
	}
	if err != nil {
		return fmt.Errorf("at %d/s: %w", x.room.claimRate, err)
	}
	if err := x.work(ctx, "held"); err != nil {
		return err
	}
	x.s.Values["held_kept"] = ratio(x.s.Values["held_per_cpu_s"], x.s.Values["free_per_cpu_s"])
	return nil
}

// slices works as many items as the rate asks for in each slice of time, and
// waits for the next: what can be done with systems that hand out by themselves.
func (x *claimSample) slices(ctx context.Context, during time.Duration) error {
	const slice = 5 * time.Second
	began := time.Now()
	for at := time.Duration(0); at < during; at += slice {
		long := min(slice, during-at)
		run, err := x.queue.work(ctx, x.clients, max(1, int(long.Seconds()*float64(x.room.claimRate))), long)
		if err != nil {
			return err
		}
		x.add(run)
		if err := wait(ctx, time.Until(began.Add(at+long))); err != nil {
			return err
		}
	}
	return nil
}

func (x *claimSample) count(ctx context.Context) error {
	n, err := x.queue.finished(ctx)
	if err != nil {
		return err
	}
	x.s.Values["doubles"] = float64(x.doubles)
	x.s.Values["lost"] = max(0, float64(x.done)-float64(n))
	return nil
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
