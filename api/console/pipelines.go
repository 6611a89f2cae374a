package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Pipeline is a pipeline without its definition.
type Pipeline struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"project_id"`
	Name      string    `json:"name"`
	Status    string    `json:"status" enum:"DRAFT,ACTIVE,PAUSED,COMPLETED,ARCHIVED,PENDING_ACTIVATION"`
	Version   int       `json:"version" doc:"Number of the version that new tasks get; 0 before the first publish."`
	Revision  int64     `json:"revision" doc:"Counts saves of the draft; send it with the next one."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func newPipeline(p store.PipelineRow) Pipeline {
	return Pipeline{
		ID: p.ID, ProjectID: p.ProjectID, Name: p.Name, Status: p.Status, Version: p.VersionNumber,
		Revision: p.Revision, CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
}

// PipelineDetail is a pipeline with its definitions.
type PipelineDetail struct {
	Pipeline
	Draft   json.RawMessage `json:"draft" doc:"What the builder edits."`
	Live    json.RawMessage `json:"live" doc:"What new tasks get; null before the first publish."`
	Layout  Layout          `json:"layout" doc:"Where the builder shows the nodes."`
	SavedBy *Person         `json:"saved_by" doc:"Who saved the draft last; null for the command line."`
	SavedAt time.Time       `json:"saved_at"`
	Counts  Counts          `json:"counts"`
}

// Layout is where the builder shows nodes, by their keys: x and y.
type Layout map[string][2]float64

// DefinitionProblem is one thing that keeps a draft from being published.
type DefinitionProblem struct {
	Node    string `json:"node,omitempty" doc:"Key of the node that it is about."`
	Field   string `json:"field,omitempty" doc:"Name of the field that it is about."`
	Path    string `json:"path" doc:"Place in the definition."`
	Message string `json:"message"`
}

type createPipelineInput struct {
	ProjectID int64 `path:"project_id" minimum:"1"`
	Body      struct {
		Definition json.RawMessage `json:"definition" doc:"A pipeline definition; it may be incomplete until it is published."`
	} `nameHint:"CreatePipelineRequest"`
}

type saveDefinitionInput struct {
	InPipeline
	Body struct {
		Definition json.RawMessage `json:"definition"`
		Revision   int64           `json:"revision" minimum:"0" doc:"The last one seen."`
		Layout     Layout          `json:"layout,omitempty" doc:"Where the builder shows the nodes; without, it stays. A save that changes nothing else keeps the revision."`
	} `nameHint:"SaveDefinitionRequest"`
}

type publishInput struct {
	InPipeline
	Body *struct {
		Note     string `json:"note,omitempty" maxLength:"1000" doc:"What is new in this version."`
		Revision *int64 `json:"revision,omitempty" minimum:"0" doc:"The one of the draft that was looked at. 409 when another one was saved since; without it whatever is there is published."`
	} `nameHint:"PublishRequest"`
}

type checkInput struct {
	InPipeline
	Body struct {
		Definition json.RawMessage `json:"definition"`
	} `nameHint:"CheckRequest"`
}

type pipelineOutput struct{ Body Pipeline }

type pipelineDetailOutput struct{ Body PipelineDetail }

type validateOutput struct {
	Body struct {
		Problems []DefinitionProblem `json:"problems" doc:"Empty when the draft can be published; at most 100."`
	} `nameHint:"Validation"`
}

func (a *api) registerPipelines() {
	a.registerPipelineList()
	a.registerPipelineCopy()
	a.registerVersions()
	a.registerSeedExample()
	tags := []string{"Pipelines"}
	register(a, huma.Operation{
		OperationID: "createPipeline", MaxBodyBytes: definitionBody, Method: http.MethodPost, Path: "/projects/{project_id}/pipelines", Tags: tags,
		Summary: "Create a draft", DefaultStatus: http.StatusCreated,
	}, a.createPipeline, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "getPipeline", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}", Tags: tags,
		Summary: "Get a pipeline", Description: "With its draft and its live definition.",
	}, a.getPipeline)
	register(a, huma.Operation{
		OperationID: "saveDefinition", MaxBodyBytes: definitionBody, Method: http.MethodPut, Path: "/pipelines/{pipeline_id}/draft", Tags: tags,
		Summary: "Save the draft", Description: "409 when it was saved since the given revision; the message says by whom and when.",
	}, a.saveDefinition, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "validatePipeline", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/validate", Tags: tags,
		Summary: "Check the draft", Description: "Tells everything that keeps it from being published.",
	}, a.validatePipeline)
	register(a, huma.Operation{
		OperationID: "checkDefinition", MaxBodyBytes: definitionBody, Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/check", Tags: tags,
		Summary: "Check a definition", Description: "Tells everything that would keep it from being published as the next version. Saves nothing.",
	}, a.checkDefinition)
	register(a, huma.Operation{
		OperationID: "publishPipeline", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/publish", Tags: tags,
		Summary: "Publish the draft", Description: "Open tasks keep the version that they were created with.",
	}, a.publishPipeline, http.StatusConflict)
	for _, v := range []pipeline.Verb{
		pipeline.VerbPause, pipeline.VerbResume, pipeline.VerbComplete,
		pipeline.VerbReopen, pipeline.VerbArchive, pipeline.VerbUnarchive,
	} {
		register(a, huma.Operation{
			OperationID: string(v) + "Pipeline", Method: http.MethodPost, Tags: tags,
			Path:        fmt.Sprintf("/pipelines/{pipeline_id}/%s", v),
			Summary:     "Set the status: " + string(v),
			Description: "409 when the pipeline's status does not allow it now.",
		}, a.setStatus(v), http.StatusConflict)
	}
}

