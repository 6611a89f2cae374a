package console

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// scope says what an operation is about, hence where its caller must be a
// member. The id stands in the path under the scope's parameter.
type scope string

const (
	scopeNone     scope = ""     // no session needed
	scopeSelf     scope = "self" // the caller's own things: the store asks for the caller's id
	scopeOrg      scope = "org_id"
	scopeProject  scope = "project_id"
	scopePipeline scope = "pipeline_id"
	scopeTask     scope = "task_id"
)

// permission is who may use an operation. Who is no member of the scope hears
// 404; a member whom allow refuses hears 403.
type permission struct {
	scope scope
	who   string
	allow func(store.Member) bool
}

func anyMember(store.Member) bool   { return true }
func orgAdmin(m store.Member) bool  { return m.OrgAdmin }
func mayReview(m store.Member) bool { return m.CanWork(pipeline.KindReview) }
func someAdmin(m store.Member) bool { return m.Admin() }
func anyAdmin(m store.Member) bool  { return m.OrgAdmin || m.ProjectAdmin }

var (
	anyone        = permission{scope: scopeNone, who: "everybody"}
	signedIn      = permission{scope: scopeSelf, who: "everybody who is logged in, about themselves"}
	claimHolder   = permission{scope: scopeSelf, who: "the person whose claim it is"}
	pipelineCrew  = permission{scope: scopePipeline, who: "members of the pipeline's project", allow: anyMember}
	pipelineAdmin = permission{scope: scopePipeline, who: "admins of the pipeline's project", allow: someAdmin}
	projectCrew   = permission{scope: scopeProject, who: "members of the project", allow: anyMember}
	projectAdmin  = permission{scope: scopeProject, who: "admins of the project", allow: someAdmin}
	reviewers     = permission{scope: scopePipeline, who: "reviewers and admins of the pipeline's project", allow: mayReview}
	adminOfTask   = permission{scope: scopeTask, who: "admins of the task's project", allow: someAdmin}
	keyAdmin      = permission{scope: scopeOrg, who: "admins of the organization", allow: orgAdmin}

	organizationAdmin = keyAdmin
	projectMaker      = permission{scope: scopeOrg, who: "admins of the organization or of one of its projects", allow: anyAdmin}
)

// permissions is the table: each operation and who may use it.
var permissions = map[string]permission{
	"login":        anyone,
	"logout":       anyone,
	"lookupInvite": anyone, "acceptInvite": anyone, // the token is what lets them
	"getMe": signedIn, "listProjects": signedIn,
	"getInfo": signedIn, "getSettings": signedIn, "putSetting": signedIn, "changePassword": signedIn,
	"listSessions": signedIn, "endSession": signedIn, "endOtherSessions": signedIn,

	"listOrgMembers": organizationAdmin, "setOrgRole": organizationAdmin, "removeOrgMember": organizationAdmin,
	"createInvite": organizationAdmin, "listInvites": organizationAdmin, "revokeInvite": organizationAdmin,
	"createProject": projectMaker,
	"renameProject": projectAdmin, "listProjectMembers": projectAdmin, "setProjectRole": projectAdmin, "removeProjectMember": projectAdmin,
	"createProjectInvite": projectAdmin, "listProjectInvites": projectAdmin, "revokeProjectInvite": projectAdmin,

	"claimWork":  pipelineCrew, // claimWork also asks for the role that the body names
	"listClaims": signedIn,
	"getClaim":   claimHolder, "saveDraft": claimHolder, "extendClaim": claimHolder,
	"submitClaim": claimHolder, "reviewClaim": claimHolder, "releaseClaim": claimHolder, "undoSubmission": claimHolder,

	"createFile": claimHolder, "completeFile": claimHolder,

	"listQueues":   signedIn,
	"explainQueue": pipelineCrew, // which also asks for the role that the query names
	"resetSkips":   pipelineCrew,
	"listHistory":  signedIn, "getSubmission": claimHolder, "getProgress": signedIn,

	"createPipeline": projectAdmin,
	"getPipeline":    pipelineAdmin, "getSeedExample": pipelineAdmin, "saveDefinition": pipelineAdmin, "validatePipeline": pipelineAdmin,
	"publishPipeline": pipelineAdmin, "pausePipeline": pipelineAdmin, "resumePipeline": pipelineAdmin,
	"completePipeline": pipelineAdmin, "reopenPipeline": pipelineAdmin, "archivePipeline": pipelineAdmin,
	"unarchivePipeline": pipelineAdmin,
	"getCounts":         pipelineCrew,
	"listPipelines":     projectCrew, // drafts and archived pipelines only for admins
	"duplicatePipeline": pipelineAdmin, "exportPipeline": pipelineAdmin, "checkDefinition": pipelineAdmin,
	"importPipeline": projectAdmin, "parseDefinition": projectAdmin,
	"listVersions": pipelineAdmin, "getVersion": pipelineAdmin, "restoreVersion": pipelineAdmin,
	"listReviewQueue": reviewers,

	"listPipelineTasks": pipelineAdmin, "listWaiting": pipelineAdmin,
	"getTaskDetail": adminOfTask, "escalateNode": adminOfTask, "quarantineNode": adminOfTask, "resolveNode": adminOfTask,
	"bulkTasks": pipelineAdmin, "releaseNode": adminOfTask,
	"holdTask": adminOfTask, "unholdTask": adminOfTask, "failTask": adminOfTask,

	"listUploads": pipelineAdmin, "getUploadDetail": pipelineAdmin, "cancelUpload": pipelineAdmin,

	"listKeys": keyAdmin, "createKey": keyAdmin, "setKeyExpiry": keyAdmin, "revokeKey": keyAdmin,
}

