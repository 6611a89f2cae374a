package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/taskloom/taskloom/internal/measure/mathcheck"
)

const (
	// creatorCount are programs that create tasks at the same time.
	creatorCount = 4
	// batch is the largest batch that the API takes.
	batch    = 5000
	pageSize = 200
)

// lists are what programs ask for: mostly the newest, sometimes what is done.
var lists = []string{"", "", "", "&status=finished", "&status=in_progress"}

func (r *run) list(ctx context.Context, due time.Time) {
	n := r.think.IntN(integratorCount - 1)
	r.ask(ctx, request{
		op: "list", method: http.MethodGet, key: r.world.keys[n], due: due,
		path: fmt.Sprintf("/api/v1/workflows/%d/tasks?limit=%d%s", r.world.main, pageSize, lists[r.think.IntN(len(lists))]),
	})
}

// status is one of those who ask for up to 100 tasks every 30 s.
func (r *run) status(ctx context.Context, due time.Time) {
	r.askStatus(ctx, due, "status", r.world.keys[r.think.IntN(integratorCount-1)])
}

// naive is the one program that asks without end, and is held back for it.
func (r *run) naive(ctx context.Context, due time.Time) {
	r.askStatus(ctx, due, "status-naive", r.world.keys[integratorCount-1])
}

func (r *run) askStatus(ctx context.Context, due time.Time, op, key string) {
	r.ask(ctx, request{
		op: op, method: http.MethodGet, key: key, due: due,
		path: fmt.Sprintf("/api/v1/workflows/%d/tasks/%d", r.world.main, r.facts.tasks[r.think.IntN(len(r.facts.tasks))]),
	})
}

// peek is a program of another organization, which must not find anything.
func (r *run) peek(ctx context.Context, due time.Time) {
	path := fmt.Sprintf("/api/v1/workflows/%d/tasks", r.world.main)
	if r.think.IntN(2) == 0 {
		path += fmt.Sprintf("/%d", r.facts.tasks[r.think.IntN(len(r.facts.tasks))])
	}
	a := r.ask(ctx, request{op: "foreign", method: http.MethodGet, key: r.world.stranger, due: due, path: path})
	if a.err == nil && a.status < http.StatusInternalServerError && !a.turnedAway() {
		r.facts.peeked(a.status != http.StatusNotFound)
	}
}

// bodies of creations, made once: 3 MB and just under 32 MB.
type bodies struct{ small, large []byte }

func makeBodies(large bool) bodies {
	b := bodies{small: mathcheck.CreateBody(batch, mathcheck.Small)}
	if large {
		b.large = mathcheck.CreateBody(batch, mathcheck.Large)
	}
	return b
}

// create sends a batch, as one of the programs that create. It carries an
// Idempotency-Key, as every creation that may be repeated should.
func (r *run) create(ctx context.Context, due time.Time, creator int, op string, body []byte) {
	a := r.ask(ctx, request{
		op: op, method: http.MethodPost, key: r.world.keys[integratorCount+creator%creatorCount], due: due,
		path: fmt.Sprintf("/api/v1/workflows/%d/tasks", r.world.main), body: body,
		once: rand.Text(), patience: insistent,
	})
	var out struct {
		TaskIDs []int64 `json:"task_ids"`
	}
	switch {
	case a.ok() && a.decode(&out) == nil:
		r.facts.created(out.TaskIDs)
	case a.status == 0 || a.status >= http.StatusInternalServerError:
		r.facts.uncertain(batch)
	}
}
