package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/task"
)

// memberSQL is the condition that user $2 still belongs to the organization
// and project of pipeline n.pipeline_id: a removed member sees nothing of what they did.
const memberSQL = `EXISTS (SELECT 1 FROM pipelines p
    JOIN org_members om ON om.org_id = p.org_id AND om.user_id = $2 AND om.removed_at IS NULL
    LEFT JOIN project_members pm ON pm.project_id = p.project_id AND pm.user_id = $2
    WHERE p.id = n.pipeline_id AND p.org_id = n.org_id AND (om.role = 'org_admin' OR pm.user_id IS NOT NULL))`

// holderSQL is the condition that user $2 may still work on node n: who may not, as
// their role is another one now, holds nothing that they could go on with.
var holderSQL = `EXISTS (SELECT FROM pipelines p WHERE p.id = n.pipeline_id AND p.org_id = n.org_id
    AND ` + mayWorkSQL("n.org_id", "$2", "n.kind") + `)`

// A node has a claim exactly while it is claimed (the constraint task_nodes_claim).
// What looks for one by its task asks for the claim and not for the status: the
// indexes of all that is claimed look shorter than the way by the task while that is
// little, and a snapshot that somebody holds keeps all in them that ever was.

// liveClaimSQL finds a claim that holds: $1 task, $2 user, $3 claim id.
var liveClaimSQL = `SELECT ` + claimColumns + ` FROM task_nodes n JOIN tasks t ON t.id = n.task_id
    WHERE n.task_id = $1 AND n.claimed_by = $2 AND n.claim_id = $3 AND ` + holderSQL

// LiveClaim returns the claim that the person holds. A claim past its lease
// counts as held until somebody takes the node. NotFound when it never was
// theirs, Conflict when it is over.
func (s *Store) LiveClaim(ctx context.Context, userID int64, claimID string) (Claim, error) {
	c, err := liveClaim(ctx, s.pool, userID, claimID)
	return c, translate(err)
}

func liveClaim(ctx context.Context, q querier, userID int64, claimID string) (Claim, error) {
	taskID, ok := taskOfClaim(claimID)
	if !ok {
		return Claim{}, claimNotFound(claimID)
	}
	rows, _ := q.Query(ctx, liveClaimSQL, taskID, userID, claimID)
	c, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Claim])
	if errors.Is(err, pgx.ErrNoRows) {
		return Claim{}, lostClaim(ctx, q, userID, taskID, claimID)
	}
	return c, err
}

// lostClaim tells a claim that is over from one that never was.
func lostClaim(ctx context.Context, q querier, userID, taskID int64, claimID string) error {
	c, err := pastClaim(ctx, q, userID, taskID, claimID)
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict,
		"your claim on node %q of task %d is over; claim the node again to go on", c.Node, taskID)
}

// pastClaim finds a claim in the journal, whether or not it still holds.
func pastClaim(ctx context.Context, q querier, userID, taskID int64, claimID string) (Claim, error) {
	c := Claim{ID: claimID, TaskID: taskID, UserID: userID}
	err := q.QueryRow(ctx, `SELECT e.node_key, e.iteration, e.lease_ends, n.kind, n.org_id, n.pipeline_id, t.version_id
		FROM task_events e JOIN task_nodes n ON n.task_id = e.task_id AND n.key = e.node_key JOIN tasks t ON t.id = e.task_id
		WHERE e.task_id = $1 AND e.actor = $2 AND e.claim_id = $3 AND e.kind = 'claim' AND `+memberSQL,
		taskID, userID, claimID).Scan(&c.Node, &c.Iteration, &c.LeaseExpiresAt, &c.Kind, &c.OrgID, &c.PipelineID, &c.VersionID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Claim{}, claimNotFound(claimID)
	}
	return c, err
}

func claimNotFound(id string) error { return fault.New(fault.NotFound, "claim %s not found", cut(id)) }

// cut keeps what a caller sent from filling an error message.
func cut(s string) string {
	const most = 60 // characters
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// MyClaims returns all that the person holds now, oldest lease first.
func (s *Store) MyClaims(ctx context.Context, userID int64) ([]Claim, error) {
	return s.lastClaims(ctx, userID, noBound)
}

// ListClaims is MyClaims for a page: MaxClaims at most. Those whose lease ended long ago
// are left out before those that hold, as anybody may take them any moment.
func (s *Store) ListClaims(ctx context.Context, userID int64) ([]Claim, error) {
	return s.lastClaims(ctx, userID, MaxClaims)
}

// lastClaims returns the claims of the person whose leases end last, oldest lease first.
func (s *Store) lastClaims(ctx context.Context, userID int64, most int) ([]Claim, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+claimColumns+` FROM task_nodes n JOIN tasks t ON t.id = n.task_id
		JOIN pipelines p ON p.id = n.pipeline_id AND p.org_id = n.org_id
		WHERE n.claimed_by = $1 AND n.status = 'claimed' AND `+mayWorkSQL("p.org_id", "$1", "n.kind")+`
		ORDER BY n.lease_expires_at DESC, n.task_id DESC LIMIT $2`, userID, most)
	cs, err := pgx.CollectRows(rows, pgx.RowToStructByName[Claim])
	slices.Reverse(cs)
	return cs, translate(err)
}

