package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// nodeRow is one node of a locked task.
type nodeRow struct {
	Key       string          `db:"key"`
	Kind      pipeline.Kind   `db:"kind"`
	Status    task.NodeStatus `db:"status"`
	Iteration int             `db:"iteration"`
	ClaimedBy int64           `db:"claimed_by"` // 0 when nobody holds it
}

const nodeRowColumns = `key, kind, status, iteration, coalesce(claimed_by, 0) AS claimed_by`

// node reads a node of the locked task; NotFound when it has none.
func (t *lockedTask) node(ctx context.Context, tx pgx.Tx, key string) (nodeRow, error) {
	rows, _ := tx.Query(ctx, `SELECT `+nodeRowColumns+` FROM task_nodes WHERE task_id = $1 AND key = $2`, t.ID, key)
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[nodeRow])
	if errors.Is(err, pgx.ErrNoRows) {
		return n, fault.New(fault.NotFound, "task %d has no node %q", t.ID, cut(key))
	}
	return n, err
}

// withTask runs fn with a task of the member's pipeline locked, and writes the
// status that follows. The member is still an admin there.
func (s *Store) withTask(ctx context.Context, m Member, taskID int64, fn func(tx pgx.Tx, t *lockedTask) error) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		if err := stillPipelineAdmin(ctx, tx, m.UserID, m.PipelineID); err != nil {
			return err
		}
		t, err := lockTask(ctx, tx, m.OrgID, m.PipelineID, taskID)
		if err != nil {
			return err
		}
		if err := fn(tx, t); err != nil {
			return err
		}
		return t.refresh(ctx, tx)
	})
}

// open refuses a command on a task that is over.
func (t *lockedTask) open() error {
	if t.Status.Terminal() {
		return fault.New(fault.Conflict, "task %d is %s; nothing can be changed on it any more", t.ID, t.Status)
	}
	return nil
}

// Escalate takes a node out of the queue, or from who holds it, and gives it
// to the project's admins. Conflict when the node is not at work.
func (s *Store) Escalate(ctx context.Context, m Member, taskID int64, node, reason string) error {
	return s.setAside(ctx, m, taskID, node, reason, pipeline.EventEscalate, task.NodeEscalated)
}

// Quarantine sets a node aside because something is wrong with it.
func (s *Store) Quarantine(ctx context.Context, m Member, taskID int64, node, reason string) error {
	return s.setAside(ctx, m, taskID, node, reason, pipeline.EventQuarantine, task.NodeQuarantined)
}

func (s *Store) setAside(ctx context.Context, m Member, taskID int64, node, reason string, kind pipeline.EventKind, to task.NodeStatus) error {
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = pipeline.ReasonPerson
	}
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		if err := t.open(); err != nil {
			return err
		}
		// What waits may have finished the node, by a verdict that stands: taken out of that,
		// its next round would be final without a review.
		if err := s.catchUp(ctx, tx, t); err != nil {
			return err
		}
		n, err := t.node(ctx, tx, node)
		if err != nil {
			return err
		}
		if n.Status == to || !n.Status.CanMove(to) {
			return fault.New(fault.Conflict, "node %q of task %d is %s and cannot become %s", node, taskID, n.Status, to)
		}
		seq, err := t.journal(ctx, tx, pipeline.Event{
			Kind: kind, Node: node, Iteration: n.Iteration, Actor: m.UserID, Reason: reason,
		}, true)
		if err != nil {
			return err
		}
		if err := t.leaveNode(ctx, tx, node, to, seq, reason); err != nil {
			return err
		}
		return s.catchUp(ctx, tx, t) // a review of it waits from now on: nobody's verdict is lost
	})
}

// Resolve ends an escalation or a quarantine: requeue opens the node again for
// everybody, accept takes what was submitted (or lets a review pass), skip
// lets the walk go on without the node.
func (s *Store) Resolve(ctx context.Context, m Member, taskID int64, node, outcome, reason string) error {
	if !slices.Contains([]string{pipeline.ResolveRequeue, pipeline.ResolveAccept, pipeline.ResolveSkip}, outcome) {
		return fault.New(fault.Validation, "outcome %q is unknown; it is requeue, accept or skip", cut(outcome))
	}
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		if outcome == pipeline.ResolveAccept && t.open() == nil { // whether there is something to accept may wait
			if err := s.catchUp(ctx, tx, t); err != nil {
				return err
			}
		}
		n, err := t.node(ctx, tx, node)
		if err != nil {
			return err
		}
		if err := t.open(); err != nil {
			return err
		}
		if n.Status != task.NodeEscalated && n.Status != task.NodeQuarantined {
			return fault.New(fault.Conflict, "node %q of task %d is %s; only an escalated or quarantined node can be resolved",
				node, taskID, n.Status)
		}
		e := pipeline.Event{
			Kind: pipeline.EventResolve, Node: node, Iteration: n.Iteration, Actor: m.UserID, Outcome: outcome, Reason: reason,
		}
		if err := s.resolve(ctx, tx, t, n, e); err != nil || outcome != pipeline.ResolveRequeue {
			return err
		}
		return s.catchUp(ctx, tx, t) // as Requeue does
	})
}

