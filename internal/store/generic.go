package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// byIndexSQL keeps Postgres from reading whole tables where there is an index,
// up to the end of the transaction. The outbox and what else is mostly empty is
// read whole by a plan that was made when there was nothing in it, and the plan
// is kept while the table grows: a claim then read all 2,500 rows of the outbox for
// each of them, where nobody took any out.
const byIndexSQL = `SELECT set_config('enable_seqscan', 'off', true)`

// execByIndex runs a statement that touches few rows by their keys.
func (s *Store) execByIndex(ctx context.Context, sql string, args ...any) error {
	b := &pgx.Batch{}
	b.Queue(byIndexSQL)
	b.Queue(sql, args...)
	return translate(s.pool.SendBatch(ctx, b).Close())
}

// keepPlanSQL has Postgres keep one plan of each statement, up to the end of the
// transaction: one that goes from row to row by an index, in its order, until it
// has the few that are wanted.
//
// By itself it takes plans for the values at hand to be better, and makes them
// anew each time: for the large statements of the queue, whose plan is the same
// for all values, that takes longer than to run them. And where it expects few
// rows, it collects all that there are and sorts or joins them afterwards. It
// always expects few here: what a filter with a statement in it lets through it
// takes for one row in two hundred. A claim in a queue of 1,000 read all of them.
const keepPlanSQL = byIndexSQL + `, set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// genericPlan has the statements behind it in a batch planned once, for all
// values and for tables of any size.
func genericPlan(b *pgx.Batch) { b.Queue(keepPlanSQL) }