type (
	userContext   struct{}
	memberContext struct{}
)

// authorize lets a request pass when the session's user has the operation's
// permission. It runs before the body is read.
func (a *api) authorize(ctx huma.Context, next func(huma.Context)) {
	p := permissions[ctx.Operation().OperationID]
	if p.scope == scopeNone {
		next(ctx)
		return
	}
	r, _ := humachi.Unwrap(ctx)
	user, err := a.sessionUser(r)
	a.strangers.learn(ctx.Context(), a.session(r), a.Proxies.Client(r), err)
	if err != nil {
		edge.WriteHumaError(a.huma, ctx, err)
		return
	}
	ex := edge.From(ctx.Context())
	ex.Note(slog.Int64("user_id", user.ID))
	ex.Belongs("user " + strconv.FormatInt(user.ID, 10))
	ctx = huma.WithValue(ctx, userContext{}, user)
	if p.scope == scopeSelf {
		next(ctx)
		return
	}
	m, err := a.member(ctx, p.scope, user.ID)
	if err == nil && !p.allow(m) {
		err = fault.New(fault.Forbidden, "this is for %s", p.who)
	}
	if err != nil {
		edge.WriteHumaError(a.huma, ctx, err)
		return
	}
	ex.Note(slog.Int64("org_id", m.OrgID))
	next(huma.WithValue(ctx, memberContext{}, m))
}

// member finds the caller's membership where the path leads.
func (a *api) member(ctx huma.Context, s scope, userID int64) (store.Member, error) {
	id, err := strconv.ParseInt(ctx.Param(string(s)), 10, 64)
	if err != nil || id < 1 {
		return store.Member{}, fault.New(fault.NotFound, "nothing found: %s in the path is a positive integer", s)
	}
	switch s {
	case scopeOrg:
		return a.Store.MemberOfOrg(ctx.Context(), userID, id)
	case scopeProject:
		return a.Store.MemberOfProject(ctx.Context(), userID, id)
	case scopePipeline:
		return a.Store.MemberOfPipeline(ctx.Context(), userID, id)
	case scopeTask:
		return a.Store.MemberOfTask(ctx.Context(), userID, id)
	case scopeNone, scopeSelf:
	}
	panic("no membership to find in scope " + string(s))
}

// caller returns the session's user.
func caller(ctx context.Context) store.User {
	u, ok := ctx.Value(userContext{}).(store.User)
	if !ok {
		panic("a handler asked for a user that its operation does not require")
	}
	return u
}

// membership returns the caller's membership in the operation's scope.
func membership(ctx context.Context) store.Member {
	m, ok := ctx.Value(memberContext{}).(store.Member)
	if !ok {
		panic("a handler asked for a membership that its operation does not require")
	}
	return m
}
