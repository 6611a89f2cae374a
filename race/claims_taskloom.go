package main

import (
	"context"
	"strconv"
)

// taskloomClaims is the product's queue, over HTTP.
type taskloomClaims struct {
	pulled

	t      *taskloom
	people []*httpClient
	runs   bool
}

// taskloomClaimContender is the API alone, or with the worker that tells
// Temporal of what happens (runs).
func taskloomClaimContender(o options, clients int, runs bool) *claimContender {
	in := info{Name: "Taskloom", Version: taskloomVersion(o), Contract: "taskloom", Uses: []string{partPostgres}}
	if runs {
		in.Name, in.Uses = "Taskloom with runs", []string{partPostgres, partTemporal, partS3}
	}
	var w *taskloomWorld
	return &claimContender{
		in: in, clients: clients,
		prepare: func(ctx context.Context, r *room) (err error) {
			w, err = newTaskloomWorld(ctx, r, max(clients, mostPaced), "30m")
			return err
		},
		open: func(ctx context.Context, r *room) (claimQueue, error) {
			t, err := w.begin(ctx, r)
			if err != nil {
				return nil, err
			}
			q := &taskloomClaims{t: t, people: t.people(max(clients, mostPaced)), runs: runs}
			q.claimer = q
			if err := t.fill(ctx, r.items, r.payload); err != nil {
				return q, err
			}
			if err := settle(ctx, t.db.url); err != nil || !runs {
				return q, err
			}
			return q, t.startWorker(ctx)
		},
	}
}

func (q *taskloomClaims) claim(ctx context.Context, client int) (id, token string, err error) {
	h, err := q.t.claim(ctx, q.people[client], "contributor")
	return strconv.FormatInt(h.TaskID, 10), h.ID, err
}

func (q *taskloomClaims) finish(ctx context.Context, client int, _, token string) error {
	return q.t.submit(ctx, q.people[client], token)
}

func (q *taskloomClaims) finished(ctx context.Context) (int64, error) {
	return countURL(ctx, q.t.db.url, `SELECT count(DISTINCT task_id) FROM submissions`)
}

func (q *taskloomClaims) refusals() int64 { return q.people[0].refused.Load() }

func (q *taskloomClaims) databaseURL() string { return q.t.db.url }

func (q *taskloomClaims) children() []*child { return []*child{q.t.serve, q.t.worker} }

func (q *taskloomClaims) end(r *room) {
	for _, p := range q.people[:1] {
		p.closeIdle()
	}
	q.t.end(r)
}
