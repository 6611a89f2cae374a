package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
)

// ProjectMember is somebody who may do something in a project. Inherited is
// the role of an org admin, which the project cannot change.
type ProjectMember struct {
	Person    Person
	Role      Role
	Inherited bool
}

// ProjectPeople is who has a role in a project, and who else of the
// organization could get one.
type ProjectPeople struct {
	Members    []ProjectMember
	Candidates []Person
}

// ProjectMembers lists the people of a project and of its organization, by
// name.
func (s *Store) ProjectMembers(ctx context.Context, orgID, projectID int64) (ProjectPeople, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT u.id, u.name, u.email, om.role = 'org_admin', coalesce(pm.role, '')
		FROM org_members om
		JOIN users u ON u.id = om.user_id
		LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.project_id = $2 AND pm.user_id = om.user_id
		WHERE om.org_id = $1 AND om.removed_at IS NULL
		ORDER BY lower(u.name), u.id`, orgID, projectID)
	var out ProjectPeople
	var p Person
	var admin bool
	var role Role
	_, err := pgx.ForEachRow(rows, []any{&p.ID, &p.Name, &p.Email, &admin, &role}, func() error {
		switch {
		case admin:
			out.Members = append(out.Members, ProjectMember{Person: p, Role: RoleProjectAdmin, Inherited: true})
		case role != "":
			out.Members = append(out.Members, ProjectMember{Person: p, Role: role})
		default:
			out.Candidates = append(out.Candidates, p)
		}
		return nil
	})
	if err != nil {
		return ProjectPeople{}, translate(fmt.Errorf("list project members: %w", err))
	}
	return out, nil
}

// SetProjectRole gives a member of the organization a role in by's project, or
// another one.
func (s *Store) SetProjectRole(ctx context.Context, by Member, userID int64, role Role) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := lockForProjectAdmin(ctx, tx, by, userID); err != nil {
			return err
		}
		changed, err := setProjectRole(ctx, tx, by.OrgID, by.ProjectID, userID, role)
		if err != nil || !changed {
			return err
		}
		if err := revokeInvitesTo(ctx, tx, by.OrgID, by.ProjectID, userID, RoleProjectAdmin); err != nil {
			return err
		}
		if err := s.endForbidden(ctx, tx, by.OrgID, userID, "role changed"); err != nil {
			return err
		}
		return audit(ctx, tx, by.OrgID, &by.UserID, "project.member", object("project", by.ProjectID),
			map[string]any{"user": userID, "role": role})
	})
}

func setProjectRole(ctx context.Context, tx pgx.Tx, orgID, projectID, userID int64, role Role) (changed bool, err error) {
	tag, err := tx.Exec(ctx, `
		INSERT INTO project_members AS m (org_id, project_id, user_id, role) VALUES ($1, $2, $3, $4)
		ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role WHERE m.role <> excluded.role`,
		orgID, projectID, userID, role)
	if err != nil {
		return false, fmt.Errorf("set project role: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// RemoveProjectMember ends a role in by's project. The claims that the person
// holds there go back to the queue.
func (s *Store) RemoveProjectMember(ctx context.Context, by Member, userID int64) error {
	return s.inTx(ctx, func(tx pgx.Tx) error {
		role, err := lockForProjectAdmin(ctx, tx, by, userID)
		if err != nil {
			return err
		}
		if role == "" {
			return fault.New(fault.NotFound, "no member of this project has the id %d", userID)
		}
		_, err = tx.Exec(ctx, `DELETE FROM project_members WHERE org_id = $1 AND project_id = $2 AND user_id = $3`,
			by.OrgID, by.ProjectID, userID)
		if err != nil {
			return fmt.Errorf("end project role: %w", err)
		}
		if err := revokeInvitesTo(ctx, tx, by.OrgID, by.ProjectID, userID, ""); err != nil {
			return err
		}
		if err := s.endForbidden(ctx, tx, by.OrgID, userID, "removed from the project"); err != nil {
			return err
		}
		return audit(ctx, tx, by.OrgID, &by.UserID, "project.member", object("project", by.ProjectID),
			map[string]any{"user": userID, "role": nil})
	})
}

// lockForProjectAdmin locks the organization, checks under the lock that the
// actor is still admin of by's project, and returns the person's role there,
// "" for a member of the organization without one. The role of an org admin is
// not the project's to change.
func lockForProjectAdmin(ctx context.Context, tx pgx.Tx, by Member, userID int64) (Role, error) {
	if err := lockOrg(ctx, tx, by.OrgID); err != nil {
		return "", err
	}
	actor, err := memberIn(ctx, tx, by.OrgID, by.ProjectID, by.UserID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	if !actor.Admin() {
		return "", fault.New(fault.Forbidden, "you are no admin of this project any more")
	}
	m, err := memberIn(ctx, tx, by.OrgID, by.ProjectID, userID)
	if err != nil {
		return "", err
	}
	if m.OrgAdmin {
		return "", fault.New(fault.Conflict,
			"an org admin is admin of every project; change their role in the organization first")
	}
	return m.Role, nil
}

// memberIn returns a live member of the organization with their role in the
// project, "" without one.
func memberIn(ctx context.Context, q querier, orgID, projectID, userID int64) (Member, error) {
	m := Member{UserID: userID, OrgID: orgID, ProjectID: projectID}
	err := q.QueryRow(ctx, `
		SELECT coalesce(pm.role, ''), om.role = 'org_admin' FROM org_members om
		LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.project_id = $2
		WHERE om.org_id = $1 AND om.user_id = $3 AND om.removed_at IS NULL`, orgID, projectID, userID).Scan(&m.Role, &m.OrgAdmin)
	if errors.Is(err, pgx.ErrNoRows) {
		return Member{}, fault.New(fault.NotFound, "no member of this organization has the id %d", userID)
	}
	if err != nil {
		return Member{}, fmt.Errorf("read role: %w", err)
	}
	return m, nil
}

// Administers reports whether the person is admin of any organization or
// project.
func (s *Store) Administers(ctx context.Context, userID int64) (admin bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM org_members om WHERE om.user_id = $1 AND om.removed_at IS NULL
		AND (om.role = 'org_admin' OR EXISTS (SELECT FROM project_members pm
			WHERE pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.role = 'project_admin')))`, userID).Scan(&admin)
	return admin, translate(err)
}
