package main

import (
	"context"
	"fmt"
	"strconv"
)

// taskloomClaims is the product's queue, over HTTP.
type taskloomClaims struct {
	pulled

	t      *taskloom
	people []*httpClient
}

// taskloomClaimsWithRuns is the queue with the worker and Temporal, which follow each
// claim and each submission.
type taskloomClaimsWithRuns struct{ *taskloomClaims }

func (q taskloomClaimsWithRuns) caughtUp(ctx context.Context) error { return q.t.caughtUp(ctx) }

// taskloomKind is a way to run the product.
type taskloomKind struct {
	name string
	// runs lets the worker tell Temporal of what happens; otherwise the API is alone.
	runs bool
	// everybody lets all clients in, as the other contenders do: what bounds them is
	// the 16 connections that everybody has.
	everybody bool
}

var (
	taskloomAlone    = taskloomKind{name: ours, everybody: true}
	taskloomWithRuns = taskloomKind{name: ours + " with runs", runs: true, everybody: true}
	// taskloomBounded works on as many requests at a time as the product does when
	// nobody sets it: four for each core.
	taskloomBounded = taskloomKind{name: ours + ", bound as it comes"}
)

// taskloomClaimContender is the product's queue, run in one way.
func taskloomClaimContender(o options, clients int, kind taskloomKind) *claimContender {
	in := info{Name: kind.name, Version: taskloomVersion(o), Contract: contractOurs, Uses: []string{partPostgres}}
	if kind.runs {
		in.Uses = []string{partPostgres, partTemporal, partS3}
	}
	people := max(clients, mostPaced)
	var settings []string
	if kind.everybody {
		settings = []string{fmt.Sprintf("REQUESTS_AT_ONCE=%d", people)}
	}
	var w *taskloomWorld
	return &claimContender{
		in: in, clients: clients,
		prepare: func(ctx context.Context, r *room) (err error) {
			w, err = newTaskloomWorld(ctx, r, people, "30m")
			return err
		},
		open: func(ctx context.Context, r *room) (claimQueue, error) {
			t, err := w.begin(ctx, r, settings...)
			if err != nil {
				return nil, err
			}
			q := &taskloomClaims{t: t, people: t.people(people)}
			q.claimer = q
			if err := t.fill(ctx, r.items, r.payload); err != nil {
				return q, err
			}
			// Of what lies ready Temporal has heard: claims are raced, not the start of
			// 100,000 runs beside them. Here a run begins with its claim.
			if err := execURL(ctx, t.db.url, `TRUNCATE outbox`); err != nil {
				return q, err
			}
			if err := settle(ctx, t.db.url); err != nil || !kind.runs {
				return q, err
			}
			return taskloomClaimsWithRuns{q}, t.startWorker(ctx)
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
