package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskloom/taskloom/internal/pipeline"
)

const (
	// queueLength is what lies ready when a sample begins.
	queueLength = 20_000
	// claimsPerSample are taken from it.
	claimsPerSample = 4000
)

// claimer takes the next node for the client of a number and returns its task.
type claimer func(ctx context.Context, client int) (taskID int64, err error)

// claimsPart compares how fast a queue hands out work with the bare statements
// on an equal table. Both sides have the same connections.
func claimsPart(ctx context.Context, b *bench) error {
	const most = 64
	w, err := b.newWorld(ctx, most)
	if err != nil {
		return err
	}
	floor := &claimFloor{world: w}
	if err := floor.create(ctx); err != nil {
		return err
	}
	sides := []struct {
		name string
		aim  float64
		one  claimer
	}{
		{"the store's ClaimNext", 1 / 0.7, w.claimFromStore},
		{"POST …/claim", 1 / 0.7, w.claimOverHTTP(most)},
	}
	for _, clients := range []int{8, most} {
		for _, side := range sides {
			m := &measure{Case: fmt.Sprintf("%s, %d clients", side.name, clients), Unit: unitRate, Aim: side.aim}
			var took, floorTook []float64
			bare := &claimRun{clients: clients, one: floor.claim, prepare: floor.fill, took: &floorTook}
			ours := &claimRun{clients: clients, one: side.one, prepare: w.fillQueue, check: w.checkClaims, took: &took}
			if err := b.race(ctx, m, bare.sample, ours.sample); err != nil {
				return err
			}
			m.FloorLatencies, m.OursLatencies = latenciesOf(floorTook), latenciesOf(took)
			m.Extra = map[string]float64{"double_claims": 0} // one would have ended the run
		}
	}
	return nil
}

// claimRun is one side with so many clients.
type claimRun struct {
	clients        int
	one            claimer
	prepare, check func(ctx context.Context) error
	took           *[]float64
}

// sample lets all clients claim until enough are taken and returns claims per
// second. A task that two clients got ends the run.
func (r *claimRun) sample(ctx context.Context) (float64, error) {
	if err := r.prepare(ctx); err != nil {
		return 0, fmt.Errorf("fill the queue: %w", err)
	}
	var started atomic.Int64
	got := make([][]int64, r.clients)
	took := make([][]float64, r.clients)
	g, gctx := errgroup.WithContext(ctx)
	began := time.Now()
	for c := range r.clients {
		g.Go(func() error {
			for started.Add(1) <= claimsPerSample {
				start := time.Now()
				id, err := r.one(gctx, c)
				if err != nil {
					return err
				}
				took[c] = append(took[c], millisSince(start))
				got[c] = append(got[c], id)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	rate := claimsPerSample / time.Since(began).Seconds()
	seen := make(map[int64]bool, claimsPerSample)
	for c := range got {
		for _, id := range got[c] {
			if seen[id] {
				return 0, fmt.Errorf("double claim: task %d was given out twice", id)
			}
			seen[id] = true
		}
		*r.took = append(*r.took, took[c]...)
	}
	if r.check != nil {
		return rate, r.check(ctx)
	}
	return rate, nil
}

var errEmptyQueue = errors.New("the queue is empty though it is not")

func (w *world) claimFromStore(ctx context.Context, client int) (int64, error) {
	c, err := w.store.ClaimNext(ctx, w.people[client].Member, pipeline.KindSubtask)
	if err != nil {
		return 0, err
	}
	if c == nil {
		return 0, errEmptyQueue
	}
	return c.TaskID, nil
}

func (w *world) claimOverHTTP(connections int) claimer {
	shared := w.newClient(connections)
	clients := make([]*apiClient, len(w.people))
	for i, p := range w.people {
		clients[i] = shared.as(p)
	}
	path := fmt.Sprintf("/api/console/pipelines/%d/claim", w.pipelineID)
	return func(ctx context.Context, number int) (int64, error) {
		var work struct {
			TaskID int64 `json:"task_id"`
		}
		status, err := clients[number].decode(ctx, http.MethodPost, path, map[string]string{"role": "contributor"}, &work)
		if err == nil && status == http.StatusNoContent {
			err = errEmptyQueue
		}
		return work.TaskID, err
	}
}

// fillQueue begins with an untouched queue.
func (w *world) fillQueue(ctx context.Context) error {
	if err := w.clear(ctx); err != nil {
		return err
	}
	return w.fillNew(ctx, queueLength)
}

// checkClaims looks for claims that two people hold, in the rows.
func (w *world) checkClaims(ctx context.Context) error {
	wrong, err := w.count(ctx, `SELECT abs((SELECT count(DISTINCT task_id) FROM task_nodes WHERE status = 'claimed') - $1)
		+ abs((SELECT count(*) FROM task_events WHERE kind = 'claim') - $1)
		+ abs((SELECT count(*) FROM outbox WHERE seq = 2) - $1)`, claimsPerSample)
	if err == nil && wrong != 0 {
		err = fmt.Errorf("%d rows too many or too few after %d claims", wrong, claimsPerSample)
	}
	return err
}
