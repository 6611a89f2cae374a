package console

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/apply"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// importBody bounds a document of an import: the text in its JSON envelope,
// where every character may be escaped.
const (
	maxDocument = 2 << 20
	importBody  = 3*maxDocument + verbBody
)

type duplicateInput struct {
	InPipeline
	Body *struct {
		Name      string `json:"name,omitempty" maxLength:"200" doc:"Without: the name of the original with (copy)."`
		ProjectID int64  `json:"project_id,omitempty" minimum:"1" doc:"Without: the project of the original. The caller must be its admin."`
	} `nameHint:"DuplicateRequest"`
}

type exportInput struct {
	InPipeline
	Version int `query:"version" minimum:"0" doc:"Number of a published version; 0 or absent for the draft."`
}

type exportOutput struct {
	Body struct {
		Filename string `json:"filename"`
		Document string `json:"document" doc:"YAML, as it stands under definition: in a document of taskloom apply."`
	} `nameHint:"ExportedPipeline"`
}

type importInput struct {
	InProject
	Body struct {
		Document string `json:"document" doc:"YAML or JSON of at most 2 MiB: a definition, or a document of taskloom apply with one pipeline."`
	} `nameHint:"ImportRequest"`
}

type parseOutput struct {
	Body struct {
		Definition json.RawMessage `json:"definition"`
	} `nameHint:"ParsedDefinition"`
}

func (a *api) registerPipelineCopy() {
	tags := []string{"Pipelines"}
	register(a, huma.Operation{
		OperationID: "duplicatePipeline", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/duplicate", Tags: tags,
		Summary: "Copy a pipeline", Description: "The copy is a draft with the original's draft. A name that is taken gets a number.",
		DefaultStatus: http.StatusCreated,
	}, a.duplicatePipeline, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "exportPipeline", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/export", Tags: tags,
		Summary: "Export a definition", Description: "As YAML that importPipeline and taskloom apply take.",
	}, a.exportPipeline)
	register(a, huma.Operation{
		OperationID: "importPipeline", MaxBodyBytes: importBody, Method: http.MethodPost, Path: "/projects/{project_id}/import", Tags: tags,
		Summary: "Create a draft from a document", Description: "A name that is taken gets a number. Problems name the line.",
		DefaultStatus: http.StatusCreated,
	}, a.importPipeline, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "parseDefinition", MaxBodyBytes: importBody, Method: http.MethodPost, Path: "/projects/{project_id}/parse", Tags: tags,
		Summary: "Read a definition from YAML or JSON", Description: "Saves nothing. Problems name the line.",
	}, a.parseDefinition)
}

func (a *api) duplicatePipeline(ctx context.Context, in *duplicateInput) (*pipelineOutput, error) {
	from := membership(ctx)
	to, name := from, ""
	if in.Body != nil {
		name = in.Body.Name
		if in.Body.ProjectID != 0 {
			m, err := a.Store.MemberOfProject(ctx, from.UserID, in.Body.ProjectID)
			if err != nil {
				return nil, err
			}
			if !m.Admin() {
				return nil, fault.New(fault.Forbidden, "only admins of project %d can put a pipeline there", in.Body.ProjectID)
			}
			to = m
		}
	}
	row, err := a.Store.DuplicatePipeline(ctx, from, in.PipelineID, to, name)
	return &pipelineOutput{Body: newPipeline(row)}, err
}

func (a *api) exportPipeline(ctx context.Context, in *exportInput) (*exportOutput, error) {
	def, err := a.Store.Definition(ctx, membership(ctx).OrgID, in.PipelineID, in.Version)
	if err != nil {
		return nil, err
	}
	doc, err := apply.WriteDefinition(def)
	if err != nil {
		return nil, err
	}
	out := &exportOutput{}
	out.Body.Filename, out.Body.Document = apply.Filename(def.Name, in.Version), string(doc)
	return out, nil
}

func (a *api) importPipeline(ctx context.Context, in *importInput) (*pipelineOutput, error) {
	def, err := readDocument(in.Body.Document)
	if err != nil {
		return nil, err
	}
	row, err := a.Store.ImportPipeline(ctx, membership(ctx), def)
	return &pipelineOutput{Body: newPipeline(row)}, err
}

func (a *api) parseDefinition(_ context.Context, in *importInput) (*parseOutput, error) {
	def, err := readDocument(in.Body.Document)
	if err != nil {
		return nil, err
	}
	out := &parseOutput{}
	out.Body.Definition, err = json.Marshal(def)
	return out, err
}

// readDocument reads the text of an import.
func readDocument(text string) (pipeline.Definition, error) {
	if len(text) > maxDocument {
		return pipeline.Definition{}, fault.New(fault.PayloadTooLarge, "the document has %d bytes; at most %d are allowed", len(text), maxDocument)
	}
	return apply.ReadDefinition([]byte(text))
}
