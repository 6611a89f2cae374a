package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// RemoveUser ends a person's membership in the organization: their roles, the
// claims that they hold there and open invites to them are gone at once, and so
// are their sessions unless they belong to another organization. What they did
// and the keys that they created keep naming them. It is the operator's, who
// may remove the last org admin too.
func (s *Store) RemoveUser(ctx context.Context, orgSlug, email string) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		orgID, err := orgBySlug(ctx, tx, orgSlug)
		if err != nil {
			return err
		}
		if err := lockOrg(ctx, tx, orgID); err != nil {
			return err
		}
		var userID int64
		err = tx.QueryRow(ctx, `
			SELECT m.user_id FROM org_members m JOIN users u ON u.id = m.user_id
			WHERE m.org_id = $1 AND u.email = $2 AND m.removed_at IS NULL`, orgID, normalEmail(email)).Scan(&userID)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.NotFound, "%s is no member of organization %q", email, orgSlug)
		}
		if err != nil {
			return fmt.Errorf("find member: %w", err)
		}
		return s.removeMember(ctx, tx, orgID, userID, nil)
	})
}

// removeMember ends a membership; the organization is locked.
func (s *Store) removeMember(ctx context.Context, tx pgx.Tx, orgID, userID int64, actor *int64) error {
	_, err := tx.Exec(ctx, `UPDATE org_members SET removed_at = now()
		WHERE org_id = $1 AND user_id = $2 AND removed_at IS NULL`, orgID, userID)
	if err != nil {
		return fmt.Errorf("end membership: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM project_members WHERE org_id = $1 AND user_id = $2`, orgID, userID)
	if err != nil {
		return fmt.Errorf("end project roles: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND NOT EXISTS
		(SELECT FROM org_members WHERE user_id = $1 AND removed_at IS NULL)`, userID)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	if err := revokeInvitesTo(ctx, tx, orgID, 0, userID, ""); err != nil {
		return err
	}
	if err := s.endForbidden(ctx, tx, orgID, userID, "removed from the organization"); err != nil {
		return err
	}
	return audit(ctx, tx, orgID, actor, "user.remove", object("user", userID), nil)
}

// HasAdmin reports whether the organization has an org admin.
func (s *Store) HasAdmin(ctx context.Context, orgSlug string) (bool, error) {
	var has bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM org_members m JOIN organizations o ON o.id = m.org_id
		WHERE o.slug = $1 AND m.removed_at IS NULL AND m.role = 'org_admin')`, orgSlug).Scan(&has)
	return has, translate(err)
}
