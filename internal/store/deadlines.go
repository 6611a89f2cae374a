package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// CheckDeadlines does what the clock demands of a task, by the database's
// clock: leases that ran out give their node back, nodes past their time limit
// escalate. Each is a journal row of its own; the run that asked reads them
// from the journal, or the rows, where what follows is written already. Applied is
// always true.
func (s *Store) CheckDeadlines(ctx context.Context, taskID int64) (StepResult, error) {
	return s.atDeadlines(ctx, taskID, false)
}

// atDeadlines is CheckDeadlines. With tell, somebody else than the run asks: the run is
// told of it, and a task that is locked is left for another time. A task that waits for
// the claim with which its run begins needs no run for that: what follows is written here.
func (s *Store) atDeadlines(ctx context.Context, taskID int64, tell bool) (out StepResult, err error) {
	var expired int64
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		if tell {
			if _, err := tx.Exec(ctx, `SELECT set_config('lock_timeout', $1, true)`, milliseconds(overdueWait)); err != nil {
				return err
			}
		}
		t, err := lockAnyTask(ctx, tx, taskID)
		if err != nil {
			return err
		}
		// What waits to be applied may have closed a node before its time was up. The run
		// that asks may not have been told of it; it reads the rows again then.
		behind, newer := t.AppliedSeq < t.Seq, false
		if behind {
			switch err := s.catchUp(ctx, tx, t); {
			case fault.Is(err, fault.Conflict): // of a newer release; leases end all the same
				behind, newer = false, true
			case err != nil:
				return err
			}
		}
		alone := false
		if tell && !t.Touched && !newer {
			p, err := s.versionIn(ctx, tx, t.VersionID)
			if err != nil {
				return err
			}
			alone = p.Definition.Runs == pipeline.RunsOnFirstClaim
		}
		moved, freed, err := t.checkDeadlines(ctx, tx, tell && !alone)
		if err != nil {
			return err
		}
		if alone && moved {
			if err := s.catchUp(ctx, tx, t); err != nil {
				return err
			}
		}
		expired = int64(len(freed)) // a transaction may run more than once
		if err := s.shutAgain(ctx, tx, t, freed...); err != nil {
			return err
		}
		if moved || behind {
			if err := t.refresh(ctx, tx); err != nil {
				return err
			}
		}
		out, err = t.result(ctx, tx)
		out.Applied = true
		return err
	})
	if err == nil {
		s.expired.Add(expired)
	}
	return out, err
}

// aloneSQL is whether a task t waits for the claim with which its run begins.
const aloneSQL = `(NOT t.touched AND t.version_id = ANY (ARRAY(SELECT v.id FROM pipeline_versions v WHERE v.definition ->> 'runs' = 'on_first_claim')))`

// overdueSQL finds tasks whose leases or time limits ran out longer than before ago: of
// each queue and sort at most limit, and as turn which of them a task is, from 1, so that
// no pipeline's many stand before another's. Of a node n and of its task t must hold what
// ofNode and ofTask say. Each is an expression of SQL. Nodes whose task is gone are passed
// over: nobody can end them. The task is asked by a value, not by EXISTS, of which the
// planner would make a join.
func overdueSQL(before, limit, ofNode, ofTask string) string {
	and := fmt.Sprintf(`%s AND (SELECT %s FROM tasks t WHERE t.id = n.task_id)`, ofNode, ofTask)
	return fmt.Sprintf(`SELECT d.task_id, min(d.turn) AS turn FROM (
			SELECT l.task_id, l.turn FROM pipelines p CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind)
				CROSS JOIN LATERAL (SELECT n.task_id, row_number() OVER (ORDER BY n.lease_expires_at) AS turn FROM task_nodes n
					WHERE n.pipeline_id = p.id AND n.kind = k.kind AND n.status = 'claimed' AND n.lease_expires_at < now() - %[1]s::interval
						AND %[3]s ORDER BY n.lease_expires_at LIMIT %[2]s) l
			UNION ALL SELECT l.task_id, l.turn FROM pipelines p
				CROSS JOIN LATERAL (SELECT n.task_id, row_number() OVER (ORDER BY n.sla_at) AS turn FROM task_nodes n
					WHERE n.pipeline_id = p.id AND n.sla_at < now() - %[1]s::interval AND n.sla_at IS NOT NULL
						AND n.status IN ('available', 'claimed') AND %[3]s ORDER BY n.sla_at LIMIT %[2]s) l
		) d GROUP BY d.task_id`, before, limit, and)
}

