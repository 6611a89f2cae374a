package store

import "github.com/jackc/pgx/v5"

// genericPlan makes Postgres keep one plan of the statements behind it in a
// batch, up to the end of the transaction. By itself it takes plans for the
// values at hand to be better, and makes them anew each time: for the large
// statements of the queue, whose plan is the same for all values, that takes
// longer than to run them.
func genericPlan(b *pgx.Batch) {
	b.Queue(`SELECT set_config('plan_cache_mode', 'force_generic_plan', true)`)
}
