package store

import (
	"context"
	"errors"
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
		behind := t.AppliedSeq < t.Seq
		if behind {
			switch err := s.catchUp(ctx, tx, t); {
			case fault.Is(err, fault.Conflict): // of a newer release; leases end all the same
				behind = false
			case err != nil:
				return err
			}
		}
		alone := false
		if tell && !t.Touched {
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
			if err := s.followAlone(ctx, tx, t); err != nil {
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

// followAlone writes what follows from what was ended of the locked task, which has no
// run. Where nobody here knows what follows, a run is told of it after all.
func (s *Store) followAlone(ctx context.Context, tx pgx.Tx, t *lockedTask) error {
	err := s.catchUp(ctx, tx, t)
	if fault.Is(err, fault.Conflict) || errors.Is(err, errBroken) {
		_, err = tx.Exec(ctx, `INSERT INTO outbox (topic, task_id, seq, priority) VALUES ('task_sync', $1, 0, $2) ON CONFLICT DO NOTHING`, t.ID, UrgencyRung)
	}
	return err
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
