package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// QueuedReview is a review that waits for a verdict.
type QueuedReview struct {
	TaskID      int64     `json:"task_id"`
	Node        string    `json:"node"`
	Title       string    `json:"title"`
	Since       time.Time `json:"since" doc:"When it came to where it is."`
	Iteration   int       `json:"iteration"`
	Contributor *Person   `json:"contributor" doc:"Who did the reviewed work; null when nobody did."`
	Claimed     bool      `json:"claimed" doc:"Somebody holds it, or it is kept for somebody."`
	Mine        bool      `json:"mine" doc:"That somebody is the caller."`
}

type reviewQueueInput struct {
	InPipeline
	Order       string `query:"order" enum:"age,contributor" default:"age" doc:"age: what waits longest comes first. contributor: by who did the work."`
	Contributor int64  `query:"contributor" minimum:"0" doc:"Only the work of this person; 0 for all."`
	Limit       int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor      string `query:"cursor" maxLength:"400" doc:"next_cursor of the page before."`
}

type reviewQueueOutput struct {
	Body struct {
		Reviews    []QueuedReview `json:"reviews"`
		NextCursor *string        `json:"next_cursor"`
		HasMore    bool           `json:"has_more"`
	} `nameHint:"ReviewQueue"`
}

func (a *api) registerReviews() {
	register(a, huma.Operation{
		OperationID: "listReviewQueue", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/reviews", Tags: []string{"Work"},
		Summary:     "List the reviews that wait",
		Description: "Those that the caller may claim, and those that are taken. Left out: tasks on hold, and the caller's own work where somebody else must look at it.",
	}, a.listReviewQueue)
}

func (a *api) listReviewQueue(ctx context.Context, in *reviewQueueInput) (*reviewQueueOutput, error) {
	m := membership(ctx)
	query := store.ReviewQuery{ByContributor: in.Order == "contributor", Contributor: in.Contributor, Limit: in.Limit}
	position := positions{codec: a.Cursors, org: m.OrgID, pipeline: in.PipelineID, filter: query.Filter()}
	if in.Cursor != "" {
		if err := position.decode(in.Cursor, &query.After); err != nil {
			return nil, fault.New(fault.InvalidRequest, "cursor does not belong to this list: send the next_cursor of the page before "+
				"with the same order and contributor, or leave it out to start over").Because(err)
		}
	}
	page, err := a.Store.ReviewQueue(ctx, m, query)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, r := range page.Reviews {
		if r.Contributor != 0 {
			ids = append(ids, r.Contributor)
		}
	}
	who, err := a.names(ctx, m.OrgID, ids)
	if err != nil {
		return nil, err
	}
	out := &reviewQueueOutput{}
	out.Body.Reviews = make([]QueuedReview, len(page.Reviews))
	for i, r := range page.Reviews {
		out.Body.Reviews[i] = QueuedReview{
			TaskID: r.TaskID, Node: r.Node, Title: r.Title, Since: r.Since.UTC(), Iteration: r.Iteration,
			Contributor: who.maybe(&r.Contributor), Claimed: r.With != 0, Mine: r.With == m.UserID,
		}
	}
	if page.Next != nil {
		next, err := position.encode(page.Next.TaskID, page.Next)
		if err != nil {
			return nil, err
		}
		out.Body.NextCursor, out.Body.HasMore = &next, true
	}
	return out, nil
}
