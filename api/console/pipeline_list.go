package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// PipelineOverview is a pipeline with how much work it has.
type PipelineOverview struct {
	Pipeline
	Counts         Counts `json:"counts"`
	HasUnpublished bool   `json:"has_unpublished" doc:"The draft says something else than the live version; true before the first publish."`
}

type pipelineListOutput struct {
	Body struct {
		Pipelines []PipelineOverview `json:"pipelines" doc:"By name."`
	} `nameHint:"PipelineList"`
}

func (a *api) registerPipelineList() {
	register(a, huma.Operation{
		OperationID: "listPipelines", Method: http.MethodGet, Path: "/projects/{project_id}/pipelines", Tags: []string{"Pipelines"},
		Summary: "List the pipelines of a project", Description: "With how much work each has. Drafts and archived pipelines are for admins.",
	}, a.listPipelines)
}

func (a *api) listPipelines(ctx context.Context, _ *InProject) (*pipelineListOutput, error) {
	found, err := a.Store.ListPipelines(ctx, membership(ctx))
	if err != nil {
		return nil, err
	}
	out := &pipelineListOutput{}
	out.Body.Pipelines = make([]PipelineOverview, len(found))
	for i, p := range found {
		out.Body.Pipelines[i] = PipelineOverview{
			Pipeline: newPipeline(p.PipelineRow), Counts: newCounts(p.Counts), HasUnpublished: p.Unpublished,
		}
	}
	return out, nil
}

func newCounts(c store.QueueCounts) Counts { return Counts(c) }

// InProject is embedded by every operation on a project.
type InProject struct {
	ProjectID int64 `path:"project_id" minimum:"1"`
}
