package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// RepairTask writes the rows of a task anew as its journal has them: nodes,
// status and node_summary. The journal itself is never changed; with a gap in
// it, or where it cannot be gone through, the task is refused with Conflict. What
// waits to be applied is applied, and the run is told to look.
func (s *Store) RepairTask(ctx context.Context, taskID int64, apply bool) ([]Repaired, error) {
	return s.repair(ctx, apply, func(tx pgx.Tx, note noting) error {
		t, err := lockAnyTask(ctx, tx, taskID)
		if err != nil {
			return err
		}
		p, err := s.versionIn(ctx, tx, t.VersionID)
		if err != nil {
			return err
		}
		page, err := readPage(ctx, tx, taskID-1, taskID, 1)
		if err != nil {
			return err
		}
		w := page[0]
		events := make([]pipeline.Event, len(w.events))
		for i, e := range w.events {
			if events[i] = e.Event; e.Seq != int64(i+1) {
				return fault.New(fault.Conflict, "the journal of task %d has a gap before event %d; restore it from a backup first", taskID, e.Seq)
			}
		}
		if int64(len(events)) < t.Seq {
			return fault.New(fault.Conflict, "the journal of task %d ends at event %d, the task is at %d; restore it from a backup first", taskID, len(events), t.Seq)
		}
		st, err := pipeline.Fold(p.Graph, w.Skipped, events)
		switch {
		case errors.Is(err, pipeline.ErrUnknown):
			return newerEvent(taskID, err)
		case err != nil:
			return fault.New(fault.Conflict, "task %d cannot have begun, its start_skipped rules out every node; restore its row from a backup first", taskID).Because(err)
		}
		before := w.before(p.Graph, st)
		for i, n := range st.Nodes {
			if old, led := before.Node(n.Key); led && sameNode(w.nodes[n.Key], old) {
				st.Nodes[i] = old
			}
		}
		changed, err := t.rewrite(ctx, tx, p, w, st, note)
		if err != nil || !changed {
			return err
		}
		return audit(ctx, tx, t.OrgID, nil, "task.repair", object("task", t.ID), map[string]any{"seq": len(events)})
	})
}

// rewrite makes the locked task's rows those of a state, and reports whether
// there was a difference.
func (t *lockedTask) rewrite(
	ctx context.Context, tx pgx.Tx, p *pipeline.Pipeline, w *written, st pipeline.State, note noting,
) (changed bool, err error) {
	if t.Seq != st.Seq || t.AppliedSeq != t.Seq {
		note("task %d: %d of %d events were applied, now %d of %d", t.ID, t.AppliedSeq, t.Seq, st.Seq, st.Seq)
		changed = true
	}
	var keys []string
	for _, want := range st.Nodes {
		keys = append(keys, want.Key)
		have, ok := w.nodes[want.Key]
		right, err := t.heldRight(ctx, tx, want)
		if err != nil {
			return changed, err
		}
		if ok && right && sameNode(have, want) {
			continue
		}
		if changed = true; !ok {
			have = pipeline.NodeState{Status: "missing"}
		}
		said := note("task %d node %s: was %s, is %s", t.ID, want.Key, told(have), told(want))
		if !ok {
			said.Then = healCounts
		}
		def, _ := p.Node(want.Key)
		if err := t.rewriteNode(ctx, tx, def, want, w.events); err != nil {
			return changed, err
		}
	}
	rows, _ := tx.Query(ctx, `DELETE FROM task_nodes WHERE task_id = $1 AND NOT key = ANY ($2) RETURNING key`, t.ID, keys)
	extra, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return changed, err
	}
	slices.Sort(extra)
	for _, key := range extra {
		changed = true
		note("task %d node %s: was there, is no node of the pipeline's version", t.ID, key).Then = healCounts
	}
	var before, after [4]int
	summary := func(into *[4]int) error {
		return tx.QueryRow(ctx, `SELECT n_total, n_finished, n_in_progress, n_pending FROM tasks WHERE id = $1`, t.ID).
			Scan(&into[0], &into[1], &into[2], &into[3])
	}
	if err := summary(&before); err != nil {
		return changed, err
	}
	was := flagged(t.Status, t.Held, t.Touched)
	// The journal may be ahead of the task, never behind it.
	t.Seq, t.AppliedSeq, t.Held, t.Touched, t.Status = st.Seq, st.Seq, st.Held, st.Touched, st.Status()
	if _, err := tx.Exec(ctx, `UPDATE tasks SET seq = $2, touched = $3 WHERE id = $1`, t.ID, t.Seq, t.Touched); err != nil {
		return changed, err
	}
	if err := t.refresh(ctx, tx); err != nil {
		return changed, err
	}
	if err := summary(&after); err != nil {
		return changed, err
	}
	if is := flagged(t.Status, t.Held, t.Touched); is != was {
		changed = true
		note("task %d: was %s, is %s", t.ID, was, is)
	}
	if before != after {
		changed = true
		note("task %d: total, finished, in progress, pending were %v, are %v", t.ID, before, after)
	}
	if !changed {
		return false, nil
	}
	return true, t.ringAnew(ctx, tx)
}