func (s *Store) resolve(ctx context.Context, tx pgx.Tx, t *lockedTask, n nodeRow, e pipeline.Event) error {
	to, passed := task.NodeAvailable, false
	var limit time.Duration // of the new round, which begins here: who claims it first is before the run
	switch e.Outcome {
	case pipeline.ResolveRequeue:
		e.Iteration++
		p, err := s.versionIn(ctx, tx, t.VersionID)
		if err != nil {
			return err
		}
		def, _ := p.Node(n.Key)
		if def.Automated() {
			to = task.NodeDeferred
		} else {
			limit = time.Duration(def.SLA)
		}
	case pipeline.ResolveSkip:
		to, passed = task.NodeNA, true
	case pipeline.ResolveAccept:
		to = task.NodeSubmitted
		var err error
		if e.Skipped, err = s.accepted(ctx, tx, t, n); err != nil {
			return err
		}
	}
	seq, err := t.journal(ctx, tx, e, true)
	if err != nil {
		return err
	}
	if err := t.leaveNode(ctx, tx, n.Key, to, seq, ""); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE task_nodes SET iteration = $3, passed = $4, skipped = $5,
			sla_at = CASE WHEN $7::interval > interval '0' THEN now() + $7::interval END,
			reworks = CASE WHEN $6 THEN 0 ELSE reworks END WHERE task_id = $1 AND key = $2`,
		t.ID, n.Key, e.Iteration, passed, e.Skipped, e.Outcome == pipeline.ResolveRequeue, limit)
	return err
}

// accepted returns the next nodes that the accepted values rule out. Where
// they rule out every one (which is why the node was quarantined), the admin's
// word lets the walk go on along all edges. A subtask that nobody submitted
// in this round has nothing to accept, nor has a review while what it checks is
// not done: it would begin anew with that.
func (s *Store) accepted(ctx context.Context, tx pgx.Tx, t *lockedTask, n nodeRow) ([]string, error) {
	c := Claim{OrgID: t.OrgID, PipelineID: t.PipelineID, VersionID: t.VersionID, TaskID: t.ID}
	p, err := s.versionIn(ctx, tx, t.VersionID)
	if err != nil {
		return nil, err
	}
	known, err := taskAnswers(ctx, tx, p, c)
	if err != nil {
		return nil, err
	}
	handed := slices.ContainsFunc(known.subs, func(sub submission) bool { return sub.Node == n.Key && sub.Iteration == n.Iteration })
	if n.Kind == pipeline.KindSubtask && !handed {
		return nil, fault.New(fault.Conflict,
			"node %q of task %d has no submission to accept; requeue or skip it", n.Key, t.ID)
	}
	if err := t.checkable(ctx, tx, p, n.Key); err != nil {
		return nil, err
	}
	b := form.NewBudget()
	skipped := p.Skipped(n.Key, known.values, b)
	if err := problemsOf(b.Problems()); err != nil {
		return nil, err
	}
	if i := p.Graph.Index(n.Key); len(skipped) >= len(p.Graph.Nodes[i].Next) {
		return nil, nil
	}
	return skipped, nil
}

// checkable refuses a review of what is not done, or is being done again.
func (t *lockedTask) checkable(ctx context.Context, tx pgx.Tx, p *pipeline.Pipeline, node string) error {
	review, _ := p.Node(node)
	for _, target := range review.Reviews {
		n, err := t.node(ctx, tx, target.Node)
		if err != nil {
			return err
		}
		switch n.Status {
		case task.NodeSubmitted, task.NodeFinished, task.NodeNA:
		case task.NodePending, task.NodeDeferred, task.NodeAvailable, task.NodeClaimed, task.NodeEscalated, task.NodeQuarantined:
			return fault.New(fault.Conflict, "node %q of task %d checks node %q, which is %s; accept it once that is done, or skip it",
				node, t.ID, n.Key, n.Status)
		}
	}
	return nil
}

// Hold keeps a task from being claimed until Unhold.
func (s *Store) Hold(ctx context.Context, m Member, taskID int64, reason string) error {
	return s.setHeld(ctx, m, taskID, reason, true)
}

// Unhold lets a held task be claimed again.
func (s *Store) Unhold(ctx context.Context, m Member, taskID int64, reason string) error {
	return s.setHeld(ctx, m, taskID, reason, false)
}

func (s *Store) setHeld(ctx context.Context, m Member, taskID int64, reason string, held bool) error {
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		if err := t.open(); err != nil || t.Held == held {
			return err
		}
		kind := pipeline.EventUnhold
		if held {
			kind = pipeline.EventHold
		}
		t.Held = held
		_, err := t.journal(ctx, tx, pipeline.Event{Kind: kind, Actor: m.UserID, Reason: reason}, true)
		return err
	})
}

// FailTask ends a task for good; what was submitted stays readable.
func (s *Store) FailTask(ctx context.Context, m Member, taskID int64, reason string) error {
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		if err := t.open(); err != nil {
			return err
		}
		return t.fail(ctx, tx, m.UserID, reason, true)
	})
}

// FailByOperator ends a task whose run was cancelled in Temporal. A task that
// is over stays as it is.
func (s *Store) FailByOperator(ctx context.Context, taskID int64) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t, err := lockAnyTask(ctx, tx, taskID)
		if err != nil || t.Status.Terminal() {
			return err
		}
		if err := t.fail(ctx, tx, 0, "the run was cancelled by an operator", false); err != nil {
			return err
		}
		// The run is gone: what it still had to do is done here.
		if err := s.catchUp(ctx, tx, t); err != nil {
			return err
		}
		return t.refresh(ctx, tx)
	})
}

func (t *lockedTask) fail(ctx context.Context, tx pgx.Tx, actor int64, reason string, ring bool) error {
	seq, err := t.journal(ctx, tx, pipeline.Event{Kind: pipeline.EventFail, Actor: actor, Reason: reason}, ring)
	if err != nil {
		return err
	}
	t.Status = task.Failed
	_, err = tx.Exec(ctx, `UPDATE task_nodes SET status = 'na', claim_id = NULL, claimed_by = NULL, lease_expires_at = NULL,
			reserved_for = NULL, reserved_until = NULL, sla_at = NULL, last_seq = $2
		WHERE task_id = $1 AND status NOT IN ('finished', 'na')`, t.ID, seq)
	return err
}

// WaitingNode is a node that waits for an admin.
type WaitingNode struct {
	TaskID int64           `db:"task_id"`
	Node   string          `db:"key"`
	Kind   pipeline.Kind   `db:"kind"`
	Status task.NodeStatus `db:"status"`
	Reason string          `db:"reason"`
	Since  time.Time       `db:"since"`
}

// Waiting lists the escalated and quarantined nodes of a pipeline, or only those of
// one of both statuses, oldest task first, at most limit.
func (s *Store) Waiting(ctx context.Context, orgID, pipelineID int64, status task.NodeStatus, limit int) ([]WaitingNode, error) {
	rows, _ := s.pool.Query(ctx, `SELECT n.task_id, n.key, n.kind, n.status, n.reason, e.created_at AS since
		FROM task_nodes n JOIN task_events e ON e.task_id = n.task_id AND e.seq = n.last_seq
		WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.status IN ('escalated', 'quarantined') AND ($3 = '' OR n.status = $3)
		ORDER BY n.task_id, n.key LIMIT $4`, pipelineID, orgID, status, limit)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[WaitingNode])
	return out, translate(err)
}

// Answers returns everything known about a task's fields: seeded, static and
// submitted values, later over earlier.
func (s *Store) Answers(ctx context.Context, orgID, pipelineID, taskID int64) (form.Values, error) {
	var c Claim
	err := s.pool.QueryRow(ctx, `SELECT org_id, pipeline_id, version_id, id FROM tasks WHERE id = $1 AND org_id = $2 AND pipeline_id = $3`,
		taskID, orgID, pipelineID).Scan(&c.OrgID, &c.PipelineID, &c.VersionID, &c.TaskID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, taskNotFound(taskID)
	}
	if err != nil {
		return nil, translate(err)
	}
	_, known, err := s.claimAnswers(ctx, c)
	return known.values, translate(err)
}
