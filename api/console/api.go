// Package console is the API of the web app: people with sessions and roles.
// Every operation has a row in the table of permissions; without one the
// process does not start.
package console

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/limit"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// Prefix is where the API is mounted.
const Prefix = "/api/console"

// Store is what the API needs of the database.
type Store interface {
	accounts
	directory
	keys
	work
	pipelines
	taskAdmin
	uploads
	taskFiles
}

type accounts interface {
	UserByEmail(ctx context.Context, email string) (store.User, error)
	RenewPasswordHash(ctx context.Context, userID int64, old, renewed string) error
	CreateSession(ctx context.Context, user store.User, hash [32]byte, agent string, ttl time.Duration) error
	SessionUser(ctx context.Context, hash [32]byte) (store.User, error)
	DeleteSession(ctx context.Context, hash [32]byte) error
	Me(ctx context.Context, userID int64) (store.Me, error)
	MyOrgs(ctx context.Context, userID int64) ([]store.MyOrg, error)
	MemberOfOrg(ctx context.Context, userID, orgID int64) (store.Member, error)
	MemberOfProject(ctx context.Context, userID, projectID int64) (store.Member, error)
	MemberOfPipeline(ctx context.Context, userID, pipelineID int64) (store.Member, error)
	MemberOfTask(ctx context.Context, userID, taskID int64) (store.Member, error)
}

type keys interface {
	ListKeys(ctx context.Context, orgID int64) ([]store.APIKey, error)
	CreateKey(ctx context.Context, orgID, createdBy int64, name string, hash [32]byte, last4 string,
		expiresAt *time.Time, actor int64) (store.APIKey, error)
	SetKeyExpiry(ctx context.Context, orgID, keyID int64, expiresAt *time.Time, actor int64) (store.APIKey, error)
	RevokeKey(ctx context.Context, orgID, keyID, actor int64) (store.APIKey, error)
	Clock(ctx context.Context) (time.Time, error)
}

type work interface {
	ClaimNext(ctx context.Context, m store.Member, kind pipeline.Kind) (*store.Claim, error)
	ClaimTask(ctx context.Context, m store.Member, kind pipeline.Kind, taskID int64, node string) (*store.Claim, error)
	LiveClaim(ctx context.Context, userID int64, claimID string) (store.Claim, error)
	// MyClaims returns all that the person holds, ListClaims what a page lists of it.
	MyClaims(ctx context.Context, userID int64) ([]store.Claim, error)
	ListClaims(ctx context.Context, userID int64) ([]store.Claim, error)
	ExtendClaim(ctx context.Context, userID int64, claimID string) (store.Claim, error)
	ReleaseClaim(ctx context.Context, userID int64, claimID string, r store.Release) error
	Work(ctx context.Context, c store.Claim) (store.Work, error)
	SaveDraft(ctx context.Context, userID int64, claimID string, values form.Values, revision int64) (int64, error)
	SubmitSeen(ctx context.Context, userID int64, claimID string, values form.Values, draft *int64) (store.Submitted, error)
	Review(ctx context.Context, userID int64, claimID string, v store.Verdict) (store.Submitted, error)
	Undo(ctx context.Context, userID int64, claimID string) (store.Claim, error)
	Queues(ctx context.Context, userID int64) ([]store.Queue, error)
	ExplainQueue(ctx context.Context, m store.Member, kind pipeline.Kind) (store.QueueState, error)
	ResetSkips(ctx context.Context, m store.Member) (int, error)
	History(ctx context.Context, q store.HistoryQuery) (store.HistoryPage, error)
	Submission(ctx context.Context, userID int64, claimID string) (store.DoneDetail, error)
	Progress(ctx context.Context, userID int64, offset time.Duration) (store.Progress, error)
}

