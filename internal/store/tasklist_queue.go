package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// lane is the part of a queue that is of one kind and priority; in it, nodes
// are in the order of their tasks.
type lane struct {
	Kind     pipeline.Kind `db:"kind"`
	Priority int           `db:"priority"`
}

// lanesSQL finds the lanes that something is in, with one look into the index
// for each. There are at most 402: two kinds of 201 priorities.
const lanesSQL = `WITH RECURSIVE lane AS (
    (SELECT n.kind, n.priority FROM task_nodes n
        WHERE n.pipeline_id = $1 AND n.status = 'available' AND n.reserved_for IS NULL ORDER BY n.kind, n.priority LIMIT 1)
    UNION ALL
    SELECT n.kind, n.priority FROM lane l CROSS JOIN LATERAL (SELECT n.kind, n.priority FROM task_nodes n
        WHERE n.pipeline_id = $1 AND n.status = 'available' AND n.reserved_for IS NULL AND (n.kind, n.priority) > (l.kind, l.priority)
        ORDER BY n.kind, n.priority LIMIT 1) n
)
SELECT kind, priority FROM lane
WHERE ($2::smallint IS NULL OR priority = $2)
    AND ($3 = '' OR kind IN (SELECT e ->> 'kind' FROM pipeline_versions v CROSS JOIN jsonb_array_elements(v.definition -> 'nodes') e
        WHERE v.pipeline_id = $1 AND e ->> 'key' = $3))`

// lanes are those in which what is searched for may be: a node that is asked
// for has a kind, in each version of the pipeline.
func (s *Store) lanes(ctx context.Context, w walk) ([]lane, error) {
	b := &pgx.Batch{}
	genericPlan(b)
	var out []lane
	b.Queue(lanesSQL, w.pipeline, w.q.Priority, w.q.Node).Query(func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, pgx.RowToStructByName[lane])
		return err
	})
	return out, s.pool.SendBatch(ctx, b).Close()
}

// queueSQL walks down each lane, and through what is kept for somebody, of which
// there is never much more than people were given back.
func (w walk) queueSQL(b *binder, pipelineID, orgID, before, low, step string) string {
	parts := make([]string, 0, len(w.lanes)+1)
	for _, l := range w.lanes {
		parts = append(parts, fmt.Sprintf(`(SELECT DISTINCT n.task_id FROM task_nodes n
			WHERE n.pipeline_id = %s AND n.org_id = %s AND n.kind = %s AND n.priority = %s AND n.status = 'available' AND n.reserved_for IS NULL
				AND n.task_id < %s AND n.task_id >= %s ORDER BY n.task_id DESC LIMIT %s)`,
			pipelineID, orgID, b.bind(l.Kind), b.bind(l.Priority), before, low, step))
	}
	parts = append(parts, fmt.Sprintf(`(SELECT DISTINCT n.task_id FROM unnest(ARRAY['subtask', 'review']) AS k(kind)
		JOIN task_nodes n ON n.pipeline_id = %s AND n.kind = k.kind AND n.status = 'available' AND n.reserved_for IS NOT NULL
		WHERE n.org_id = %s AND n.task_id < %s AND n.task_id >= %s ORDER BY n.task_id DESC LIMIT %s)`, pipelineID, orgID, before, low, step))
	return `SELECT task_id FROM (` + strings.Join(parts, " UNION ALL ") + `) n GROUP BY task_id ORDER BY task_id DESC LIMIT ` + step
}
