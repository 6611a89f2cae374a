package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// endForbidden ends, after a change of a person's roles in the organization,
// what these do not allow any more: claims and reservations go back to the
// queue, with the reason in the journal, and open invites lose the authority
// that they were made with. The roles are written already.
func (s *Store) endForbidden(ctx context.Context, tx pgx.Tx, orgID, userID int64, reason string) error {
	if err := revokeUngrantable(ctx, tx, orgID, userID); err != nil {
		return err
	}
	if err := changeStanding(ctx, tx, userID); err != nil {
		return err
	}
	mayWork := mayWorkSQL("$1", "$2", "k.kind")
	rows, _ := tx.Query(ctx, `SELECT `+claimColumns+` FROM pipelines p
		CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind)
		JOIN task_nodes n ON n.pipeline_id = p.id AND n.kind = k.kind AND n.status = 'claimed'
		JOIN tasks t ON t.id = n.task_id
		WHERE p.org_id = $1 AND n.claimed_by = $2 AND NOT `+mayWork+` ORDER BY n.task_id, n.key`, orgID, userID)
	claims, err := pgx.CollectRows(rows, pgx.RowToStructByName[Claim])
	if err != nil {
		return fmt.Errorf("find claims to release: %w", err)
	}
	for _, c := range claims {
		if err := s.releaseIfHeld(ctx, tx, c, reason); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE task_nodes n SET reserved_for = NULL, reserved_until = NULL
		FROM pipelines p CROSS JOIN unnest(ARRAY['subtask', 'review']) AS k(kind)
		WHERE p.org_id = $1 AND n.org_id = $1 AND n.pipeline_id = p.id AND n.kind = k.kind
			AND n.reserved_for = $2 AND n.status = 'available' AND NOT `+mayWork, orgID, userID)
	if err != nil {
		return fmt.Errorf("end reservations: %w", err)
	}
	return nil
}

// releaseIfHeld locks the claim's task and gives the node back, unless the
// claim was handed in or lost meanwhile.
func (s *Store) releaseIfHeld(ctx context.Context, tx pgx.Tx, c Claim, reason string) error {
	t, err := lockTask(ctx, tx, c.OrgID, c.PipelineID, c.TaskID)
	if err != nil {
		return err
	}
	held, err := t.holds(ctx, tx, c)
	if err != nil || !held {
		return err
	}
	return s.release(ctx, tx, t, c, reason)
}
