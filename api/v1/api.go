// Package v1 is External API v1: what integrators call. The product's own word
// is pipeline; `workflow`, `workflow_id` and the paths exist on this wire only
// (docs/architecture.md, Words).
package v1

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// Prefix is where the API is mounted: the version is part of it (spec 9).
const Prefix = "/api/v1"

// Store is what the API needs of the database. Every method is scoped by the
// key's organization.
type Store interface {
	AuthenticateKey(ctx context.Context, hash [32]byte) (store.APIKey, error)
	Pipeline(ctx context.Context, orgID, pipelineID int64) (store.PipelineRow, error)
	PipelineDraft(ctx context.Context, orgID, pipelineID int64) (store.PipelineDraft, error)
	Version(ctx context.Context, versionID int64) (*pipeline.Pipeline, error)
	FindAnswer(ctx context.Context, k store.IdempotencyKey) (*store.Answer, error)
	CreateTasks(ctx context.Context, in store.CreateTasks) (store.Created, error)
	Task(ctx context.Context, orgID, pipelineID, taskID int64) (store.Task, error)
	ListTasks(ctx context.Context, orgID, pipelineID int64, q store.TaskQuery) (store.TaskPage, error)
	CreateUpload(ctx context.Context, in store.NewUpload) (store.Upload, *store.Answer, error)
	FindUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID) (store.Upload, error)
	ConfirmUpload(ctx context.Context, in store.ConfirmUpload) (store.Upload, *store.Answer, error)
	// AskedUpload notes a confirmation that the caller is to try again.
	AskedUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID) error
	UploadResult(ctx context.Context, orgID int64, id uuid.UUID) (store.UploadResult, error)
}

// Deps are what the API is made of.
type Deps struct {
	Store   Store
	Cursors cursor.Codec
	Bodies  *edge.Reader
	Uploads Uploads
	// Limits refuses what is too much; Proxies are those whose word on the
	// caller's address counts.
	Limits  *edge.Limits
	Proxies edge.Proxies
	// Gate bounds the requests that are worked on at a time; nil does not.
	Gate *edge.Gate
	// BaseURL is the public address of Prefix, for the document.
	BaseURL string
}

type api struct {
	Deps
	huma       huma.API
	operations map[string]known
}

// Error is the body of every error answer (spec section 7).
type Error struct {
	Error      string `json:"error" enum:"missing_api_key,invalid_api_key,invalid_request,unauthorized,forbidden,not_found,payload_too_large,validation_error,rate_limit_exceeded,internal_server_error,service_unavailable,api_error" doc:"Machine-readable code."`
	Message    string `json:"message" doc:"What went wrong and what to do, for people."`
	RetryAfter int    `json:"retry_after,omitempty" minimum:"1" doc:"Only with 429: seconds to wait, as in the Retry-After header."`
}

// Mount serves the API under Prefix.
func Mount(root chi.Router, d Deps) huma.API {
	a := &api{Deps: d, operations: map[string]known{}}
	root.Route(Prefix, func(r chi.Router) {
		r.Use(edge.Private("Authorization", "X-API-Key"), a.limitOpen(r))
		a.huma = humachi.New(r, config(d.BaseURL))
		a.huma.UseMiddleware(d.Bodies.ReadOn, a.refuseAgain, d.Gate.Middleware(a.huma), a.authenticate)
		a.registerHealth()
		a.registerWorkflow()
		a.registerSchema()
		a.registerCreate()
		a.registerTasks()
		a.registerUploads()
		a.learn()
		illustrate(a.huma.OpenAPI())
		edge.FinishInteractive(r, a.huma)
	})
	return a.huma
}

func config(baseURL string) huma.Config {
	c := edge.Config("Taskloom External API", "1.0.0", description)
	c.Info.License, c.Info.Contact = license, contact
	c.Servers = []*huma.Server{{URL: baseURL, Description: "This deployment, by its public address"}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "An API key: pk_live_ and 40 hexadecimal digits."},
		"apiKey": {Type: "apiKey", In: "header", Name: edge.KeyHeader, Description: "The same key, in a header of its own."},
	}
	c.Tags = []*huma.Tag{
		{Name: "Service", Description: "Is it up?"},
		{Name: "Workflows", Description: "What a workflow is and which fields its tasks take."},
		{Name: "Tasks", Description: "Create tasks and follow them."},
		{Name: "Uploads", Description: "Create tasks with files, from a ZIP archive."},
	}
	return c
}

// operation completes an operation that needs a key: all but the health check.
func (a *api) operation(op huma.Operation, codes ...int) huma.Operation {
	op.Security = []map[string][]string{{"bearer": {}}, {"apiKey": {}}}
	edge.Describe(a.huma, &op, reflect.TypeFor[Error](), append(codes, http.StatusUnauthorized, http.StatusTooManyRequests)...)
	return op
}