// ExtendClaim moves the end of the lease to a full lease from now. It writes
// no journal row: the run finds out when its timer fires.
func (s *Store) ExtendClaim(ctx context.Context, userID int64, claimID string) (Claim, error) {
	taskID, ok := taskOfClaim(claimID)
	if !ok {
		return Claim{}, claimNotFound(claimID)
	}
	rows, _ := s.pool.Query(ctx, `UPDATE task_nodes n SET lease_expires_at = now() + n.lease_seconds * interval '1 second'
		FROM tasks t WHERE t.id = n.task_id AND n.task_id = $1 AND n.claimed_by = $2 AND n.claim_id = $3
		AND `+holderSQL+` RETURNING `+claimColumns, taskID, userID, claimID)
	c, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Claim])
	if errors.Is(err, pgx.ErrNoRows) {
		return Claim{}, translate(lostClaim(ctx, s.pool, userID, taskID, claimID))
	}
	return c, translate(err)
}

// Release says how a claim is given back.
type Release struct {
	// Reason is for the task's timeline; it may be empty.
	Reason string
	// Skip keeps the queue from serving the node to this person again.
	Skip bool
}

// ReleaseClaim gives the node back to the queue; the draft stays.
func (s *Store) ReleaseClaim(ctx context.Context, userID int64, claimID string, r Release) error {
	return s.withClaim(ctx, userID, claimID, func(tx pgx.Tx, t *lockedTask, c Claim) error {
		if r.Skip {
			if err := skip(ctx, tx, c); err != nil {
				return err
			}
		}
		return s.release(ctx, tx, t, c, r.Reason)
	})
}

func (s *Store) release(ctx context.Context, tx pgx.Tx, t *lockedTask, c Claim, reason string) error {
	seq, err := t.journal(ctx, tx, pipeline.Event{
		Kind: pipeline.EventRelease, Node: c.Node, Iteration: c.Iteration, Actor: c.UserID, Claim: c.ID, Reason: reason,
	}, true)
	if err != nil {
		return err
	}
	if err := t.leaveNode(ctx, tx, c.Node, task.NodeAvailable, seq, ""); err != nil {
		return err
	}
	return s.shutAgain(ctx, tx, t, c.Node)
}

// shutAgain writes what follows from the end of claims on these nodes of the locked task.
// Who works on a subtask keeps it while a step before it is done again, or while the task
// goes another way; given back it is nobody's then, and not whose who comes before the
// task's run. An event of a newer release, of which nobody here knows what follows, keeps
// no claim from ending, nor do broken rows: whoever is removed must be able to go.
func (s *Store) shutAgain(ctx context.Context, tx pgx.Tx, t *lockedTask, nodes ...string) error {
	p, err := s.versionIn(ctx, tx, t.VersionID)
	if err != nil || !slices.ContainsFunc(nodes, p.Graph.Follows) {
		return err
	}
	switch err := s.catchUp(ctx, tx, t); {
	case fault.Is(err, fault.Conflict), errors.Is(err, errBroken):
		return nil
	case err != nil:
		return err
	}
	return t.refresh(ctx, tx)
}

// leaveNode moves a node of the locked task and ends the claim on it.
func (t *lockedTask) leaveNode(ctx context.Context, tx pgx.Tx, node string, to task.NodeStatus, seq int64, reason string) error {
	_, err := tx.Exec(ctx, `UPDATE task_nodes SET status = $3, claim_id = NULL, claimed_by = NULL, lease_expires_at = NULL,
			reserved_for = NULL, reserved_until = NULL, last_seq = $4, reason = $5,
			opened_at = CASE WHEN $3 = 'available' AND status NOT IN ('available', 'claimed') THEN now() ELSE opened_at END
		WHERE task_id = $1 AND key = $2`, t.ID, node, to, seq, reason)
	return err
}

// withClaim runs fn with the claim's task locked and the claim checked under
// the lock.
func (s *Store) withClaim(ctx context.Context, userID int64, claimID string, fn func(tx pgx.Tx, t *lockedTask, c Claim) error) error {
	c, err := s.LiveClaim(ctx, userID, claimID)
	if err != nil {
		return err
	}
	return s.whileHeld(ctx, c, fn)
}

// whileHeld is withClaim for a claim that was found to hold a moment ago.
func (s *Store) whileHeld(ctx context.Context, c Claim, fn func(tx pgx.Tx, t *lockedTask, c Claim) error) error {
	if planted.Enabled && planted.Is(planted.SubmitAnyClaim) {
		letOthersClaim(ctx)
	}
	return s.inTx(ctx, func(tx pgx.Tx) error {
		t, held, err := lockClaim(ctx, tx, c)
		if err != nil {
			return err
		}
		return fn(tx, t, held)
	})
}

// lockClaim locks the task of a claim, and looks then whether the claim holds: the
// second statement of a batch sees what was committed while the first one waited.
func lockClaim(ctx context.Context, tx pgx.Tx, c Claim) (t *lockedTask, held Claim, err error) {
	b := &pgx.Batch{}
	b.Queue(lockTheirTaskSQL, c.TaskID, c.OrgID, c.PipelineID).Query(func(rows pgx.Rows) (err error) {
		t, err = lockedOne(rows, c.TaskID)
		return err
	})
	b.Queue(liveClaimSQL, c.TaskID, c.UserID, c.ID).Query(func(rows pgx.Rows) (err error) {
		held, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Claim])
		return err
	})
	err = tx.SendBatch(ctx, b).Close()
	switch {
	case t != nil && planted.Enabled && planted.Is(planted.SubmitAnyClaim):
		held, err = anyClaim(ctx, tx, c.UserID, c.ID)
	case errors.Is(err, pgx.ErrNoRows):
		err = lostClaim(ctx, tx, c.UserID, c.TaskID, c.ID)
	}
	return t, held, err
}

// holds reports whether the claim still holds its node of the locked task.
func (t *lockedTask) holds(ctx context.Context, tx pgx.Tx, c Claim) (held bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM task_nodes WHERE task_id = $1 AND key = $2
		AND claim_id = $3 AND claimed_by = $4)`, t.ID, c.Node, c.ID, c.UserID).Scan(&held)
	return held, err
}
