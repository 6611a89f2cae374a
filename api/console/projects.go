package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

type createProjectInput struct {
	InOrg
	Body projectName `nameHint:"CreateProjectRequest"`
}

type renameProjectInput struct {
	InProject
	Body projectName `nameHint:"RenameProjectRequest"`
}

type projectName struct {
	Name string `json:"name" minLength:"1" maxLength:"200" doc:"Once in the organization."`
}

type projectOutput struct{ Body Project }

func (a *api) registerProjects() {
	tags := []string{"Projects"}
	register(a, huma.Operation{
		OperationID: "createProject", Method: http.MethodPost, Path: "/orgs/{org_id}/projects", Tags: tags,
		Summary: "Create a project", Description: "A project admin who creates it becomes its admin. 409 when the name is taken.",
		DefaultStatus: http.StatusCreated,
	}, a.createProject, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "renameProject", Method: http.MethodPut, Path: "/projects/{project_id}", Tags: tags,
		Summary: "Rename a project", Description: "409 when the name is taken.",
	}, a.renameProject, http.StatusConflict)
}

func (a *api) createProject(ctx context.Context, in *createProjectInput) (*projectOutput, error) {
	m := membership(ctx)
	p, err := a.Store.CreateProject(ctx, m, in.Body.Name)
	return &projectOutput{Body: newProject(m.OrgID, p)}, err
}

func (a *api) renameProject(ctx context.Context, in *renameProjectInput) (*projectOutput, error) {
	m := membership(ctx)
	p, err := a.Store.RenameProject(ctx, m, in.Body.Name)
	return &projectOutput{Body: newProject(m.OrgID, p)}, err
}

func newProject(orgID int64, p store.MyProject) Project {
	out := Project{ID: p.ID, OrgID: orgID, Name: p.Name, Role: string(p.Role), Pipelines: []PipelineSummary{}}
	for _, l := range p.Pipelines {
		out.Pipelines = append(out.Pipelines, PipelineSummary(l))
	}
	return out
}
