package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// ProjectGrant is a role in a project. Name is filled when it is read.
type ProjectGrant struct {
	ProjectID int64
	Name      string
	Role      Role
}

// OrgMember is somebody who belongs to an organization, with the roles of
// their own in its projects.
type OrgMember struct {
	Person   Person
	Role     string
	Projects []ProjectGrant
	JoinedAt time.Time
}

// OrgMembers lists who belongs to the organization, by name.
func (s *Store) OrgMembers(ctx context.Context, orgID int64) ([]OrgMember, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT u.id, u.name, u.email, om.role, om.created_at, pm.project_id, coalesce(p.name, ''), coalesce(pm.role, '')
		FROM org_members om
		JOIN users u ON u.id = om.user_id
		LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.user_id = om.user_id
		LEFT JOIN projects p ON p.org_id = pm.org_id AND p.id = pm.project_id
		WHERE om.org_id = $1 AND om.removed_at IS NULL
		ORDER BY lower(u.name), u.id, p.name, p.id`, orgID)
	members := []OrgMember{}
	var m OrgMember
	var projectID *int64
	var grant ProjectGrant
	_, err := pgx.ForEachRow(rows, []any{
		&m.Person.ID, &m.Person.Name, &m.Person.Email, &m.Role, &m.JoinedAt, &projectID, &grant.Name, &grant.Role,
	}, func() error {
		if n := len(members); n == 0 || members[n-1].Person.ID != m.Person.ID {
			members = append(members, m)
		}
		if projectID != nil {
			grant.ProjectID = *projectID
			last := &members[len(members)-1]
			last.Projects = append(last.Projects, grant)
		}
		return nil
	})
	if err != nil {
		return nil, translate(fmt.Errorf("list members: %w", err))
	}
	return members, nil
}

// SetOrgRole sets a member's role in the organization.
func (s *Store) SetOrgRole(ctx context.Context, by Member, userID int64, role string) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		old, err := lockForOrgAdmin(ctx, tx, by, userID)
		if err != nil || old == role {
			return err
		}
		if err := keepAnAdmin(ctx, tx, by.OrgID, userID); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE org_members SET role = $3 WHERE org_id = $1 AND user_id = $2`, by.OrgID, userID, role)
		if err != nil {
			return fmt.Errorf("set role: %w", err)
		}
		if err := revokeInvitesTo(ctx, tx, by.OrgID, 0, userID, ""); err != nil {
			return err
		}
		if err := s.endForbidden(ctx, tx, by.OrgID, userID, "role changed"); err != nil {
			return err
		}
		return audit(ctx, tx, by.OrgID, &by.UserID, "member.set", object("user", userID), map[string]any{"role": role})
	})
}

// RemoveMember is RemoveUser by an org admin.
func (s *Store) RemoveMember(ctx context.Context, by Member, userID int64) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := lockForOrgAdmin(ctx, tx, by, userID); err != nil {
			return err
		}
		if err := keepAnAdmin(ctx, tx, by.OrgID, userID); err != nil {
			return err
		}
		return s.removeMember(ctx, tx, by.OrgID, userID, &by.UserID)
	})
}

// lockOrg makes changes of an organization's members and invites follow each
// other, so that what one checks still holds when it writes.
func lockOrg(ctx context.Context, tx pgx.Tx, orgID int64) error {
	if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, orgID); err != nil {
		return fmt.Errorf("lock organization: %w", err)
	}
	return nil
}

// lockAsOrgAdmin locks the organization and checks under the lock that the actor is still
// its admin.
func lockAsOrgAdmin(ctx context.Context, tx pgx.Tx, orgID, actor int64) error {
	if err := lockOrg(ctx, tx, orgID); err != nil {
		return err
	}
	role, err := orgRole(ctx, tx, orgID, actor)
	if err == nil && role != OrgRoleAdmin {
		err = fault.New(fault.Forbidden, "you are no admin of this organization any more")
	}
	return err
}

// lockForOrgAdmin locks the organization, checks under the lock that the actor
// is still its admin, and returns the member's role.
func lockForOrgAdmin(ctx context.Context, tx pgx.Tx, by Member, userID int64) (role string, err error) {
	if err := lockAsOrgAdmin(ctx, tx, by.OrgID, by.UserID); err != nil {
		return "", err
	}
	role, err = orgRole(ctx, tx, by.OrgID, userID)
	if err == nil && role == "" {
		err = fault.New(fault.NotFound, "no member of this organization has the id %d", userID)
	}
	return role, err
}

// orgRole returns a live member's role, "" for everybody else.
func orgRole(ctx context.Context, q querier, orgID, userID int64) (role string, err error) {
	err = q.QueryRow(ctx, `SELECT role FROM org_members WHERE org_id = $1 AND user_id = $2 AND removed_at IS NULL`,
		orgID, userID).Scan(&role)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read role: %w", err)
	}
	return role, nil
}

// keepAnAdmin refuses to take the last org admin away: nobody in the product
// could give the organization another one.
func keepAnAdmin(ctx context.Context, q querier, orgID, userID int64) error {
	var last bool
	err := q.QueryRow(ctx, `SELECT count(*) = 1 AND bool_or(user_id = $2) FROM org_members
		WHERE org_id = $1 AND role = 'org_admin' AND removed_at IS NULL`, orgID, userID).Scan(&last)
	if err != nil {
		return fmt.Errorf("count admins: %w", err)
	}
	if last {
		return fault.New(fault.Conflict,
			"this is the only admin of the organization; make somebody else an org admin first")
	}
	return nil
}
