package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/seeding"
)

// SeedExample is an item that the External API takes for a pipeline.
type SeedExample struct {
	Fields form.Values `json:"fields" doc:"A value for each seeded field, of file fields a path in the archive; null where the rules of a required one leave none to find."`
	Upload bool        `json:"upload" doc:"Whether tasks come by ZIP upload, as the pipeline has file fields."`
}

type seedExampleOutput struct{ Body SeedExample }

func (a *api) registerSeedExample() {
	register(a, huma.Operation{
		OperationID: "getSeedExample", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/seed-example", Tags: []string{"Pipelines"},
		Summary:     "Get an example of a task to create",
		Description: "Of the live version, in what the External API takes. 409 when there is none.",
	}, a.getSeedExample, http.StatusConflict)
}

func (a *api) getSeedExample(ctx context.Context, in *InPipeline) (*seedExampleOutput, error) {
	p, err := a.Store.Pipeline(ctx, membership(ctx).OrgID, in.PipelineID)
	if err != nil {
		return nil, err
	}
	if p.VersionID == nil {
		return nil, fault.New(fault.Conflict, "the pipeline was never published; publish it before tasks are created")
	}
	v, err := a.Store.Version(ctx, *p.VersionID)
	if err != nil {
		return nil, err
	}
	return &seedExampleOutput{Body: SeedExample{Fields: seeding.ExampleFields(v), Upload: v.Seed.HasFileUpload()}}, nil
}
