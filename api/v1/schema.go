package v1

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Field describes one field that is given when a task is created (spec
// section 2, field schema entry).
type Field struct {
	Name        string `json:"name" doc:"The key to use inside fields."`
	Title       string `json:"title" doc:"The label that people see; never a key."`
	Type        string `json:"type" doc:"The field type, such as short_text or select."`
	Required    bool   `json:"required" doc:"Whether an item without it is refused."`
	Description string `json:"description" doc:"What people are told about it; may be empty."`
	FormatHint  any    `json:"format_hint" doc:"A list of texts exactly when the set of values is closed, else a short text."`
	JSONSchema  any    `json:"json_schema" doc:"A JSON Schema 2020-12 fragment for a value that is not null."`
	Example     any    `json:"example" doc:"A value that is accepted; null when the rules leave none to find."`
}

// Schema is the answer of the schema endpoint.
type Schema struct {
	Fields                  []Field `json:"fields" doc:"In the order of the form."`
	HasFileUploadFields     bool    `json:"has_file_upload_fields" doc:"Tasks must then be created by ZIP upload."`
	HasOnlyFileUploadFields bool    `json:"has_only_file_upload_fields" doc:"A ZIP upload may then omit tasks."`
}

type schemaOutput struct{ Body Schema }

func (a *api) registerSchema() {
	huma.Register(a.huma, a.operation(huma.Operation{
		OperationID: "getWorkflowSchema", Method: http.MethodGet, Path: "/workflows/{workflow_id}/schema", Tags: []string{"Workflows"},
		Summary: "Get the fields of a workflow's tasks",
		Description: "The fields that can be given when a task is created. " +
			"For a workflow that was never published these are the fields of its draft, which may still change.",
	}, http.StatusNotFound, http.StatusUnprocessableEntity), a.getSchema)
}

func (a *api) getSchema(ctx context.Context, in *InWorkflow) (*schemaOutput, error) {
	p, err := a.workflow(ctx, in.WorkflowID)
	if err != nil {
		return nil, err
	}
	seed, err := a.seedForm(ctx, p)
	if err != nil {
		return nil, err
	}
	out := Schema{
		Fields: []Field{}, HasFileUploadFields: seed.HasFileUpload(), HasOnlyFileUploadFields: seed.OnlyFileUpload(),
	}
	fields := seed.Fields()
	for _, e := range seed.Schema() {
		f := Field{
			Name: e.Name, Title: e.Title, Type: e.Type, Required: e.Required, Description: e.Description,
			FormatHint: e.FormatHint, JSONSchema: e.JSONSchema, Example: e.Example,
		}
		if at := slices.IndexFunc(fields, func(f form.Field) bool { return f.Name == e.Name }); fields[at].Type == form.FileUpload {
			asPath(&f, fields[at])
		}
		out.Fields = append(out.Fields, f)
	}
	return &schemaOutput{Body: out}, nil
}

// seedForm returns the form of what callers give at creation: that of the
// published version, or of the draft of a workflow that has none.
func (a *api) seedForm(ctx context.Context, p store.PipelineRow) (*form.Form, error) {
	if p.VersionID != nil {
		v, err := a.Store.Version(ctx, *p.VersionID)
		if err != nil {
			return nil, err
		}
		return v.Seed, nil
	}
	draft, err := a.Store.PipelineDraft(ctx, p.OrgID, p.ID)
	if err != nil {
		return nil, absent(err, "workflow %d not found", p.ID)
	}
	def, err := pipeline.Parse(draft.Draft)
	if err != nil {
		return nil, fault.New(fault.Validation,
			"workflow %d is %s and its draft is not complete; it has a schema once it is published", p.ID, p.Status).Because(err)
	}
	return form.New(fieldsOf(def)), nil
}

// fieldsOf lists the fields of all subtasks. A draft may break any rule of the
// graph, so it is not compiled.
func fieldsOf(def pipeline.Definition) []form.Field {
	var all []form.Field
	for _, n := range def.Nodes {
		if n.Kind == pipeline.KindSubtask {
			all = append(all, n.Fields...)
		}
	}
	return all
}