// overdueWait is how long endOverdue waits for a lock on a task: many may be overdue.
const overdueWait = 100 * time.Millisecond

// overdueAtOnce bounds what endOverdue ends in a round. A backlog that was created at once
// and waits for first claims is overdue at once, too, and served until that is written.
const overdueAtOnce = 1000

// overdueLocked is how many tasks that cannot be locked endOverdue meets before it leaves
// the rest for another round.
const overdueLocked = 100

var endOverdueSQL = `SELECT task_id FROM (` + overdueSQL("$1", "$2", "true",
	`EXISTS (SELECT 1 FROM outbox o WHERE o.task_id = n.task_id) OR `+aloneSQL) + `) o ORDER BY turn, task_id LIMIT $2`

// endOverdue does so for tasks whose runs have not done it minutes after the time was
// up, because they wait to be told of earlier events: while Temporal is away, what
// somebody left would be served only when the queue holds nothing else. What tells the
// runs of it stands for what waits for them. Where nothing waits, ringLagging rings
// them, but not the tasks that have no run yet, which are all ended here: a ring would
// begin it. A task that cannot be locked, or is broken, holds up no other.
func (s *Store) endOverdue(ctx context.Context, limit int) error {
	rows, _ := s.pool.Query(ctx, endOverdueSQL, deadlineBeforeRing, limit)
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

// LeasesExpired counts the leases that this process took back from people who
// did not end their work in time, since it started.
func (s *Store) LeasesExpired() int64 { return s.expired.Load() }

// due is a node whose time is up.
type due struct {
	Key       string     `db:"key"`
	Iteration int        `db:"iteration"`
	Claim     *string    `db:"claim_id"`
	Holder    *int64     `db:"claimed_by"`
	SLA       bool       `db:"late"`
	LeaseEnds *time.Time `db:"lease_expires_at"`
}

// checkDeadlines ends what is due of the locked task. freed are the nodes whose lease ran out.
func (t *lockedTask) checkDeadlines(ctx context.Context, tx pgx.Tx, tell bool) (moved bool, freed []string, err error) {
	rows, _ := tx.Query(ctx, `SELECT key, iteration, claim_id::text, claimed_by, lease_expires_at,
			coalesce(sla_at <= now(), false) AS late
		FROM task_nodes WHERE task_id = $1 AND (status = 'claimed' AND lease_expires_at <= now()
			OR status IN ('available', 'claimed') AND sla_at <= now()) ORDER BY key FOR UPDATE`, t.ID)
	nodes, err := pgx.CollectRows(rows, pgx.RowToStructByName[due])
	if err != nil {
		return false, nil, err
	}
	for _, d := range nodes {
		e := pipeline.Event{Kind: pipeline.EventExpire, Node: d.Key, Iteration: d.Iteration}
		to := task.NodeAvailable
		if d.SLA {
			e.Kind, e.Reason, to = pipeline.EventEscalate, pipeline.ReasonSLA, task.NodeEscalated
		}
		if d.Claim != nil {
			e.Claim, e.Actor = *d.Claim, *d.Holder
		}
		if !d.SLA {
			freed = append(freed, d.Key)
		}
		seq, err := t.journal(ctx, tx, e, tell)
		if err != nil {
			return false, nil, err
		}
		if err := t.leaveNode(ctx, tx, d.Key, to, seq, e.Reason); err != nil {
			return false, nil, err
		}
	}
	return len(nodes) > 0, freed, nil
}
