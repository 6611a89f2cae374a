package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// claimFloor is a queue without a product: a table with the columns and
// indexes of task_nodes, and the two statements that everybody writes. It has
// no journal, no outbox and no task beside the node.
type claimFloor struct{ world *world }

func (f *claimFloor) create(ctx context.Context) error {
	return f.world.exec(ctx, `CREATE TABLE floor_nodes (LIKE task_nodes INCLUDING ALL) WITH (fillfactor = 80)`)
}

// fill is what fillQueue does for the product.
func (f *claimFloor) fill(ctx context.Context) error {
	if err := f.world.fillQueue(ctx); err != nil {
		return err
	}
	for _, sql := range []string{
		`TRUNCATE floor_nodes`,
		`INSERT INTO floor_nodes SELECT * FROM task_nodes ORDER BY task_id, key`,
		`VACUUM (ANALYZE) floor_nodes`,
	} {
		if err := f.world.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func (f *claimFloor) claim(ctx context.Context, client int) (int64, error) {
	var taskID int64
	var key string
	err := pgx.BeginFunc(ctx, f.world.store.Pool(), func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT task_id, key FROM floor_nodes
			WHERE pipeline_id = $1 AND kind = 'subtask' AND status = 'available' AND reserved_for IS NULL
			ORDER BY priority, task_id LIMIT 1 FOR UPDATE SKIP LOCKED`, f.world.pipelineID).Scan(&taskID, &key)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE floor_nodes SET status = 'claimed', claim_id = gen_random_uuid(), claimed_by = $3,
			lease_expires_at = now() + interval '30 minutes' WHERE task_id = $1 AND key = $2`,
			taskID, key, f.world.people[client].UserID)
		return err
	})
	return taskID, err
}
