package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// Statuses of invites.
const (
	InviteOpen     = "open"
	InviteAccepted = "accepted"
	InviteExpired  = "expired"
	InviteRevoked  = "revoked"
)

// maxInvitesListed bounds a list of invites.
const maxInvitesListed = 500

// Invite lets one person into an organization, once. Status is one of the
// constants above.
type Invite struct {
	ID    int64
	OrgID int64
	// ProjectID is the project whose admins made it, nil for org admins.
	ProjectID *int64
	Email     string
	// Role is the one in the organization.
	Role      string
	Projects  []ProjectGrant
	InvitedBy Person
	CreatedAt time.Time
	ExpiresAt time.Time
	Status    string
}

// inviteSelect reads invites i with their inviters u.
const inviteSelect = `
	SELECT i.id, i.org_id, i.project_id, i.email, i.role, u.id, u.name, u.email, i.created_at, i.expires_at,
		CASE WHEN i.accepted_at IS NOT NULL THEN 'accepted' WHEN i.revoked_at IS NOT NULL THEN 'revoked'
			WHEN i.expires_at <= now() THEN 'expired' ELSE 'open' END`

// targets are where a row of inviteSelect goes.
func (i *Invite) targets() []any {
	return []any{
		&i.ID, &i.OrgID, &i.ProjectID, &i.Email, &i.Role, &i.InvitedBy.ID, &i.InvitedBy.Name, &i.InvitedBy.Email,
		&i.CreatedAt, &i.ExpiresAt, &i.Status,
	}
}

// Invites lists the organization's invites, open ones first, then the newest;
// with a project only those that its admins made.
func (s *Store) Invites(ctx context.Context, orgID, projectID int64) ([]Invite, error) {
	rows, _ := s.pool.Query(ctx, inviteSelect+`
		FROM invites i JOIN users u ON u.id = i.invited_by
		WHERE i.org_id = $1 AND ($2 = 0 OR i.project_id = $2)
		ORDER BY i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now() DESC, i.id DESC
		LIMIT $3`, orgID, projectID, maxInvitesListed)
	invites := []Invite{}
	var i Invite
	_, err := pgx.ForEachRow(rows, i.targets(), func() error {
		invites = append(invites, i)
		return nil
	})
	if err == nil {
		err = addGrants(ctx, s.pool, orgID, invites)
	}
	if err != nil {
		return nil, translate(fmt.Errorf("list invites: %w", err))
	}
	return invites, nil
}

// addGrants fills in the projects of the organization's invites, by name.
func addGrants(ctx context.Context, q querier, orgID int64, invites []Invite) error {
	at := make(map[int64]*Invite, len(invites))
	ids := make([]int64, len(invites))
	for n := range invites {
		at[invites[n].ID], ids[n] = &invites[n], invites[n].ID
	}
	rows, _ := q.Query(ctx, `SELECT g.invite_id, p.id, p.name, g.role
		FROM invite_projects g JOIN projects p ON p.org_id = g.org_id AND p.id = g.project_id
		WHERE g.org_id = $1 AND g.invite_id = ANY ($2) ORDER BY p.name, p.id`, orgID, ids)
	var invite int64
	var g ProjectGrant
	_, err := pgx.ForEachRow(rows, []any{&invite, &g.ProjectID, &g.Name, &g.Role}, func() error {
		at[invite].Projects = append(at[invite].Projects, g)
		return nil
	})
	return err
}

// RevokeInvite ends an open invite of by's organization; of by's project, when
// by names one. Revoking one that is over has no effect, unless it was accepted:
// then somebody is in, which only a removal undoes.
func (s *Store) RevokeInvite(ctx context.Context, by Member, inviteID int64) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrg(ctx, tx, by.OrgID); err != nil {
			return err
		}
		if err := mayInvite(ctx, tx, by, by.ProjectID != 0); err != nil {
			return err
		}
		const named = ` WHERE i.org_id = $1 AND i.id = $2 AND ($3 = 0 OR i.project_id = $3)`
		rows, _ := tx.Query(ctx, inviteSelect+` FROM invites i JOIN users u ON u.id = i.invited_by`+named,
			by.OrgID, inviteID, by.ProjectID)
		var i Invite
		found, err := pgx.ForEachRow(rows, i.targets(), func() error { return nil })
		switch {
		case err != nil:
			return fmt.Errorf("find invite: %w", err)
		case found.RowsAffected() == 0:
			return fault.New(fault.NotFound, "invite %d not found", inviteID)
		case i.Status == InviteAccepted:
			return fault.New(fault.Conflict, "%s has accepted this invite; to take the access back, remove the member", i.Email)
		case i.Status != InviteOpen:
			return nil
		}
		if _, err := tx.Exec(ctx, `UPDATE invites i SET revoked_at = now()`+named, by.OrgID, inviteID, by.ProjectID); err != nil {
			return fmt.Errorf("revoke invite: %w", err)
		}
		return audit(ctx, tx, by.OrgID, &by.UserID, "invite.revoke", object("invite", inviteID), nil)
	})
}

// openSQL is the condition that invite i can still be accepted.
const openSQL = `i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()`

// revokeInvitesTo ends the open invites that would give a person back what is being
// taken from them, or another role than the one that is being set: in the
// organization, or with a project in that one. A role means invites to that role
// alone: over a role that somebody has, only an invite to project_admin counts.
func revokeInvitesTo(ctx context.Context, tx pgx.Tx, orgID, projectID, userID int64, role Role) error {
	_, err := tx.Exec(ctx, `UPDATE invites i SET revoked_at = now() FROM users u
		WHERE i.org_id = $1 AND u.id = $3 AND i.email = u.email AND `+openSQL+`
			AND ($2 = 0 OR EXISTS (SELECT FROM invite_projects g WHERE g.invite_id = i.id AND g.project_id = $2
				AND $4 IN ('', g.role)))`,
		orgID, projectID, userID, role)
	if err != nil {
		return fmt.Errorf("revoke invites to a member: %w", err)
	}
	return nil
}

// grantableSQL is the condition that the inviter of invite i may still grant
// it: org admins theirs, project admins that into their project.
const grantableSQL = `EXISTS (SELECT FROM org_members om
	LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.project_id = i.project_id
	WHERE om.org_id = i.org_id AND om.user_id = i.invited_by AND om.removed_at IS NULL
		AND (om.role = 'org_admin' OR pm.role = 'project_admin'))`

// revokeUngrantable ends the open invites of somebody who may not make such
// any more.
func revokeUngrantable(ctx context.Context, tx pgx.Tx, orgID, inviter int64) error {
	_, err := tx.Exec(ctx, `UPDATE invites i SET revoked_at = now()
		WHERE i.org_id = $1 AND i.invited_by = $2 AND `+openSQL+` AND NOT `+grantableSQL, orgID, inviter)
	if err != nil {
		return fmt.Errorf("revoke invites of the demoted: %w", err)
	}
	return nil
}
