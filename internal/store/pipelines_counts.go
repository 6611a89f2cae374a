package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/task"
)

// QueueCounts says how much work a pipeline has, by what it waits for.
type QueueCounts struct {
	Available   int // subtasks that somebody may claim
	Claimed     int // subtasks and reviews that somebody holds
	InReview    int // reviews that wait for a reviewer
	Escalated   int
	Quarantined int
	Finished    int // tasks, as all below
	Failed      int
	Open        int // neither finished nor failed
	Total       int
}

// keptSQL reads kept counts: what was folded and what came since, in one
// snapshot. Counting those rows takes as long as there are tasks. Claims are
// counted, because there are never many more than people; what is queued is
// free or claimed.
const keptSQL = `SELECT pipeline_id, version_id, what, sum(n)::bigint AS n FROM (
		SELECT pipeline_id, version_id, what, n FROM pipeline_counts WHERE pipeline_id = ANY ($1)
		UNION ALL SELECT pipeline_id, version_id, what, n FROM count_changes WHERE pipeline_id = ANY ($1)) k
	GROUP BY 1, 2, 3
	UNION ALL SELECT p.id, 0, k.kind || ':claimed', (SELECT count(*) FROM task_nodes n
			WHERE n.pipeline_id = p.id AND n.kind = k.kind AND n.status = 'claimed')
		FROM unnest($1::bigint[]) AS p(id) CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind)`

// What tasks are counted as.
const (
	countedOpen     = "open"
	countedFinished = string(task.Finished)
	countedFailed   = string(task.Failed)
)

func countedAs(s task.Status) string {
	if s.Terminal() {
		return string(s)
	}
	return countedOpen
}

// kept is one kept count: of tasks of a version, or of nodes (version 0).
type kept struct {
	PipelineID int64  `db:"pipeline_id"`
	VersionID  int64  `db:"version_id"`
	What       string `db:"what"`
	N          int    `db:"n"`
}

func keptCounts(ctx context.Context, q querier, pipelineIDs ...int64) ([]kept, error) {
	rows, _ := q.Query(ctx, keptSQL, pipelineIDs)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[kept])
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	return found, nil
}

// add puts a kept count where it belongs.
func (c *QueueCounts) add(k kept) {
	switch k.What {
	case "subtask:queued":
		c.Available += k.N
	case "review:queued":
		c.InReview += k.N
	case "subtask:claimed":
		c.Claimed += k.N
		c.Available -= k.N
	case "review:claimed":
		c.Claimed += k.N
		c.InReview -= k.N
	case "subtask:escalated", "review:escalated":
		c.Escalated += k.N
	case "subtask:quarantined", "review:quarantined":
		c.Quarantined += k.N
	case countedFinished:
		c.Finished += k.N
	case countedFailed:
		c.Failed += k.N
	case countedOpen:
		c.Open += k.N
	}
	c.Total = c.Open + c.Finished + c.Failed
}

// QueueCounts tells a pipeline's open nodes and its tasks. What it costs does
// not grow with how many there are.
func (s *Store) QueueCounts(ctx context.Context, orgID, pipelineID int64) (QueueCounts, error) {
	var c QueueCounts
	if _, err := s.Pipeline(ctx, orgID, pipelineID); err != nil {
		return c, err
	}
	found, err := keptCounts(ctx, s.pool, pipelineID)
	if err != nil {
		return c, translate(err)
	}
	for _, k := range found {
		c.add(k)
	}
	return c, nil
}

// changesFolded is how many changes of counts one fold takes at most.
const changesFolded = 100_000

// foldCounts adds the changes of counts up, so that reading them stays quick.
// Several processes may fold at a time: each takes what no other has.
func (s *Store) foldCounts(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `WITH taken AS (
			DELETE FROM count_changes WHERE ctid = ANY (ARRAY(
				SELECT ctid FROM count_changes LIMIT $1 FOR UPDATE SKIP LOCKED))
			RETURNING pipeline_id, version_id, what, n
		)
		INSERT INTO pipeline_counts AS c
		SELECT pipeline_id, version_id, what, sum(n) FROM taken GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
		ON CONFLICT (pipeline_id, version_id, what) DO UPDATE SET n = c.n + excluded.n`, changesFolded)
	return err
}

// driftSQL is by how much the rows differ from what is kept of them, in one
// snapshot.
const driftSQL = `SELECT pipeline_id, version_id, what, coalesce(r.n, 0) - coalesce(k.n, 0) AS n
	FROM (SELECT pipeline_id, version_id, what, sum(n)::bigint AS n FROM (
			SELECT * FROM pipeline_counts UNION ALL SELECT * FROM count_changes) a GROUP BY 1, 2, 3) k
	FULL JOIN (SELECT pipeline_id, version_id, counted_task(status) AS what, count(*) AS n FROM tasks GROUP BY 1, 2, 3
		UNION ALL SELECT pipeline_id, 0, kind || ':' || counted_node(status), count(*) FROM task_nodes
		WHERE counted_node(status) IS NOT NULL GROUP BY 1, 3) r USING (pipeline_id, version_id, what)
	WHERE coalesce(k.n, 0) <> coalesce(r.n, 0)`

// countsChecked is how often the kept counts are compared with the rows. It
// reads every task, so it is not often; the difference is nothing unless
// another program wrote the rows, such as the release of before.
const countsChecked = time.Hour

// checkCounts mends the kept counts, in one process at a time: the others go on. It
// takes as long as it takes to read every task.
func (s *Store) checkCounts(ctx context.Context) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE count_checks SET at = now() WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM count_checks WHERE at < now() - $1::interval FOR UPDATE SKIP LOCKED))`, countsChecked)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', '0', true)`); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO count_changes (pipeline_id, version_id, what, n) `+driftSQL)
		return err
	})
}