func (a *api) createPipeline(ctx context.Context, in *createPipelineInput) (*pipelineOutput, error) {
	def, err := pipeline.Parse(in.Body.Definition)
	if err != nil {
		return nil, fault.New(fault.Validation, "definition: %s", err)
	}
	row, err := a.Store.CreatePipeline(ctx, membership(ctx), def, in.Body.Definition)
	return &pipelineOutput{Body: newPipeline(row)}, err
}

func (a *api) getPipeline(ctx context.Context, in *InPipeline) (*pipelineDetailOutput, error) {
	m := membership(ctx)
	p, err := a.Store.PipelineDraft(ctx, m.OrgID, in.PipelineID)
	if err != nil {
		return nil, err
	}
	out := &pipelineDetailOutput{Body: PipelineDetail{
		Pipeline: newPipeline(p.PipelineRow), Draft: p.Draft, Live: json.RawMessage("null"), Layout: p.Layout, SavedAt: p.SavedAt.UTC(),
	}}
	if out.Body.SavedBy, err = a.nameOf(ctx, m.OrgID, p.SavedBy); err != nil {
		return nil, err
	}
	counts, err := a.Store.QueueCounts(ctx, m.OrgID, in.PipelineID)
	if err != nil {
		return nil, err
	}
	out.Body.Counts = newCounts(counts)
	if p.VersionID == nil {
		return out, nil
	}
	version, err := a.Store.Version(ctx, *p.VersionID)
	if err != nil {
		return nil, err
	}
	if out.Body.Live, err = json.Marshal(version.Definition); err != nil {
		return nil, fmt.Errorf("encode definition: %w", err)
	}
	return out, nil
}

// nameOf looks up one person, nil for none.
func (a *api) nameOf(ctx context.Context, orgID int64, id *int64) (*Person, error) {
	if id == nil {
		return nil, nil //nolint:nilnil // nobody is no error
	}
	who, err := a.names(ctx, orgID, []int64{*id})
	return who.maybe(id), err
}

func (a *api) saveDefinition(ctx context.Context, in *saveDefinitionInput) (*pipelineOutput, error) {
	save := store.DraftSave{Definition: in.Body.Definition, Revision: in.Body.Revision, Layout: in.Body.Layout}
	row, err := a.Store.SavePipelineDraft(ctx, membership(ctx), in.PipelineID, save)
	return &pipelineOutput{Body: newPipeline(row)}, err
}

func (a *api) validatePipeline(ctx context.Context, in *InPipeline) (*validateOutput, error) {
	p, err := a.Store.PipelineDraft(ctx, membership(ctx).OrgID, in.PipelineID)
	if err != nil {
		return nil, err
	}
	return a.check(ctx, p.PipelineRow, p.Draft)
}

func (a *api) checkDefinition(ctx context.Context, in *checkInput) (*validateOutput, error) {
	p, err := a.Store.Pipeline(ctx, membership(ctx).OrgID, in.PipelineID)
	if err != nil {
		return nil, err
	}
	return a.check(ctx, p, in.Body.Definition)
}

// check tells what keeps a definition from being the pipeline's next version.
func (a *api) check(ctx context.Context, p store.PipelineRow, definition json.RawMessage) (*validateOutput, error) {
	out := &validateOutput{}
	out.Body.Problems = []DefinitionProblem{}
	def, err := pipeline.Parse(definition)
	if err != nil {
		out.Body.Problems = append(out.Body.Problems, DefinitionProblem{Message: err.Error()})
		return out, nil //nolint:nilerr // the problem is the answer
	}
	problems := pipeline.Validate(def, a.Publish)
	published, err := a.Store.PublishedTypes(ctx, p, def)
	if err != nil {
		return nil, err
	}
	problems = append(problems, pipeline.Incompatible(published, def)...)
	for _, problem := range problems[:min(len(problems), edge.MaxProblems)] {
		out.Body.Problems = append(out.Body.Problems, DefinitionProblem(problem))
	}
	return out, nil
}

func (a *api) publishPipeline(ctx context.Context, in *publishInput) (*pipelineOutput, error) {
	var what store.Publication
	if in.Body != nil {
		what = store.Publication{Note: in.Body.Note, Revision: in.Body.Revision}
	}
	m := membership(ctx)
	row, err := a.Store.Publish(ctx, m.OrgID, in.PipelineID, m.UserID, a.Publish, what)
	return &pipelineOutput{Body: newPipeline(row)}, err
}

func (a *api) setStatus(v pipeline.Verb) func(context.Context, *InPipeline) (*pipelineOutput, error) {
	return func(ctx context.Context, in *InPipeline) (*pipelineOutput, error) {
		m := membership(ctx)
		row, err := a.Store.SetPipelineStatus(ctx, m.OrgID, in.PipelineID, m.UserID, v)
		return &pipelineOutput{Body: newPipeline(row)}, err
	}
}