// heldRight reports whether a node that the journal calls claimed is held by
// who claimed it.
func (t *lockedTask) heldRight(ctx context.Context, tx pgx.Tx, want pipeline.NodeState) (right bool, err error) {
	if want.Status != task.NodeClaimed {
		return true, nil
	}
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM task_nodes n JOIN task_events e ON e.task_id = n.task_id AND e.seq = n.last_seq
		WHERE n.task_id = $1 AND n.key = $2 AND e.kind = 'claim' AND e.claim_id = n.claim_id AND e.actor = n.claimed_by)`, t.ID, want.Key).Scan(&right)
	return right, err
}

// rewriteNode makes a node's row what the state says. A claim keeps the end of
// its lease when the row still has it, since extensions are in no journal; else
// it gets the one that it began with. It is kept for nobody who may not work on it. A
// round that it opens has all of its time.
func (t *lockedTask) rewriteNode(ctx context.Context, tx pgx.Tx, def pipeline.Node, n pipeline.NodeState, events []journaled) error {
	seq := int64(len(events))
	var holder int64
	if n.Status == task.NodeClaimed {
		at := slices.IndexFunc(events, func(e journaled) bool { return e.Kind == pipeline.EventClaim && e.Claim == n.Claim })
		seq, holder = events[at].Seq, events[at].Actor
	}
	if n.ReservedFor != 0 {
		if err := holdStanding(ctx, tx, n.ReservedFor); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO task_nodes AS n (task_id, key, org_id, pipeline_id, kind, status, iteration, priority, last_seq, lease_seconds,
			four_eyes, claim_id, claimed_by, lease_expires_at, reserved_for, reserved_until, actor, skipped, passed, reworks, reason, sla_at)
		SELECT $1, $2, t.org_id, t.pipeline_id, $3, $4, $5, t.priority, $6, $7, $8, $9::uuid, $10, $11,
			r.who, r.until, $14, $15, $16, $17, $18,
			CASE WHEN $4 IN ('available', 'claimed') AND $19::interval > interval '0' THEN now() + $19::interval END
		FROM tasks t LEFT JOIN LATERAL (SELECT $12::bigint AS who, now() + $13::interval AS until
			FROM pipelines p CROSS JOIN (SELECT $1::bigint AS task_id, $8::boolean AS four_eyes) n
			WHERE p.id = t.pipeline_id AND p.org_id = t.org_id AND `+mayWorkSQL("t.org_id", "$12", "$3")+` AND `+notOfSQL+`$12) = 0)) r ON true
		WHERE t.id = $1
		ON CONFLICT (task_id, key) DO UPDATE SET kind = excluded.kind, status = excluded.status, iteration = excluded.iteration,
			last_seq = excluded.last_seq, claim_id = excluded.claim_id, claimed_by = excluded.claimed_by,
			lease_expires_at = CASE WHEN n.claim_id = excluded.claim_id THEN n.lease_expires_at ELSE excluded.lease_expires_at END,
			reserved_for = excluded.reserved_for, reserved_until = excluded.reserved_until, actor = excluded.actor,
			skipped = excluded.skipped, passed = excluded.passed, reworks = excluded.reworks, reason = excluded.reason,
			opened_at = CASE WHEN `+opensSQL+` THEN now() ELSE n.opened_at END,
			sla_at = CASE WHEN excluded.status NOT IN ('available', 'claimed') OR `+opensSQL+` THEN excluded.sla_at ELSE n.sla_at END`,
		t.ID, n.Key, def.Kind, n.Status, n.Iteration, seq, int(def.LeaseFor()/time.Second), def.FourEyes,
		nullText(n.Claim), nullID(holder), nullTime(n.LeaseEnds), nullID(n.ReservedFor), def.ReserveFor(),
		nullID(n.Actor), n.Skipped, n.Passed, n.Reworks, n.Reason, time.Duration(def.SLA))
	return err
}

// opensSQL holds where rewriteNode opens a round that was not open.
const opensSQL = `(excluded.status IN ('available', 'claimed') AND (n.status NOT IN ('available', 'claimed') OR n.iteration <> excluded.iteration))`
