package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// Workflow is the metadata of a workflow (spec section 2).
type Workflow struct {
	WorkflowID int64     `json:"workflow_id" minimum:"1" doc:"The id of the path."`
	Name       string    `json:"name" doc:"Its name in the web app."`
	Status     string    `json:"status" enum:"DRAFT,ACTIVE,PAUSED,COMPLETED,ARCHIVED,PENDING_ACTIVATION" doc:"Tasks can be created while it is ACTIVE or PAUSED."`
	CreatedAt  time.Time `json:"created_at" doc:"UTC."`
	UpdatedAt  time.Time `json:"updated_at" doc:"When anything of it last changed, UTC, its draft included."`
}

// InWorkflow is embedded by every operation on a workflow. Its name is
// exported because huma looks only into such embedded structs.
type InWorkflow struct {
	WorkflowID int64 `path:"workflow_id" minimum:"1" doc:"Id of the workflow, within the key's organization."`
}

type workflowOutput struct{ Body Workflow }

func (a *api) registerWorkflow() {
	huma.Register(a.huma, a.operation(huma.Operation{
		OperationID: "getWorkflow", Method: http.MethodGet, Path: "/workflows/{workflow_id}", Tags: []string{"Workflows"},
		Summary:     "Get a workflow",
		Description: "Name and status of a workflow. 404 means a wrong id or another organization's workflow.",
	}, http.StatusNotFound), a.getWorkflow)
}

func (a *api) getWorkflow(ctx context.Context, in *InWorkflow) (*workflowOutput, error) {
	p, err := a.workflow(ctx, in.WorkflowID)
	if err != nil {
		return nil, err
	}
	return &workflowOutput{Body: Workflow{
		WorkflowID: p.ID, Name: p.Name, Status: p.Status, CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}}, nil
}

// workflow finds a workflow in the organization of the caller's key.
func (a *api) workflow(ctx context.Context, id int64) (store.PipelineRow, error) {
	p, err := a.Store.Pipeline(ctx, caller(ctx).OrgID, id)
	return p, absent(err, "workflow %d not found", id)
}

// absent words a NotFound in this API's terms and leaves other errors alone.
func absent(err error, format string, args ...any) error {
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.NotFound, format, args...).Because(err)
	}
	return err
}
