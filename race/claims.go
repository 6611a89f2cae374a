package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// claimQueue is a queue on a fresh database with items that lie ready.
type claimQueue interface {
	// work lets clients take and finish one item after the other until the limit
	// or the time is reached or nothing is left. It may finish a few more: as many
	// as there are clients.
	work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error)
	// pace takes and finishes an item at a constant rate. Systems that hand items
	// to their own workers cannot be asked to: they return errPushed at once.
	pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error)
	// finished counts items that the rows call done.
	finished(ctx context.Context) (int64, error)
	children() []*child
	end(r *room)
}

var errPushed = errors.New("the system hands out items by itself")

// followed is a queue with somebody who works on behind its answers: they are through
// with what was handed in when caughtUp returns.
type followed interface {
	caughtUp(ctx context.Context) error
}

// claimRun is what came of working.
type claimRun struct {
	done, doubles int
	// empty counts who was told that there is nothing, at a constant rate.
	empty  int
	claim  *latencies // from the request for an item until it is there
	finish *latencies // from handing in until it is acknowledged
}

func newClaimRun() claimRun { return claimRun{claim: newLatencies(), finish: newLatencies()} }

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
// counts from the tick, whether or not earlier ones are through. What has not had
// its turn by half as long again is given up and counts with the time until then:
// a queue that is slower than the rate would keep everybody waiting for hours.
func (p pulled) pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error) {
	run := newClaimRun()
	free := make(chan int, mostPaced)
	for c := range mostPaced {
		free <- c
	}
	var mu sync.Mutex
	var ids []string
	var empty int
	g, gctx := errgroup.WithContext(ctx)
	began := time.Now()
	end := began.Add(during + during/paceGrace)
	for n := range int(during.Seconds() * float64(perSecond)) {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(perSecond))
		if err := wait(gctx, time.Until(due)); err != nil {
			break
		}
		g.Go(func() error {
			c := <-free
			defer func() { free <- c }()
			if time.Now().After(end) {
				run.claim.add(time.Since(due))
				return nil
			}
			id, err := p.one(gctx, c, &run, due)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, errEmpty):
				empty++
				return nil
			case err == nil:
				ids = append(ids, id)
			}
			return err
		})
	}
	err := g.Wait()
	run.done, run.doubles, run.empty = len(ids), doublesIn([][]string{ids}), empty
	return run, err
}

// served makes sure that people got items: a system that tells everybody that there
// is nothing is the quickest of all.
func (r claimRun) served() error {
	if asked := r.done + r.empty; 100*r.empty > asked {
		return fmt.Errorf("%d of %d who asked were told that there is nothing, though items lay ready", r.empty, asked)
	}
	return nil
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

const (
	// mostPaced are the clients of an open loop, each with one item at a time. An
	// open loop that needs more is far behind.
	mostPaced = 256
	// paceGrace is the part of its time that an open loop waits for what is late.
	paceGrace = 2
)
