package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/seeding"
	"github.com/taskloom/taskloom/internal/store"
)

// Result is the outcome of a creation (spec section 2).
type Result struct {
	SuccessCount int                 `json:"success_count" minimum:"0" maximum:"5000" doc:"Tasks created."`
	ErrorCount   int                 `json:"error_count" minimum:"0" maximum:"5000" doc:"Items that became no task."`
	Errors       []seeding.ItemError `json:"errors" maxItems:"10000" doc:"At least one and at most 21 for each item that failed, 10,000 in all; error_count counts all items. Ordered by index, then by field name; field_name is empty when an item as a whole is meant."`
	TaskIDs      []int64             `json:"task_ids" maxItems:"5000" doc:"Ids of the created tasks, in the order of their items."`
}

// FailedResult is the answer when every item failed: an error that carries the
// result too.
type FailedResult struct {
	Error   string `json:"error" enum:"validation_error" doc:"Machine-readable code."`
	Message string `json:"message" doc:"How many failed, and the first error."`
	Result
}

type createInput struct {
	InWorkflow
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"257" doc:"Makes retries safe: for 24 hours the same key with the same body gets the first success again. It belongs to the API key and the path: before repeating a call with another API key, list the newest tasks. At most 255 printable ASCII characters, bare or in double quotes."`
	Payload        edge.Payload
}

// createOutput carries an encoded body: a replayed answer comes from the
// database.
type createOutput struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Replayed    string `header:"Idempotent-Replayed"`
	Body        []byte
}

func (a *api) registerCreate() {
	schemas := a.huma.OpenAPI().Components.Schemas
	op := a.operation(huma.Operation{
		OperationID: "createTasks", Method: http.MethodPost, Path: "/workflows/{workflow_id}/tasks", Tags: []string{"Tasks"},
		Summary: "Create tasks",
		Description: "Creates 1 to 5,000 tasks in one transaction, from a body of up to 32 MB. Items are checked one by one: the answer is 200 when at least one " +
			"task was created, so look at error_count. When every item fails the answer is 422 and carries the same result fields. " +
			"A key that fields has twice is an error of that item; an unknown property outside of fields refuses the request.",
		SkipValidateParams: true,
		Responses: map[string]*huma.Response{"200": {
			Description: "At least one task was created.",
			Content: map[string]*huma.MediaType{"application/json": {
				Schema: schemas.Schema(reflect.TypeFor[Result](), true, "Result"),
			}},
		}},
	}, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	refused := op.Responses["422"].Content["application/json"]
	refused.Schema = &huma.Schema{AnyOf: []*huma.Schema{
		refused.Schema, schemas.Schema(reflect.TypeFor[FailedResult](), true, "FailedResult"),
	}}
	huma.Register(a.huma, op, a.createTasks)
	// Described only now: huma reads the body of an operation that has one when
	// it is registered, and would parse 32 MB twice.
	a.huma.OpenAPI().Paths[op.Path].Post.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{"application/json": {
			Schema:  schemas.Schema(reflect.TypeFor[createRequest](), true, "CreateTasks"),
			Example: map[string]any{"tasks": []any{map[string]any{"fields": map[string]any{"question": "What is 6 x 7?"}}}},
		}},
	}
}

func (a *api) createTasks(ctx context.Context, in *createInput) (*createOutput, error) {
	if in.WorkflowID < 1 {
		return nil, fault.New(fault.NotFound, "workflow %d not found", in.WorkflowID)
	}
	p, err := a.workflow(ctx, in.WorkflowID)
	if err != nil {
		return nil, err
	}
	body, err := in.Payload.Read(a.Bodies, edge.MaxBody)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	route := fmt.Sprintf("POST %s/workflows/%d/tasks", Prefix, p.ID)
	key, err := idempotency(in.Payload.Header(idempotencyHeader), caller(ctx), route, body.Bytes)
	if err != nil {
		return nil, err
	}
	if key != nil {
		earlier, err := a.Store.FindAnswer(ctx, *key)
		if err != nil || earlier != nil {
			return replay(earlier), err
		}
	}
	return a.create(ctx, p, body.Bytes, key)
}

// attempts bounds how often a batch is checked again because the workflow was
// published meanwhile.
const attempts = 3

// create checks and stores a batch. Publishing a new version in between makes
// it check again, against that one.
func (a *api) create(ctx context.Context, p store.PipelineRow, body []byte, key *store.IdempotencyKey) (*createOutput, error) {
	for range attempts {
		version, err := a.creatable(ctx, p)
		if err != nil {
			return nil, err
		}
		items, err := decodeBatch(body, version.Seed.Seeds)
		if err != nil {
			return nil, err
		}
		rows, itemErrors := seeding.Rows(version, items, seeding.Budget(items))
		if len(rows) == 0 {
			return refuseAll(len(items), itemErrors)
		}
		out, err := a.insert(ctx, p, rows, len(items)-len(rows), itemErrors, key)
		if !errors.Is(err, store.ErrVersionChanged) {
			return out, absent(err, "workflow %d not found", p.ID)
		}
		if p, err = a.workflow(ctx, p.ID); err != nil {
			return nil, err
		}
	}
	return nil, fault.New(fault.Unavailable, "workflow %d is being published over and over; try again", p.ID)
}

// creatable returns the version that new tasks get, or why the workflow takes
// none by this endpoint (spec 4.1.2 and 4.1.3).
func (a *api) creatable(ctx context.Context, p store.PipelineRow) (*pipeline.Pipeline, error) {
	if !pipeline.AcceptsTasks(p.Status) || p.VersionID == nil {
		return nil, store.NotAccepting(p.Status)
	}
	version, err := a.Store.Version(ctx, *p.VersionID)
	if err != nil {
		return nil, err
	}
	if version.Seed.HasFileUpload() {
		return nil, fault.New(fault.Validation,
			"workflow %d has file upload fields (has_file_upload_fields); create its tasks by ZIP upload", p.ID)
	}
	return version, nil
}

// maybeCreated is told instead of "try again" when the answer to COMMIT is lost
// and no key lets a repetition find out.
const maybeCreated = "it is not known whether the tasks were created: the database did not answer in the end. " +
	"List the newest tasks before you repeat this, or they may be there twice; with an Idempotency-Key a creation can be repeated as it is"

func (a *api) insert(ctx context.Context, p store.PipelineRow, rows []seeding.Row, failed int,
	itemErrors []seeding.ItemError, key *store.IdempotencyKey,
) (*createOutput, error) {
	in := store.CreateTasks{
		OrgID: p.OrgID, PipelineID: p.ID, VersionID: *p.VersionID, Actor: caller(ctx).CreatedBy, KeyID: caller(ctx).ID,
		Tasks: make([]store.NewTask, len(rows)), Idempotency: key,
	}
	for i, row := range rows {
		in.Tasks[i] = store.NewTask{Input: row.Input, State: row.State}
	}
	result := func(ids []int64) []byte {
		return encode(Result{SuccessCount: len(ids), ErrorCount: failed, Errors: notNil(itemErrors), TaskIDs: ids})
	}
	in.Answer = func(ids []int64) (int, []byte) { return http.StatusOK, result(ids) }
	created, err := a.Store.CreateTasks(ctx, in)
	if key == nil && errors.Is(err, store.ErrUncertain) && !errors.Is(err, context.Canceled) {
		return nil, edge.Unsure(err, maybeCreated)
	}
	if err != nil || created.Replay != nil {
		return replay(created.Replay), err
	}
	return jsonOutput(http.StatusOK, result(created.IDs)), nil
}

// refuseAll answers for a batch without a single good item.
func refuseAll(items int, itemErrors []seeding.ItemError) (*createOutput, error) {
	return jsonOutput(http.StatusUnprocessableEntity, encode(FailedResult{
		Error:   string(fault.Validation),
		Message: fmt.Sprintf("none of the %d tasks could be created: every one has an error, the first is: %s", items, first(itemErrors)),
		Result:  Result{ErrorCount: items, Errors: notNil(itemErrors), TaskIDs: []int64{}},
	})), nil
}

func first(itemErrors []seeding.ItemError) string {
	if len(itemErrors) == 0 {
		return "unknown"
	}
	return fmt.Sprintf("tasks[%d]: %s", itemErrors[0].Index, itemErrors[0].Message)
}

func notNil(itemErrors []seeding.ItemError) []seeding.ItemError {
	if itemErrors == nil {
		return []seeding.ItemError{}
	}
	return itemErrors
}

func jsonOutput(status int, body []byte) *createOutput {
	return &createOutput{Status: status, ContentType: "application/json", Body: body}
}

// replay answers with a stored first answer, byte for byte; nil without one.
func replay(earlier *store.Answer) *createOutput {
	if earlier == nil {
		return nil
	}
	out := jsonOutput(earlier.Status, earlier.Body)
	out.Replayed = "true"
	return out
}

// encode writes an answer; its types hold nothing that JSON cannot. Addresses
// in it stay readable: "&" is not escaped as for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Errorf("encode answer: %w", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