type pipelines interface {
	Version(ctx context.Context, versionID int64) (*pipeline.Pipeline, error)
	PublishedTypes(ctx context.Context, p store.PipelineRow, next pipeline.Definition) (map[string]form.Type, error)
	PipelineDraft(ctx context.Context, orgID, pipelineID int64) (store.PipelineDraft, error)
	CreatePipeline(ctx context.Context, m store.Member, def pipeline.Definition, raw json.RawMessage) (store.PipelineRow, error)
	SavePipelineDraft(ctx context.Context, m store.Member, pipelineID int64, save store.DraftSave) (store.PipelineRow, error)
	Publish(ctx context.Context, orgID, pipelineID, actor int64, opts pipeline.Options, in store.Publication) (store.PipelineRow, error)
	SetPipelineStatus(ctx context.Context, orgID, pipelineID, actor int64, verb pipeline.Verb) (store.PipelineRow, error)
	QueueCounts(ctx context.Context, orgID, pipelineID int64) (store.QueueCounts, error)
	Pipeline(ctx context.Context, orgID, pipelineID int64) (store.PipelineRow, error)
	ListPipelines(ctx context.Context, m store.Member) ([]store.PipelineOverview, error)
	DuplicatePipeline(ctx context.Context, from store.Member, pipelineID int64, to store.Member, name string) (store.PipelineRow, error)
	ImportPipeline(ctx context.Context, m store.Member, def pipeline.Definition) (store.PipelineRow, error)
	Definition(ctx context.Context, orgID, pipelineID int64, number int) (pipeline.Definition, error)
	Versions(ctx context.Context, orgID, pipelineID int64) ([]store.VersionRow, error)
	VersionByNumber(ctx context.Context, orgID, pipelineID int64, number int) (store.VersionDetail, error)
	RestoreVersion(ctx context.Context, m store.Member, pipelineID int64, number int, revision int64) (store.PipelineRow, error)
}

type taskAdmin interface {
	PeopleByID(ctx context.Context, orgID int64, ids []int64) ([]store.Person, error)
	SearchTasks(ctx context.Context, orgID, pipelineID int64, q store.TaskSearch) (store.FoundTasks, error)
	Bulk(ctx context.Context, m store.Member, taskIDs []int64, act store.BulkAction) (store.BulkResult, error)
	ReleaseNode(ctx context.Context, m store.Member, taskID int64, node string, heldBy int64, reason string) error
	ReviewQueue(ctx context.Context, m store.Member, q store.ReviewQuery) (store.ReviewPage, error)
	ClaimReviewOf(ctx context.Context, m store.Member, contributor int64) (*store.Claim, error)
	WhyWaiting(ctx context.Context, orgID, pipelineID int64, d store.TaskDetail) (store.WhyWaiting, error)
	TaskDetail(ctx context.Context, orgID, pipelineID, taskID int64) (store.TaskDetail, error)
	Waiting(ctx context.Context, orgID, pipelineID int64, status task.NodeStatus, limit int) ([]store.WaitingNode, error)
	Escalate(ctx context.Context, m store.Member, taskID int64, node, reason string) error
	Quarantine(ctx context.Context, m store.Member, taskID int64, node, reason string) error
	Resolve(ctx context.Context, m store.Member, taskID int64, node, outcome, reason string) error
	Hold(ctx context.Context, m store.Member, taskID int64, reason string) error
	Unhold(ctx context.Context, m store.Member, taskID int64, reason string) error
	FailTask(ctx context.Context, m store.Member, taskID int64, reason string) error
}

type uploads interface {
	ListUploads(ctx context.Context, orgID, pipelineID int64, limit int, after uuid.UUID) ([]store.Upload, error)
	FindUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID) (store.Upload, error)
	ShownResult(ctx context.Context, u store.Upload) (store.UploadResult, error)
	CancelUpload(ctx context.Context, orgID, pipelineID int64, id uuid.UUID, actor int64) (store.Upload, error)
	FilesByID(ctx context.Context, orgID int64, ids []uuid.UUID) ([]store.File, error)
}

// Deps are what the API is made of.
type Deps struct {
	Store   Store
	Cursors cursor.Codec
	Bodies  *edge.Reader
	// Gate bounds the requests that are worked on at a time; nil does not.
	Gate *edge.Gate
	Now  func() time.Time
	Rand io.Reader
	// PublicURL is the address at which browsers see the deployment.
	PublicURL string
	// Proxies are those whose word on the caller's address counts.
	Proxies edge.Proxies
	// Limits is where failed logins are counted for all processes; nil means
	// in this one.
	Limits *limit.Limiter
	// Objects gives links to files; nil when the deployment has no object store.
	Objects Objects
	// Publish tells what the deployment offers to pipelines.
	Publish pipeline.Options
	// About is what the web app wants to know of the deployment.
	About About
}

