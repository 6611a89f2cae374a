package console

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

type draftInput struct {
	OnClaim
	Body struct {
		Values   form.Values `json:"values"`
		Revision int64       `json:"revision" minimum:"0" doc:"The last one seen; 0 for none."`
	} `nameHint:"DraftRequest"`
}

type draftOutput struct {
	Body struct {
		Revision int64 `json:"revision"`
	} `nameHint:"DraftSaved"`
}

// AndNext is embedded by operations that can answer with the next claim.
type AndNext struct {
	Next bool `query:"next" doc:"Claim the next node of the same kind in the same pipeline, too."`
}

// SeenDraft is embedded by bodies that hand in: a draft that their sender has not seen
// would be gone with it.
type SeenDraft struct {
	Revision *int64 `json:"draft_revision,omitempty" minimum:"0" doc:"The revision of the caller's draft that was seen last, 0 for none: 409, and nothing is changed, when another one is stored. Without it, whatever is stored gives way."`
}

type submitInput struct {
	OnClaim
	AndNext
	Body struct {
		Values form.Values `json:"values"`
		SeenDraft
	} `nameHint:"SubmitRequest"`
}

type reviewInput struct {
	OnClaim
	AndNext
	Body struct {
		Verdict  string      `json:"verdict" enum:"approve,reject,escalate"`
		Values   form.Values `json:"values,omitempty" doc:"With approve: the reviewer's corrections of fields under review."`
		Comments []Remark    `json:"comments,omitempty" maxItems:"200"`
		Nodes    []string    `json:"nodes,omitempty" maxItems:"200" doc:"With reject: the subtasks to return. Without, those with comments; without comments, all."`
		SeenDraft
	} `nameHint:"ReviewRequest"`
}

// Remark is a comment that a reviewer gives.
type Remark struct {
	Field string `json:"field,omitempty" doc:"The field that it is about; empty for the work as a whole."`
	Text  string `json:"text,omitempty" maxLength:"4000" doc:"May be empty where verdict says it all."`

	Verdict string `json:"verdict,omitempty" enum:"ok,wrong" doc:"Whether the field's answer is right; only with a field."`
}

// Submitted is the receipt for handed-in work.
type Submitted struct {
	ClaimID   string     `json:"claim_id" doc:"The claim under which it was handed in: what undo takes."`
	TaskID    int64      `json:"task_id"`
	Node      string     `json:"node"`
	UndoUntil *time.Time `json:"undo_until" doc:"Until when it can be undone, unless somebody takes up what follows; null when it cannot."`
	Next      *Work      `json:"next" doc:"The next claim when it was asked for and there is one, else null."`
}

type submittedOutput struct{ Body Submitted }

func (a *api) registerSubmit() {
	register(a, huma.Operation{
		OperationID: "saveDraft", MaxBodyBytes: workBody, Method: http.MethodPut, Path: "/claims/{claim_id}/draft", Tags: []string{"Work"},
		Summary: "Save a draft", Description: "409 when it was saved elsewhere since the given revision.",
	}, a.saveDraft, http.StatusNotFound, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "submitClaim", MaxBodyBytes: workBody, Method: http.MethodPost, Path: "/claims/{claim_id}/submit", Tags: []string{"Work"},
		Summary:     "Submit a subtask",
		Description: "Sent again it answers the same. 409 when the claim is lost; the values are then kept as the draft. 409, too, when the draft was saved elsewhere since draft_revision; then nothing is changed.",
	}, a.submitClaim, http.StatusNotFound, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "reviewClaim", MaxBodyBytes: workBody, Method: http.MethodPost, Path: "/claims/{claim_id}/review", Tags: []string{"Work"},
		Summary:     "Give a review's verdict",
		Description: "Sent again it answers the same. 409 when the claim is lost. 409, too, when the draft was saved elsewhere since draft_revision, or, to an approval, when another review corrected a field of this one since the claim was made, which whoever releases and claims the review again is shown; then nothing is changed.",
	}, a.reviewClaim, http.StatusNotFound, http.StatusConflict)
}

func (a *api) saveDraft(ctx context.Context, in *draftInput) (*draftOutput, error) {
	revision, err := a.Store.SaveDraft(ctx, caller(ctx).ID, in.ClaimID, notNil(in.Body.Values), in.Body.Revision)
	if err != nil {
		return nil, err
	}
	out := &draftOutput{}
	out.Body.Revision = revision
	return out, nil
}

func (a *api) submitClaim(ctx context.Context, in *submitInput) (*submittedOutput, error) {
	done, err := a.Store.SubmitSeen(ctx, caller(ctx).ID, in.ClaimID, notNil(in.Body.Values), in.Body.SeenDraft.Revision)
	if err != nil {
		return nil, err
	}
	return a.receipt(ctx, done, in.AndNext, pipeline.KindSubtask)
}

func (a *api) reviewClaim(ctx context.Context, in *reviewInput) (*submittedOutput, error) {
	v := store.Verdict{Verdict: in.Body.Verdict, Values: notNil(in.Body.Values), Nodes: in.Body.Nodes, DraftRevision: in.Body.SeenDraft.Revision}
	for _, c := range in.Body.Comments {
		v.Comments = append(v.Comments, store.Comment{Field: c.Field, Text: c.Text, Verdict: c.Verdict})
	}
	done, err := a.Store.Review(ctx, caller(ctx).ID, in.ClaimID, v)
	if err != nil {
		return nil, err
	}
	return a.receipt(ctx, done, in.AndNext, pipeline.KindReview)
}

// receipt confirms what was handed in, with the next claim when it was asked
// for. That there is none, or that getting it fails, never turns a submission
// that is stored into an error.
func (a *api) receipt(ctx context.Context, done store.Submitted, and AndNext, kind pipeline.Kind) (*submittedOutput, error) {
	out := &submittedOutput{Body: Submitted{
		ClaimID: done.ClaimID, TaskID: done.TaskID, Node: done.Node, UndoUntil: utc(done.UndoUntil),
	}}
	if !and.Next {
		return out, nil
	}
	next, err := a.next(ctx, done, kind)
	if err != nil && !fault.Is(err, fault.Conflict) {
		edge.From(ctx).Note(slog.String("next_claim_error", err.Error()))
	}
	out.Body.Next = next
	return out, nil
}

// next claims in the pipeline of the task, nil when nothing is free.
func (a *api) next(ctx context.Context, done store.Submitted, kind pipeline.Kind) (*Work, error) {
	m, err := a.Store.MemberOfTask(ctx, caller(ctx).ID, done.TaskID)
	if err != nil || !m.CanWork(kind) {
		return nil, err
	}
	if done.Repeated {
		if held, err := a.held(ctx, m, kind); held != nil || err != nil {
			return held, err
		}
	}
	claim, err := a.Store.ClaimNext(ctx, m, kind)
	if err != nil || claim == nil {
		return nil, err
	}
	return a.work(ctx, *claim)
}

// held is what the person has claimed in the pipeline already: a repeated
// submission answers with that, and claims nothing more.
func (a *api) held(ctx context.Context, m store.Member, kind pipeline.Kind) (*Work, error) {
	claims, err := a.Store.MyClaims(ctx, m.UserID)
	if err != nil {
		return nil, err
	}
	for _, c := range claims {
		if c.PipelineID == m.PipelineID && c.Kind == kind {
			return a.work(ctx, c)
		}
	}
	return nil, nil //nolint:nilnil // nothing held is no error
}
