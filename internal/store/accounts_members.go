package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// Role is what a person may do in a project.
type Role string

// Roles in a project. Org admins need none: they count as project admins of
// every project of their organization.
const (
	RoleProjectAdmin Role = "project_admin"
	RoleContributor  Role = "contributor"
	RoleReviewer     Role = "reviewer"
)

// Roles in an organization.
const (
	OrgRoleAdmin  = "org_admin"
	OrgRoleMember = "member"
)

// Member is a person seen from one organization, project or pipeline; ids that
// the question did not name are 0.
type Member struct {
	UserID, OrgID, ProjectID, PipelineID int64
	// Role is the role in the project, empty for an org admin without one.
	Role Role
	// OrgAdmin counts as project admin everywhere in the organization.
	OrgAdmin bool
	// ProjectAdmin says that the person is admin of some project of the
	// organization. Only MemberOfOrg, which names no project, fills it.
	ProjectAdmin bool
}

// Admin reports whether the member may build and run pipelines here.
func (m Member) Admin() bool { return m.OrgAdmin || m.Role == RoleProjectAdmin }

// CanWork reports whether the member may work on nodes of the kind.
func (m Member) CanWork(kind pipeline.Kind) bool {
	switch kind {
	case pipeline.KindSubtask:
		return m.Admin() || m.Role == RoleContributor
	case pipeline.KindReview:
		return m.Admin() || m.Role == RoleReviewer
	case pipeline.KindStart, pipeline.KindEnd:
		return false
	default:
		return false
	}
}

// memberSelect finds a live member of the organization that owns a row. What
// it returns is scoped twice: by the person's live membership in the
// organization, and by a role in the project unless they are org admin.
const memberSelect = `
	SELECT om.user_id, om.org_id, coalesce(pm.role, ''), om.role = 'org_admin'`

// Where person $1 is found: where pipeline $2 lives, or in project $2.
const (
	memberOfPipelineSQL = memberSelect + `, p.project_id
		FROM pipelines p
		JOIN org_members om ON om.org_id = p.org_id AND om.user_id = $1 AND om.removed_at IS NULL
		LEFT JOIN project_members pm ON pm.org_id = p.org_id AND pm.project_id = p.project_id AND pm.user_id = $1
		WHERE p.id = $2 AND (om.role = 'org_admin' OR pm.role IS NOT NULL)`
	memberOfProjectSQL = memberSelect + `, p.id
		FROM projects p
		JOIN org_members om ON om.org_id = p.org_id AND om.user_id = $1 AND om.removed_at IS NULL
		LEFT JOIN project_members pm ON pm.org_id = p.org_id AND pm.project_id = p.id AND pm.user_id = $1
		WHERE p.id = $2 AND (om.role = 'org_admin' OR pm.role IS NOT NULL)`
)

// scanMember reads what these find.
func scanMember(row pgx.Row, m *Member) error {
	return row.Scan(&m.UserID, &m.OrgID, &m.Role, &m.OrgAdmin, &m.ProjectID)
}

// MemberOfPipeline returns the person's role where the pipeline lives. One who
// may not see it hears the same as for a pipeline that does not exist.
func (s *Store) MemberOfPipeline(ctx context.Context, userID, pipelineID int64) (Member, error) {
	m := Member{PipelineID: pipelineID}
	err := scanMember(s.pool.QueryRow(ctx, memberOfPipelineSQL, userID, pipelineID), &m)
	return foundMember(m, err, "pipeline %d not found", pipelineID)
}

// MemberOfProject returns the person's role in the project.
func (s *Store) MemberOfProject(ctx context.Context, userID, projectID int64) (Member, error) {
	var m Member
	err := scanMember(s.pool.QueryRow(ctx, memberOfProjectSQL, userID, projectID), &m)
	return foundMember(m, err, "project %d not found", projectID)
}

// MemberOfOrg returns the person as a live member of the organization, of
// whatever role.
func (s *Store) MemberOfOrg(ctx context.Context, userID, orgID int64) (Member, error) {
	var m Member
	row := s.pool.QueryRow(ctx, `
		SELECT user_id, org_id, role = 'org_admin', EXISTS (SELECT FROM project_members pm
			WHERE pm.org_id = om.org_id AND pm.user_id = om.user_id AND pm.role = 'project_admin')
		FROM org_members om
		WHERE org_id = $2 AND user_id = $1 AND removed_at IS NULL`, userID, orgID)
	err := row.Scan(&m.UserID, &m.OrgID, &m.OrgAdmin, &m.ProjectAdmin)
	return foundMember(m, err, "organization %d not found", orgID)
}

// MemberOfTask returns the person's role where the task's pipeline lives.
func (s *Store) MemberOfTask(ctx context.Context, userID, taskID int64) (Member, error) {
	var m Member
	row := s.pool.QueryRow(ctx, memberSelect+`, p.project_id, p.id
		FROM tasks t
		JOIN pipelines p ON p.org_id = t.org_id AND p.id = t.pipeline_id
		JOIN org_members om ON om.org_id = t.org_id AND om.user_id = $1 AND om.removed_at IS NULL
		LEFT JOIN project_members pm ON pm.org_id = t.org_id AND pm.project_id = p.project_id AND pm.user_id = $1
		WHERE t.id = $2 AND (om.role = 'org_admin' OR pm.role IS NOT NULL)`, userID, taskID)
	err := row.Scan(&m.UserID, &m.OrgID, &m.Role, &m.OrgAdmin, &m.ProjectID, &m.PipelineID)
	return foundMember(m, err, "task %d not found", taskID)
}

func foundMember(m Member, err error, missing string, id int64) (Member, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return Member{}, fault.New(fault.NotFound, missing, id)
	}
	if err != nil {
		return Member{}, translate(fmt.Errorf("find member: %w", err))
	}
	return m, nil
}
