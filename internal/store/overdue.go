package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// overdueLook is how many nodes of a queue, or of a pipeline, are looked at in a round for
// those that somebody has to end: many more may be late that are another's.
const overdueLook = 5000

// onClaimSQL are the versions whose tasks have no run before their first claim.
const onClaimSQL = `FROM pipeline_versions v WHERE v.definition ->> 'runs' = 'on_first_claim'`

// aloneSQL is whether a task t waits for the claim with which its run begins.
const aloneSQL = `(NOT t.touched AND t.version_id = ANY (ARRAY(SELECT v.id ` + onClaimSQL + `)))`

// lateSQL finds nodes n whose at is longer than before ago: task, at, and which of them it
// is as turn, from 1; at most limit, of the first overdueLook. Of the node must hold what
// nodes and then what which says; each is an expression of SQL.
func lateSQL(nodes, at, before, limit, which string) string {
	return fmt.Sprintf(`SELECT n.task_id, n.at, row_number() OVER (ORDER BY n.at) AS turn FROM (
			SELECT n.task_id, n.%[2]s AS at FROM task_nodes n WHERE %[1]s AND n.%[2]s < now() - %[3]s::interval ORDER BY n.%[2]s LIMIT %[6]d
		) n WHERE %[5]s ORDER BY n.at LIMIT %[4]s`, nodes, at, before, limit, which, overdueLook)
}

// pastSLA are the nodes of a pipeline p that have a time limit and are not handed in.
const pastSLA = `n.pipeline_id = p.id AND n.sla_at IS NOT NULL AND n.status IN ('available', 'claimed')`

// overdueSQL finds tasks whose leases or time limits ran out longer than before ago: of
// each queue and sort at most limit, with the turn and the at of lateSQL, so that no
// pipeline's many stand before another's. Of a node n and of its task t must hold what
// ofNode and ofTask say. Each is an expression of SQL. Nodes whose task is gone are passed
// over: nobody can end them. The task is asked by a value, not by EXISTS, of which the
// planner would make a join.
func overdueSQL(before, limit, ofNode, ofTask string) string {
	which := fmt.Sprintf(`%s AND (SELECT %s FROM tasks t WHERE t.id = n.task_id)`, ofNode, ofTask)
	leases := lateSQL(`n.pipeline_id = p.id AND n.kind = k.kind AND n.status = 'claimed'`, "lease_expires_at", before, limit, which)
	return fmt.Sprintf(`SELECT d.task_id, min(d.turn) AS turn, min(d.at) AS at FROM (
			SELECT l.* FROM pipelines p CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind) CROSS JOIN LATERAL (%s) l
			UNION ALL SELECT l.* FROM pipelines p CROSS JOIN LATERAL (%s) l
		) d GROUP BY d.task_id`, leases, lateSQL(pastSLA, "sla_at", before, limit, which))
}

var (
	endOverdueSQL = `SELECT task_id FROM (` + overdueSQL("$1", "$2", "true",
		`EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = n.task_id)`) + `) o ORDER BY turn, at LIMIT $2`

	endAloneSQL = `SELECT task_id FROM (SELECT l.task_id, min(l.turn) AS turn, min(l.at) AS at
			FROM (SELECT DISTINCT v.pipeline_id AS id ` + onClaimSQL + `) p
			CROSS JOIN LATERAL (` + lateSQL(pastSLA, "sla_at", "$1", "$2", `(SELECT `+aloneSQL+` FROM tasks t WHERE t.id = n.task_id)`) + `) l
			GROUP BY l.task_id) o ORDER BY turn, at LIMIT $2`
)

const (
	// overdueWait is how long endAll waits for a lock on a task: many may be overdue.
	overdueWait = 100 * time.Millisecond
	// overdueLocked is how many tasks that cannot be locked it meets before it leaves the
	// rest for another round.
	overdueLocked = 100
	// aloneAtOnce bounds what endAlone ends in a round. A backlog that was created at once
	// is overdue at once, and served until that is written.
	aloneAtOnce = 1000
)

// endOverdue does what the clock demands of tasks whose runs have not done it minutes
// after the time was up, because they wait to be told of earlier events: while Temporal
// is away, what somebody left would be served only when the queue holds nothing else.
// What tells the runs of it stands for what waits for them. Where nothing waits,
// ringLagging rings them.
func (s *Store) endOverdue(ctx context.Context, limit int) error {
	return s.endAll(ctx, endOverdueSQL, limit)
}

// endAlone does so for tasks that have no run yet. Nobody else looks after them, and a
// ring would begin their runs.
func (s *Store) endAlone(ctx context.Context, limit int) error {
	return s.endAll(ctx, endAloneSQL, limit)
}

// endAll ends what is overdue of the tasks that a statement finds. A task that cannot be
// locked, or is broken, holds up no other.
func (s *Store) endAll(ctx context.Context, sql string, limit int) error {
	rows, _ := s.pool.Query(ctx, sql, deadlineBeforeRing, limit)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return translate(err)
	}
	var failed []error
	locked := 0
	for _, id := range ids {
		_, err := s.atDeadlines(ctx, id, true)
		switch {
		case err == nil:
		case lockedTooLong(err): // somebody changes it now; another round comes
			if locked++; locked == overdueLocked {
				return errors.Join(failed...)
			}
		case fault.Is(err, fault.Unavailable): // so are all others
			return errors.Join(append(failed, err)...)
		default:
			failed = append(failed, fmt.Errorf("end what is overdue of task %d: %w", id, err))
		}
	}
	return errors.Join(failed...)
}
