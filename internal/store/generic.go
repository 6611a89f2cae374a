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

// inOrderSQL keeps Postgres from collecting rows by an index and sorting them
// afterwards, where the index has them in order and few are wanted: for the five
// rows that there were when the plan was made that is no more work, for five thousand
// it is all of them each time.
const inOrderSQL = `SELECT set_config('enable_bitmapscan', 'off', true)`

// execByIndex runs a statement that touches few rows by their keys.
func (s *Store) execByIndex(ctx context.Context, sql string, args ...any) error {
	b := &pgx.Batch{}
	b.Queue(byIndexSQL)
	b.Queue(sql, args...)
	return translate(s.pool.SendBatch(ctx, b).Close())
}

// keepPlanSQL is byIndexSQL, and makes Postgres keep one plan of each statement.
// By itself it takes plans for the values at hand to be better, and makes them
// anew each time: for the large statements of the queue, whose plan is the same
// for all values, that takes longer than to run them.
const keepPlanSQL = byIndexSQL + `, set_config('plan_cache_mode', 'force_generic_plan', true)`

// genericPlan has the statements behind it in a batch planned once, for all
// values and for tables of any size.
func genericPlan(b *pgx.Batch) { b.Queue(keepPlanSQL) }
