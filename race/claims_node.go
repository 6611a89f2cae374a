package main

import (
	"context"
	"time"
)

// nodeSystem is a queue that runs on Node.
type nodeSystem struct {
	name, system, module, contract string
	// done counts what its rows call finished, given how many items there were.
	done string
}

var (
	pgBoss = nodeSystem{
		name: "pg-boss", system: "pgboss", module: "pg-boss", contract: "pg-boss",
		done: `SELECT count(*) FROM pgboss.job WHERE state = 'completed' AND $1::bigint >= 0`,
	}
	graphile = nodeSystem{
		name: "graphile-worker", system: "graphile", module: "graphile-worker", contract: "graphile-worker",
		done: `SELECT $1::bigint - count(*) FROM graphile_worker.jobs`, // it deletes finished jobs
	}
)

func (n nodeSystem) info(o options) info {
	return info{Name: n.name, Version: o.nodeVersion(n.module), Contract: n.contract, Uses: []string{partPostgres}}
}

// nodeClaims is such a queue on a database.
type nodeClaims struct {
	system nodeSystem
	db     *database
	driver *nodeDriver
	items  int
}

func nodeClaimContender(o options, system nodeSystem, clients int) *claimContender {
	return &claimContender{in: system.info(o), clients: clients, open: func(ctx context.Context, r *room) (claimQueue, error) {
		q, err := openNode(ctx, r, system, r.items)
		if err != nil {
			return q, err
		}
		return q, settle(ctx, q.db.url)
	}}
}

// openNode starts a driver on a fresh database with items in it.
func openNode(ctx context.Context, r *room, system nodeSystem, items int) (*nodeClaims, error) {
	q := &nodeClaims{system: system, items: items}
	var err error
	if q.db, err = r.newDatabase(ctx, nil); err != nil {
		return q, err
	}
	if q.driver, err = r.startNode(system.name, system.system, q.db.url); err != nil {
		return q, err
	}
	if err := q.driver.do(ctx, "setup", nil, nil); err != nil {
		return q, err
	}
	return q, q.driver.do(ctx, "fill", map[string]any{"items": items, "bytes": r.payload}, nil)
}

// nodeRun is a run as the driver tells it.
type nodeRun struct {
	Done    int     `json:"done"`
	Doubles int     `json:"doubles"`
	Empty   int     `json:"empty"`
	Pushed  bool    `json:"pushed"`
	Claim   []int64 `json:"claim_us"`
	Finish  []int64 `json:"finish_us"`
}

func (n nodeRun) run() claimRun {
	run := newClaimRun()
	run.done, run.doubles, run.empty = n.Done, n.Doubles, n.Empty
	for _, us := range n.Claim {
		run.claim.addMicros(us)
	}
	for _, us := range n.Finish {
		run.finish.addMicros(us)
	}
	return run
}

func (q *nodeClaims) work(ctx context.Context, clients, limit int, most time.Duration) (claimRun, error) {
	var n nodeRun
	err := q.driver.do(ctx, "work", map[string]any{"clients": clients, "limit": limit, "seconds": most.Seconds()}, &n)
	return n.run(), err
}

func (q *nodeClaims) pace(ctx context.Context, perSecond int, during time.Duration) (claimRun, error) {
	var n nodeRun
	err := q.driver.do(ctx, "pace", map[string]any{"rate": perSecond, "seconds": during.Seconds(), "clients": mostPaced}, &n)
	if err == nil && n.Pushed {
		err = errPushed
	}
	return n.run(), err
}

func (q *nodeClaims) finished(ctx context.Context) (int64, error) {
	return countURL(ctx, q.db.url, q.system.done, q.items)
}

func (q *nodeClaims) databaseURL() string { return q.db.url }

func (q *nodeClaims) children() []*child { return []*child{q.driver.child} }

func (q *nodeClaims) end(r *room) {
	if q.driver != nil {
		q.driver.finish()
	}
	r.drop(q.db)
}
