package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// ReleaseNode ends the claim that somebody holds on a node: it goes back to
// the queue and their draft stays. Conflict when nobody holds it, or somebody else than
// the one that was seen with it; 0 is whoever it is.
func (s *Store) ReleaseNode(ctx context.Context, m Member, taskID int64, node string, heldBy int64, reason string) error {
	return s.withTask(ctx, m, taskID, func(tx pgx.Tx, t *lockedTask) error {
		n, err := t.node(ctx, tx, node)
		if err != nil {
			return err
		}
		switch {
		case n.Status != task.NodeClaimed:
			return fault.New(fault.Conflict, "node %q of task %d is %s; there is no claim to end", node, taskID, n.Status)
		case heldBy != 0 && n.ClaimedBy != heldBy:
			return fault.New(fault.Conflict,
				"somebody else holds node %q of task %d by now; look who it is, then end their claim if it is to end", node, taskID)
		}
		_, err = s.releaseClaims(ctx, tx, t, m.UserID, node, nil, reason)
		return err
	})
}

// releaseClaims ends the claims on the locked task, or on one node of it, in
// the name of an admin; it returns how many there were. The journal names the
// admin as who did it and the claim that it was: its holder's next call finds
// it over. Claims that were not made before asOf stay, nil being the end of time;
// Conflict when there are only such.
func (s *Store) releaseClaims(
	ctx context.Context, tx pgx.Tx, t *lockedTask, admin int64, node string, asOf *time.Time, reason string,
) (int, error) {
	rows, _ := tx.Query(ctx, `SELECT n.key, n.iteration, n.claim_id::text, coalesce(e.created_at >= $3, false) AS later
		FROM task_nodes n LEFT JOIN task_events e ON e.task_id = n.task_id AND e.seq = n.last_seq
		WHERE n.task_id = $1 AND n.claim_id IS NOT NULL AND ($2 = '' OR n.key = $2) ORDER BY later, n.key`, t.ID, node, asOf)
	type held struct {
		Key       string
		Iteration int
		Claim     string
		Later     bool
	}
	claims, err := pgx.CollectRows(rows, pgx.RowToStructByPos[held])
	if err != nil || len(claims) == 0 {
		return 0, err
	}
	if claims[0].Later {
		return 0, fault.New(fault.Conflict,
			"node %q of task %d was claimed since you looked; look who holds it, then end their claim if it is to end", claims[0].Key, t.ID)
	}
	if i := slices.IndexFunc(claims, func(c held) bool { return c.Later }); i > 0 {
		claims = claims[:i]
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "by an admin"
	}
	var freed []string
	for _, c := range claims {
		seq, err := t.journal(ctx, tx, pipeline.Event{
			Kind: pipeline.EventRelease, Node: c.Key, Iteration: c.Iteration, Actor: admin, Claim: c.Claim, Reason: reason,
		}, true)
		if err != nil {
			return 0, err
		}
		if err := t.leaveNode(ctx, tx, c.Key, task.NodeAvailable, seq, ""); err != nil {
			return 0, err
		}
		freed = append(freed, c.Key)
	}
	return len(freed), s.shutAgain(ctx, tx, t, freed...)
}
