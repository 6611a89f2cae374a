package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// RoleInProject is what somebody may do in a project.
type RoleInProject struct {
	ProjectID int64  `json:"project_id"`
	Name      string `json:"name"`
	Role      string `json:"role" enum:"project_admin,contributor,reviewer"`
}

func newRolesInProjects(grants []store.ProjectGrant) []RoleInProject {
	out := make([]RoleInProject, len(grants))
	for i, g := range grants {
		out[i] = RoleInProject{ProjectID: g.ProjectID, Name: g.Name, Role: string(g.Role)}
	}
	return out
}

// OrgMember is somebody who belongs to an organization.
type OrgMember struct {
	Person   Person          `json:"person"`
	Role     string          `json:"role" enum:"org_admin,member"`
	Projects []RoleInProject `json:"projects" doc:"Roles of their own; org admins are admins of every project without one."`
	JoinedAt time.Time       `json:"joined_at"`
}

// ProjectMember is somebody who may do something in a project.
type ProjectMember struct {
	Person    Person `json:"person"`
	Role      string `json:"role" enum:"project_admin,contributor,reviewer"`
	Inherited bool   `json:"inherited" doc:"They are org admin, so their role cannot be changed here."`
}

// OnOrgMember is embedded by every operation on a member of an organization.
type OnOrgMember struct {
	InOrg
	UserID int64 `path:"user_id" minimum:"1"`
}

// OnProjectMember is embedded by every operation on a member of a project.
type OnProjectMember struct {
	InProject
	UserID int64 `path:"user_id" minimum:"1"`
}

type setOrgRoleInput struct {
	OnOrgMember
	Body struct {
		Role string `json:"role" enum:"org_admin,member"`
	} `nameHint:"OrgRoleRequest"`
}

type setProjectRoleInput struct {
	OnProjectMember
	Body struct {
		Role string `json:"role" enum:"project_admin,contributor,reviewer"`
	} `nameHint:"ProjectRoleRequest"`
}

type orgMembersOutput struct {
	Body struct {
		Members []OrgMember `json:"members" doc:"By name."`
	} `nameHint:"OrgMemberList"`
}

type projectMembersOutput struct {
	Body struct {
		Members    []ProjectMember `json:"members" doc:"By name."`
		Candidates []Person        `json:"candidates" doc:"Members of the organization who have no role here yet, by name."`
	} `nameHint:"ProjectMemberList"`
}

func (a *api) registerMembers() {
	tags := []string{"People"}
	register(a, huma.Operation{
		OperationID: "listOrgMembers", Method: http.MethodGet, Path: "/orgs/{org_id}/members", Tags: tags,
		Summary: "List the members of an organization",
	}, a.listOrgMembers)
	register(a, huma.Operation{
		OperationID: "setOrgRole", Method: http.MethodPut, Path: "/orgs/{org_id}/members/{user_id}", Tags: tags,
		Summary: "Set a member's role in the organization",
		Description: "Claims that the new role does not allow go back to the queue; drafts stay. " +
			"409 for the last org admin.",
	}, a.setOrgRole, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "removeOrgMember", Method: http.MethodDelete, Path: "/orgs/{org_id}/members/{user_id}", Tags: tags,
		Summary: "Remove a member from the organization",
		Description: "Their roles, claims and open invites end at once, and so do their sessions unless they belong to " +
			"another organization. What they did keeps naming them. 409 for the last org admin.",
	}, a.removeOrgMember, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "listProjectMembers", Method: http.MethodGet, Path: "/projects/{project_id}/members", Tags: tags,
		Summary: "List the members of a project", Description: "Org admins are among them.",
	}, a.listProjectMembers)
	register(a, huma.Operation{
		OperationID: "setProjectRole", Method: http.MethodPut, Path: "/projects/{project_id}/members/{user_id}", Tags: tags,
		Summary: "Set somebody's role in the project",
		Description: "Adds a member of the organization, or changes their role: claims that the new one does not allow go " +
			"back to the queue, drafts stay. 409 for an org admin.",
	}, a.setProjectRole, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "removeProjectMember", Method: http.MethodDelete, Path: "/projects/{project_id}/members/{user_id}", Tags: tags,
		Summary: "Remove somebody from the project", Description: "Their claims go back to the queue. 409 for an org admin.",
	}, a.removeProjectMember, http.StatusConflict)
}

func (a *api) listOrgMembers(ctx context.Context, in *InOrg) (*orgMembersOutput, error) {
	members, err := a.Store.OrgMembers(ctx, in.OrgID)
	if err != nil {
		return nil, err
	}
	out := &orgMembersOutput{}
	out.Body.Members = make([]OrgMember, len(members))
	for i, m := range members {
		out.Body.Members[i] = OrgMember{
			Person: newPerson(m.Person), Role: m.Role, Projects: newRolesInProjects(m.Projects), JoinedAt: m.JoinedAt.UTC(),
		}
	}
	return out, nil
}

func (a *api) setOrgRole(ctx context.Context, in *setOrgRoleInput) (*struct{}, error) {
	return nil, a.Store.SetOrgRole(ctx, membership(ctx), in.UserID, in.Body.Role)
}

func (a *api) removeOrgMember(ctx context.Context, in *OnOrgMember) (*struct{}, error) {
	return nil, a.Store.RemoveMember(ctx, membership(ctx), in.UserID)
}

func (a *api) listProjectMembers(ctx context.Context, in *InProject) (*projectMembersOutput, error) {
	people, err := a.Store.ProjectMembers(ctx, membership(ctx).OrgID, in.ProjectID)
	if err != nil {
		return nil, err
	}
	out := &projectMembersOutput{}
	out.Body.Members = make([]ProjectMember, len(people.Members))
	for i, m := range people.Members {
		out.Body.Members[i] = ProjectMember{Person: newPerson(m.Person), Role: string(m.Role), Inherited: m.Inherited}
	}
	out.Body.Candidates = make([]Person, len(people.Candidates))
	for i, p := range people.Candidates {
		out.Body.Candidates[i] = newPerson(p)
	}
	return out, nil
}

func (a *api) setProjectRole(ctx context.Context, in *setProjectRoleInput) (*struct{}, error) {
	return nil, a.Store.SetProjectRole(ctx, membership(ctx), in.UserID, store.Role(in.Body.Role))
}

func (a *api) removeProjectMember(ctx context.Context, in *OnProjectMember) (*struct{}, error) {
	return nil, a.Store.RemoveProjectMember(ctx, membership(ctx), in.UserID)
}
