package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// holdsSQL tells of each of the queues of pipelines $1, organizations $2 and kinds $3
// whether it holds a node, whoever may work on it: for each a look at three indexes.
var holdsSQL = `SELECT ` + firstSQL(`n.status = 'available' AND n.reserved_for IS NULL`, `n.priority, n.task_id`) + `
    + ` + firstSQL(`n.status = 'available' AND n.reserved_for IS NOT NULL`, `n.reserved_for, n.priority, n.task_id`) + `
    + ` + firstSQL(`n.status = 'claimed'`, `n.lease_expires_at`) + ` > 0
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS q(pipeline_id, org_id, kind, i)
ORDER BY q.i`

// firstSQL is 1 where a queue has a node in a state, otherwise 0; an index has the order.
func firstSQL(state, order string) string {
	return `(SELECT count(*) FROM (SELECT 1 FROM task_nodes n
        WHERE n.pipeline_id = q.pipeline_id AND n.org_id = q.org_id AND n.kind = q.kind AND ` + state + ` ORDER BY ` + order + ` LIMIT 1) n)`
}

// withoutDone leaves out the former queues that hold nothing any more. Who has none
// asks nothing: so it is for all who work on what the live version has.
func (s *Store) withoutDone(ctx context.Context, queues []Queue) ([]Queue, error) {
	var pipelines, orgs []int64
	var kinds []string
	for _, q := range queues {
		if q.former {
			pipelines, orgs, kinds = append(pipelines, q.PipelineID), append(orgs, q.OrgID), append(kinds, string(q.Kind))
		}
	}
	if len(pipelines) == 0 {
		return queues, nil
	}
	var hold []bool
	b := &pgx.Batch{}
	genericPlan(b)
	b.Queue(holdsSQL, pipelines, orgs, kinds).Query(func(rows pgx.Rows) (err error) {
		hold, err = pgx.CollectRows(rows, pgx.RowTo[bool])
		return err
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	var left []Queue
	for _, q := range queues {
		some := true
		if q.former {
			some, hold = hold[0], hold[1:]
		}
		if some {
			left = append(left, q)
		}
	}
	return left, nil
}
