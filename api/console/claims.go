package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// InPipeline is embedded by every operation on a pipeline.
type InPipeline struct {
	PipelineID int64 `path:"pipeline_id" minimum:"1"`
}

// OnClaim is embedded by every operation on a claim.
type OnClaim struct {
	ClaimID string `path:"claim_id" maxLength:"64"`
}

type claimInput struct {
	InPipeline
	Body struct {
		Role   string `json:"role" enum:"contributor,reviewer" doc:"contributor claims a subtask, reviewer a review."`
		TaskID int64  `json:"task_id,omitempty" minimum:"1" doc:"Claim a node of this task; with node. Without, the next one of the queue."`
		Node   string `json:"node,omitempty" maxLength:"64"`

		Contributor int64 `json:"contributor,omitempty" minimum:"1" doc:"With role reviewer and no task_id: the next review of this person's work."`
	} `nameHint:"ClaimRequest"`
}

type workOutput struct {
	Status int
	Body   *Work
}

// Claim is a claim without its content.
type Claim struct {
	ClaimID        string    `json:"claim_id"`
	PipelineID     int64     `json:"pipeline_id"`
	TaskID         int64     `json:"task_id"`
	Node           string    `json:"node"`
	Kind           string    `json:"kind" enum:"subtask,review"`
	Iteration      int       `json:"iteration"`
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
}

type claimsOutput struct {
	Body struct {
		Claims []Claim `json:"claims" doc:"The one that runs out first comes first."`
	} `nameHint:"ClaimList"`
}

type extendOutput struct {
	Body struct {
		LeaseExpiresAt time.Time `json:"lease_expires_at"`
	} `nameHint:"Lease"`
}

type releaseInput struct {
	OnClaim
	Reason string `query:"reason" maxLength:"1000" doc:"Why, for the task's timeline."`
	Skip   bool   `query:"skip" doc:"Do not serve this node to the caller again, until they bring skipped work back; they may still claim it by name."`
}

func (a *api) registerClaims() {
	register(a, huma.Operation{
		OperationID: "claimWork", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/claim", Tags: []string{"Work"},
		Summary:     "Claim work",
		Description: "Reserves a node for the caller until the lease ends. 204 when nothing is free for them.",
		Responses:   map[string]*huma.Response{"204": {Description: "The queue holds nothing for the caller."}},
	}, a.claimWork, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "listClaims", Method: http.MethodGet, Path: "/claims", Tags: []string{"Work"},
		Summary: "List my claims", Description: "What the caller holds now, in all projects.",
	}, a.listClaims)
	register(a, huma.Operation{
		OperationID: "getClaim", Method: http.MethodGet, Path: "/claims/{claim_id}", Tags: []string{"Work"},
		Summary: "Get a claim", Description: "The form, its values and the draft.",
	}, a.getClaim, http.StatusNotFound, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "extendClaim", Method: http.MethodPost, Path: "/claims/{claim_id}/extend", Tags: []string{"Work"},
		Summary: "Extend a claim", Description: "A full lease from now.",
	}, a.extendClaim, http.StatusNotFound, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "releaseClaim", Method: http.MethodDelete, Path: "/claims/{claim_id}", Tags: []string{"Work"},
		Summary: "Release a claim", Description: "The node goes back to the queue; the draft stays.",
	}, a.releaseClaim, http.StatusNotFound, http.StatusConflict)
}

// kinds of nodes by the role that works on them.
var kinds = map[string]pipeline.Kind{"contributor": pipeline.KindSubtask, "reviewer": pipeline.KindReview}

// roles are the roles that work on a kind of node: kinds the other way round.
var roles = map[pipeline.Kind]string{pipeline.KindSubtask: "contributor", pipeline.KindReview: "reviewer"}

func (a *api) claimWork(ctx context.Context, in *claimInput) (*workOutput, error) {
	m, kind := membership(ctx), kinds[in.Body.Role]
	if !m.CanWork(kind) {
		return nil, fault.New(fault.Forbidden, "your role in this project does not let you work as a %s", in.Body.Role)
	}
	if (in.Body.TaskID == 0) != (in.Body.Node == "") {
		return nil, fault.New(fault.Validation, "task_id and node go together; leave both out for the next task of the queue")
	}
	if in.Body.Contributor != 0 && (kind != pipeline.KindReview || in.Body.TaskID != 0) {
		return nil, fault.New(fault.Validation, "contributor goes with role reviewer and without task_id: it asks for the next review of that person's work")
	}
	var claim *store.Claim
	var err error
	switch {
	case in.Body.Contributor != 0:
		claim, err = a.Store.ClaimReviewOf(ctx, m, in.Body.Contributor)
	case in.Body.TaskID != 0:
		claim, err = a.Store.ClaimTask(ctx, m, kind, in.Body.TaskID, in.Body.Node)
	default:
		claim, err = a.Store.ClaimNext(ctx, m, kind)
	}
	if err != nil {
		return nil, err
	}
	if claim == nil {
		return &workOutput{Status: http.StatusNoContent}, nil
	}
	work, err := a.work(ctx, *claim)
	return &workOutput{Status: http.StatusOK, Body: work}, err
}

func (a *api) listClaims(ctx context.Context, _ *struct{}) (*claimsOutput, error) {
	claims, err := a.Store.ListClaims(ctx, caller(ctx).ID)
	if err != nil {
		return nil, err
	}
	out := &claimsOutput{}
	out.Body.Claims = make([]Claim, len(claims))
	for i, c := range claims {
		out.Body.Claims[i] = newClaim(c)
	}
	return out, nil
}

func newClaim(c store.Claim) Claim {
	return Claim{
		ClaimID: c.ID, PipelineID: c.PipelineID, TaskID: c.TaskID, Node: c.Node, Kind: string(c.Kind),
		Iteration: c.Iteration, LeaseExpiresAt: c.LeaseExpiresAt.UTC(),
	}
}

func (a *api) getClaim(ctx context.Context, in *OnClaim) (*workOutput, error) {
	claim, err := a.Store.LiveClaim(ctx, caller(ctx).ID, in.ClaimID)
	if err != nil {
		return nil, err
	}
	work, err := a.work(ctx, claim)
	return &workOutput{Status: http.StatusOK, Body: work}, err
}

func (a *api) extendClaim(ctx context.Context, in *OnClaim) (*extendOutput, error) {
	claim, err := a.Store.ExtendClaim(ctx, caller(ctx).ID, in.ClaimID)
	if err != nil {
		return nil, err
	}
	out := &extendOutput{}
	out.Body.LeaseExpiresAt = claim.LeaseExpiresAt.UTC()
	return out, nil
}

func (a *api) releaseClaim(ctx context.Context, in *releaseInput) (*struct{}, error) {
	return nil, a.Store.ReleaseClaim(ctx, caller(ctx).ID, in.ClaimID, store.Release{Reason: in.Reason, Skip: in.Skip})
}
