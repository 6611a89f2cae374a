package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// Invitation is an open invite as the holder of its token finds it. UserID and
// PasswordHash are of the account behind its address, 0 and empty when there
// is none.
type Invitation struct {
	Invite
	OrgName      string
	UserID       int64
	PasswordHash string
}

// Invitee is who accepts: an account whose password was checked against
// PasswordHash, or without UserID a newcomer with a name and the hash of a new
// password.
type Invitee struct {
	UserID       int64
	Name         string
	PasswordHash string
}

// InviteByToken returns the open invite whose token has the hash. NotFound when
// there is none, Conflict when it cannot be accepted any more.
func (s *Store) InviteByToken(ctx context.Context, hash [32]byte) (Invitation, error) {
	i, err := invitation(ctx, s.pool, hash)
	return i, translate(err)
}

func invitation(ctx context.Context, q querier, hash [32]byte) (Invitation, error) {
	var i Invitation
	var grantable bool
	rows, _ := q.Query(ctx, inviteSelect+`, o.name, coalesce(a.id, 0), coalesce(a.password_hash, ''), `+grantableSQL+`
		FROM invites i
		JOIN organizations o ON o.id = i.org_id
		JOIN users u ON u.id = i.invited_by
		LEFT JOIN users a ON a.email = i.email
		WHERE i.hash = $1`, hash[:])
	tag, err := pgx.ForEachRow(rows, append(i.targets(), &i.OrgName, &i.UserID, &i.PasswordHash, &grantable),
		func() error { return nil })
	if err != nil {
		return Invitation{}, fmt.Errorf("find invite: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return Invitation{}, fault.New(fault.NotFound, "there is no such invite; check that the link was copied whole")
	}
	if err := i.refuse(grantable); err != nil {
		return Invitation{}, err
	}
	one := []Invite{i.Invite}
	if err := addGrants(ctx, q, i.OrgID, one); err != nil {
		return Invitation{}, fmt.Errorf("read projects of invite: %w", err)
	}
	i.Invite = one[0]
	return i, nil
}

// refuse tells why the invite cannot be accepted, nil when it can.
func (i *Invite) refuse(grantable bool) error {
	const ask = "; ask for a new one"
	switch {
	case i.Status == InviteAccepted:
		return fault.New(fault.Conflict, "this invite was accepted already; log in instead")
	case i.Status == InviteRevoked:
		return fault.New(fault.Conflict, "this invite was taken back"+ask)
	case i.Status == InviteExpired:
		return fault.New(fault.Conflict, "this invite has expired"+ask)
	case !grantable:
		return fault.New(fault.Conflict, "who sent this invite may not invite any more"+ask)
	}
	return nil
}

// AcceptInvite uses the invite up and lets the invitee in, in one transaction:
// of two who accept one invite, one gets in. The invite and the authority of
// who made it are checked again under the organization's lock. It takes no
// role away that the invitee has.
func (s *Store) AcceptInvite(ctx context.Context, hash [32]byte, who Invitee) (User, error) {
	var user User
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		found, err := invitation(ctx, tx, hash)
		if err != nil {
			return err
		}
		if err := lockOrg(ctx, tx, found.OrgID); err != nil {
			return err
		}
		i, err := invitation(ctx, tx, hash)
		if err != nil {
			return err
		}
		if user, err = invitee(ctx, tx, i, who); err != nil {
			return err
		}
		return i.letIn(ctx, tx, user.ID)
	})
	return user, err
}

// invitee returns the account that the invite is for, made if there was none.
func invitee(ctx context.Context, tx pgx.Tx, i Invitation, who Invitee) (User, error) {
	user := User{Email: i.Email}
	if who.UserID != 0 {
		err := tx.QueryRow(ctx, `SELECT id, name FROM users WHERE id = $1 AND email = $2 AND password_hash = $3`,
			who.UserID, i.Email, who.PasswordHash).Scan(&user.ID, &user.Name)
		if errors.Is(err, pgx.ErrNoRows) {
			return User{}, fault.New(fault.Conflict, "your account was changed a moment ago; try again")
		}
		if err != nil {
			return User{}, fmt.Errorf("find invitee: %w", err)
		}
		return user, nil
	}
	// ON CONFLICT waits for a rival that is about to commit the same address.
	err := tx.QueryRow(ctx, `INSERT INTO users (email, name, password_hash) VALUES ($1, $2, $3)
		ON CONFLICT (email) DO NOTHING RETURNING id, name`, i.Email, who.Name, who.PasswordHash).Scan(&user.ID, &user.Name)
	if errors.Is(err, pgx.ErrNoRows) {
		return User{}, fault.New(fault.Conflict, "there is an account with your address by now; accept with its password")
	}
	if err != nil {
		return User{}, fmt.Errorf("insert invitee: %w", err)
	}
	return user, nil
}

// letIn makes the membership and uses the invite up.
func (i *Invite) letIn(ctx context.Context, tx pgx.Tx, userID int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO org_members AS m (org_id, user_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (org_id, user_id) DO UPDATE SET
			role = CASE WHEN m.removed_at IS NULL AND m.role = 'org_admin' THEN m.role ELSE excluded.role END,
			created_at = CASE WHEN m.removed_at IS NULL THEN m.created_at ELSE now() END,
			removed_at = NULL`, i.OrgID, userID, i.Role)
	if err != nil {
		return fmt.Errorf("make membership: %w", err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO project_members AS m (org_id, project_id, user_id, role)
		SELECT g.org_id, g.project_id, $3, g.role FROM invite_projects g WHERE g.org_id = $1 AND g.invite_id = $2
		ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role WHERE excluded.role = 'project_admin'`,
		i.OrgID, i.ID, userID)
	if err != nil {
		return fmt.Errorf("make project roles: %w", err)
	}
	_, err = tx.Exec(ctx, `UPDATE invites SET accepted_at = now(), accepted_by = $3 WHERE org_id = $1 AND id = $2`,
		i.OrgID, i.ID, userID)
	if err != nil {
		return fmt.Errorf("use invite up: %w", err)
	}
	return audit(ctx, tx, i.OrgID, &userID, "invite.accept", object("invite", i.ID), nil)
}
