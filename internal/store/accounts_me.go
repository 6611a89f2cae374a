package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Me is what a person may see: organizations, their projects, their pipelines.
type Me struct {
	User User
	Orgs []MyOrg
}

// MyOrg is an organization that the person belongs to; Role is org_admin or
// member.
type MyOrg struct {
	ID       int64
	Slug     string
	Name     string
	Role     string
	Projects []MyProject
}

// MyProject is a project in which the person has a role. Org admins are
// project admins of every project.
type MyProject struct {
	ID        int64
	Name      string
	Role      Role
	Pipelines []MyPipeline
}

// MyPipeline is a pipeline of such a project. Drafts and archived pipelines
// are for admins only.
type MyPipeline struct {
	ID     int64
	Name   string
	Status string
}

// Me returns what the person may see, sorted by name.
func (s *Store) Me(ctx context.Context, userID int64) (Me, error) {
	var me Me
	err := s.pool.QueryRow(ctx, `SELECT id, email, name FROM users WHERE id = $1`, userID).
		Scan(&me.User.ID, &me.User.Email, &me.User.Name)
	if err != nil {
		return Me{}, translate(fmt.Errorf("read user: %w", err))
	}
	rows, _ := s.pool.Query(ctx, `
		SELECT o.id AS org_id, o.slug, o.name AS org_name, om.role AS org_role,
			p.id AS project_id, p.name AS project_name,
			CASE WHEN om.role = 'org_admin' THEN 'project_admin' ELSE pm.role END AS project_role,
			l.id AS pipeline_id, l.name AS pipeline_name, l.status AS pipeline_status
		FROM org_members om
		JOIN organizations o ON o.id = om.org_id
		LEFT JOIN project_members pm ON pm.org_id = om.org_id AND pm.user_id = om.user_id AND om.role <> 'org_admin'
		LEFT JOIN projects p ON p.org_id = om.org_id AND (om.role = 'org_admin' OR p.id = pm.project_id)
		LEFT JOIN pipelines l ON l.org_id = om.org_id AND l.project_id = p.id
			AND (om.role = 'org_admin' OR pm.role = 'project_admin'
				OR l.status NOT IN ('DRAFT', 'PENDING_ACTIVATION', 'ARCHIVED'))
		WHERE om.user_id = $1 AND om.removed_at IS NULL
		ORDER BY o.name, o.id, p.name, p.id, l.name, l.id`, userID)
	seen, err := pgx.CollectRows(rows, pgx.RowToStructByName[mine])
	if err != nil {
		return Me{}, translate(fmt.Errorf("list what a user may see: %w", err))
	}
	for _, m := range seen {
		m.addTo(&me)
	}
	return me, nil
}

// MyOrgs returns the organizations that the person belongs to, sorted by name, without
// their projects. Every open page asks for them again and again, and an organization may
// have thousands of pipelines.
func (s *Store) MyOrgs(ctx context.Context, userID int64) ([]MyOrg, error) {
	rows, _ := s.pool.Query(ctx, `SELECT o.id, o.slug, o.name, om.role
		FROM org_members om JOIN organizations o ON o.id = om.org_id
		WHERE om.user_id = $1 AND om.removed_at IS NULL ORDER BY o.name, o.id`, userID)
	orgs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (MyOrg, error) {
		var o MyOrg
		err := row.Scan(&o.ID, &o.Slug, &o.Name, &o.Role)
		return o, err
	})
	if err != nil {
		return nil, translate(fmt.Errorf("list the organizations of a user: %w", err))
	}
	return orgs, nil
}

// mine is one row of the question: a pipeline with what it is in, or an
// organization or project that has none.
type mine struct {
	OrgID          int64
	Slug           string
	OrgName        string
	OrgRole        string
	ProjectID      *int64
	ProjectName    *string
	ProjectRole    *Role
	PipelineID     *int64
	PipelineName   *string
	PipelineStatus *string
}

// addTo appends the row; rows of one organization and of one project follow
// each other.
func (m mine) addTo(me *Me) {
	if n := len(me.Orgs); n == 0 || me.Orgs[n-1].ID != m.OrgID {
		me.Orgs = append(me.Orgs, MyOrg{
			ID: m.OrgID, Slug: m.Slug, Name: m.OrgName, Role: m.OrgRole, Projects: []MyProject{},
		})
	}
	if m.ProjectID == nil {
		return
	}
	org := &me.Orgs[len(me.Orgs)-1]
	if n := len(org.Projects); n == 0 || org.Projects[n-1].ID != *m.ProjectID {
		org.Projects = append(org.Projects, MyProject{
			ID: *m.ProjectID, Name: *m.ProjectName, Role: *m.ProjectRole, Pipelines: []MyPipeline{},
		})
	}
	if m.PipelineID == nil {
		return
	}
	project := &org.Projects[len(org.Projects)-1]
	project.Pipelines = append(project.Pipelines, MyPipeline{
		ID: *m.PipelineID, Name: *m.PipelineName, Status: *m.PipelineStatus,
	})
}
