package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

func (a *api) registerUndo() {
	register(a, huma.Operation{
		OperationID: "undoSubmission", Method: http.MethodPost, Path: "/claims/{claim_id}/undo", Tags: []string{"Work"},
		Summary: "Undo a submission or a verdict",
		Description: "Within a minute, while nothing that follows it was taken up or decided: the caller holds the node again, " +
			"with what they had handed in as the draft. 409 says why it is too late. Sent again it answers the same.",
	}, a.undoSubmission, http.StatusNotFound, http.StatusConflict)
}

func (a *api) undoSubmission(ctx context.Context, in *OnClaim) (*workOutput, error) {
	claim, err := a.Store.Undo(ctx, caller(ctx).ID, in.ClaimID)
	if err != nil {
		return nil, err
	}
	work, err := a.work(ctx, claim)
	return &workOutput{Status: http.StatusOK, Body: work}, err
}
