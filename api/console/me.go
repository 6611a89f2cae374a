package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Me is the caller and where they belong.
type Me struct {
	User
	Orgs []Org `json:"orgs"`
}

// Org is an organization as its member sees it.
type Org struct {
	ID   int64  `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
	Role string `json:"role" enum:"org_admin,member"`
}

// Project is a project as its member sees it.
type Project struct {
	ID        int64             `json:"id"`
	OrgID     int64             `json:"org_id"`
	Name      string            `json:"name"`
	Role      string            `json:"role" enum:"project_admin,contributor,reviewer" doc:"Org admins are project admins everywhere."`
	Pipelines []PipelineSummary `json:"pipelines" doc:"Those that the caller may see: drafts and archived ones are for admins."`
}

// PipelineSummary names a pipeline.
type PipelineSummary struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status" enum:"DRAFT,ACTIVE,PAUSED,COMPLETED,ARCHIVED,PENDING_ACTIVATION"`
}

type meOutput struct{ Body Me }

type projectsOutput struct {
	Body struct {
		Projects []Project `json:"projects"`
	} `nameHint:"ProjectList"`
}

func (a *api) registerMe() {
	register(a, huma.Operation{
		OperationID: "getMe", Method: http.MethodGet, Path: "/me", Tags: []string{"Session"},
		Summary: "Who am I", Description: "The caller and their organizations.",
	}, a.getMe)
	register(a, huma.Operation{
		OperationID: "listProjects", Method: http.MethodGet, Path: "/projects", Tags: []string{"Projects"},
		Summary: "List my projects", Description: "Every project that the caller may see, with its pipelines.",
	}, a.listProjects)
}

func (a *api) getMe(ctx context.Context, _ *struct{}) (*meOutput, error) {
	user := caller(ctx)
	orgs, err := a.Store.MyOrgs(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	out := &meOutput{Body: Me{User: User{ID: user.ID, Email: user.Email, Name: user.Name}, Orgs: []Org{}}}
	for _, o := range orgs {
		out.Body.Orgs = append(out.Body.Orgs, Org{ID: o.ID, Slug: o.Slug, Name: o.Name, Role: o.Role})
	}
	return out, nil
}

func (a *api) listProjects(ctx context.Context, _ *struct{}) (*projectsOutput, error) {
	me, err := a.Store.Me(ctx, caller(ctx).ID)
	if err != nil {
		return nil, err
	}
	out := &projectsOutput{}
	out.Body.Projects = []Project{}
	for _, o := range me.Orgs {
		for _, p := range o.Projects {
			out.Body.Projects = append(out.Body.Projects, newProject(o.ID, p))
		}
	}
	return out, nil
}