type api struct {
	Deps
	huma     huma.API
	cookie   cookie
	throttle *throttle
	// completions are the places for completions of files.
	completions chan struct{}
	// registered are the operations that have taken their permission.
	registered map[string]bool
	// strangers are those who call without a session.
	strangers *strangers
}

// Error is the body of every error answer.
type Error struct {
	Error    string         `json:"error" doc:"Machine-readable code, as in the External API."`
	Message  string         `json:"message" doc:"What went wrong and what to do."`
	Problems []edge.Problem `json:"problems,omitempty" doc:"The single faults of a definition, a form or a body."`

	RetryAfter int `json:"retry_after,omitempty" doc:"Only with 429: seconds to wait."`
}

// Mount serves the API under Prefix.
func Mount(root chi.Router, d Deps) huma.API {
	a := &api{
		Deps: d, cookie: newCookie(d.PublicURL), throttle: newThrottle(d.Limits), registered: map[string]bool{},
		completions: make(chan struct{}, completionsAtOnce), strangers: newStrangers(),
	}
	root.Route(Prefix, func(r chi.Router) {
		r.Use(edge.Private("Cookie"), edge.ShowProblems, sameOrigin(d.PublicURL), requireJSON, unchanged(a.cookie.name))
		a.huma = humachi.New(r, a.config())
		a.huma.UseMiddleware(a.suspect, d.Gate.Middleware(a.huma), a.authorize, a.refuseUnstorable, d.Bodies.Middleware(a.huma, storableBody))
		a.registerSession()
		a.registerMe()
		a.registerInfo()
		a.registerSessions()
		a.registerSettings()
		a.registerMembers()
		a.registerProjects()
		a.registerInvites()
		a.registerClaims()
		a.registerSubmit()
		a.registerFiles()
		a.registerUndo()
		a.registerQueues()
		a.registerHistory()
		a.registerPipelines()
		a.registerTasks()
		a.registerTaskAdmin()
		a.registerKeys()
		a.registerUploads()
		a.checkPermissions()
		edge.Finish(r, a.huma)
	})
	return a.huma
}

func (a *api) config() huma.Config {
	c := edge.Config("Taskloom console API", "1.0.0",
		"What the web app calls. Log in first; every operation says in its description who may use it.")
	c.Servers = []*huma.Server{{URL: a.PublicURL + Prefix}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"session": {Type: "apiKey", In: "cookie", Name: a.cookie.name},
	}
	return c
}

// How large bodies may be. A verb has an id or a reason to say; work is a
// form's worth of values; a definition comes in an envelope. Who has no session
// yet gets the smallest.
const (
	loginBody      = 16 << 10
	verbBody       = 64 << 10
	workBody       = form.MaxHandInBytes
	definitionBody = pipeline.MaxDefinition + verbBody
)

// register adds an operation with its row of the table of permissions.
func register[I, O any](a *api, op huma.Operation, handler func(context.Context, *I) (*O, error), codes ...int) {
	p, ok := permissions[op.OperationID]
	if !ok {
		panic("operation " + op.OperationID + " has no row in the table of permissions")
	}
	a.registered[op.OperationID] = true
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = verbBody
	}
	op.MaxBodyBytes++ // huma refuses a body of that size already
	op.Description = "For " + p.who + ". " + op.Description
	if p.scope != scopeNone {
		op.Security = []map[string][]string{{"session": {}}}
		codes = append(codes, http.StatusUnauthorized)
	}
	if p.allow != nil {
		codes = append(codes, http.StatusForbidden, http.StatusNotFound)
	}
	if op.Method == http.MethodPost || op.Method == http.MethodPut {
		codes = append(codes, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	edge.Describe(a.huma, &op, reflect.TypeFor[Error](), append(codes, http.StatusBadRequest, http.StatusUnprocessableEntity)...)
	huma.Register(a.huma, op, handler)
}

// checkPermissions keeps the table from outliving its operations.
func (a *api) checkPermissions() {
	for id := range permissions {
		if !a.registered[id] {
			panic("the table of permissions has a row for " + id + ", which is no operation")
		}
	}
}
