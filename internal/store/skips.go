package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// maxSkips is how many nodes of a pipeline a person can skip; beyond it the
// oldest are served again. Claiming looks at every skipped node that is ahead
// in the queue, so this bounds what a claim costs.
const maxSkips = 1000

// notSkippedSQL leaves out what user $3 skipped. It is an aggregate for the
// same reason as notTheirsSQL.
const notSkippedSQL = `(SELECT count(*) FROM skips k WHERE k.user_id = $3 AND k.task_id = n.task_id AND k.node_key = n.key) = 0`

// skip keeps the queue from serving the claim's node to its holder again.
func skip(ctx context.Context, tx pgx.Tx, c Claim) error {
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO skips (user_id, task_id, node_key, org_id, pipeline_id) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id, task_id, node_key) DO UPDATE SET created_at = now()`,
		c.UserID, c.TaskID, c.Node, c.OrgID, c.PipelineID)
	b.Queue(`DELETE FROM skips WHERE org_id = $2 AND (user_id, task_id, node_key) IN (
			SELECT user_id, task_id, node_key FROM skips WHERE user_id = $1 AND org_id = $2 AND pipeline_id = $3
			ORDER BY created_at DESC OFFSET $4)`, c.UserID, c.OrgID, c.PipelineID, maxSkips)
	return tx.SendBatch(ctx, b).Close()
}

// ResetSkips lets the queue serve again what the member skipped in the
// pipeline, and returns how many of those nodes wait to be claimed.
func (s *Store) ResetSkips(ctx context.Context, m Member) (int, error) {
	var waiting int
	err := s.pool.QueryRow(ctx, `WITH gone AS (
			DELETE FROM skips WHERE user_id = $1 AND org_id = $2 AND pipeline_id = $3 RETURNING task_id, node_key
		) SELECT count(*) FROM gone g JOIN task_nodes n ON n.task_id = g.task_id AND n.key = g.node_key
			AND (n.status = 'available' OR n.status = 'claimed' AND n.lease_expires_at <= now() AND `+lapsedOfSQL+`)`,
		m.UserID, m.OrgID, m.PipelineID).Scan(&waiting)
	return waiting, translate(err)
}
