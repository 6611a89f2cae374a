package console

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
)

// Done is something that the caller handed in, with what became of it.
type Done struct {
	ClaimID    string     `json:"claim_id"`
	TaskID     int64      `json:"task_id"`
	OrgID      int64      `json:"org_id"`
	PipelineID int64      `json:"pipeline_id"`
	Pipeline   string     `json:"pipeline"`
	Node       string     `json:"node"`
	Title      string     `json:"title" doc:"Title of the node."`
	Kind       string     `json:"kind" enum:"subtask,review"`
	Iteration  int        `json:"iteration"`
	Verdict    string     `json:"verdict" enum:",approve,reject,escalate" doc:"Of a review; empty for a subtask."`
	At         time.Time  `json:"at"`
	Outcome    string     `json:"outcome" enum:"waiting,accepted,fixed,returned,finished,undone,escalated,closed" doc:"waiting: not final yet. accepted, fixed: a review approved it, fixed with corrections. returned: it had to be done again; of a rejection, that it returned the work. finished: final without a review. undone: taken back. escalated: an admin decides. closed: the task went on, or failed, without it."`
	UndoUntil  *time.Time `json:"undo_until" doc:"Until when it can be undone; null when it cannot."`
}

// DoneDetail is a submission with its content.
type DoneDetail struct {
	Done
	Fields   []Field     `json:"fields" doc:"The form. For a review, the forms of the subtasks under review."`
	Values   form.Values `json:"values" doc:"What the form shows, with what the caller handed in."`
	Files    []File      `json:"files"`
	Comments []Comment   `json:"comments" doc:"Of a review: the caller's remarks."`
	Reviews  []Judgement `json:"reviews" doc:"Verdicts on it, oldest first."`
}

// Judgement is a review's verdict on a submission.
type Judgement struct {
	Verdict  string      `json:"verdict" enum:"approve,reject,escalate"`
	Comments []Comment   `json:"comments"`
	Values   form.Values `json:"values" doc:"The reviewer's corrections."`
	At       time.Time   `json:"at"`
}

type historyInput struct {
	Cursor     string `query:"cursor" maxLength:"128" doc:"next_cursor of the page before."`
	Limit      int    `query:"limit" minimum:"1" maximum:"100" default:"30"`
	PipelineID int64  `query:"pipeline_id" minimum:"0" doc:"Only this pipeline's."`
}

type historyOutput struct {
	Body struct {
		Submissions []Done  `json:"submissions" doc:"Newest first. A page may be short, or empty, where older ones follow: it looks through no more than 5,000 of what the caller handed in."`
		NextCursor  *string `json:"next_cursor"`
		HasMore     bool    `json:"has_more"`
	} `nameHint:"History"`
}

type doneOutput struct{ Body DoneDetail }

type progressInput struct {
	Offset int `query:"tz_offset" minimum:"-840" maximum:"840" doc:"Minutes that the caller's clock is ahead of UTC, so that days begin when theirs do."`
}

// Progress counts what the caller handed in; what was undone does not count.
type Progress struct {
	Today    int   `json:"today"`
	Week     int   `json:"week" doc:"The last seven days, today included."`
	Total    int   `json:"total" doc:"10000 means that or more."`
	Accepted int   `json:"accepted" doc:"Of the submissions of the days below: those that are final."`
	Returned int   `json:"returned" doc:"Of the submissions of the days below: those that had to be done again."`
	Days     []Day `json:"days" doc:"The last 14 days, oldest first."`
}

// Day is a day of the caller's calendar.
type Day struct {
	Date  string `json:"date" format:"date"`
	Count int    `json:"count"`
}

type progressOutput struct{ Body Progress }

func (a *api) registerHistory() {
	register(a, huma.Operation{
		OperationID: "listHistory", Method: http.MethodGet, Path: "/history", Tags: []string{"Work"},
		Summary: "List what I handed in", Description: "The caller's submissions and verdicts in all projects that they belong to.",
	}, a.listHistory)
	register(a, huma.Operation{
		OperationID: "getSubmission", Method: http.MethodGet, Path: "/history/{claim_id}", Tags: []string{"Work"},
		Summary: "Get what I handed in", Description: "With its form, its values and the verdicts on it.",
	}, a.getSubmission, http.StatusNotFound)
	register(a, huma.Operation{
		OperationID: "getProgress", Method: http.MethodGet, Path: "/progress", Tags: []string{"Work"},
		Summary: "Count what I handed in", Description: "By day, and what became of it.",
	}, a.getProgress)
}

func (a *api) listHistory(ctx context.Context, in *historyInput) (*historyOutput, error) {
	user := caller(ctx).ID
	scope := cursor.Scope{PipelineID: in.PipelineID, Filter: "history of user " + strconv.FormatInt(user, 10)}
	q := store.HistoryQuery{UserID: user, PipelineID: in.PipelineID, Limit: in.Limit}
	if in.Cursor != "" {
		before, err := a.Cursors.Decode(scope, in.Cursor)
		if err != nil {
			return nil, fault.New(fault.InvalidRequest, "the cursor does not belong to this list; begin again without one")
		}
		q.Before = time.UnixMicro(before)
	}
	page, err := a.Store.History(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &historyOutput{}
	out.Body.Submissions = make([]Done, len(page.Items))
	for i, d := range page.Items {
		out.Body.Submissions[i] = newDone(d)
	}
	if out.Body.HasMore = page.More; page.More {
		next := a.Cursors.Encode(scope, page.Next.UnixMicro())
		out.Body.NextCursor = &next
	}
	return out, nil
}

func newDone(d store.Done) Done {
	return Done{
		ClaimID: d.ClaimID, TaskID: d.TaskID, OrgID: d.OrgID, PipelineID: d.PipelineID, Pipeline: d.Pipeline, Node: d.Node,
		Title: d.Title, Kind: string(d.Kind), Iteration: d.Iteration, Verdict: d.Verdict, At: d.At.UTC(),
		Outcome: string(d.Outcome), UndoUntil: utc(d.UndoUntil),
	}
}

func (a *api) getSubmission(ctx context.Context, in *OnClaim) (*doneOutput, error) {
	d, err := a.Store.Submission(ctx, caller(ctx).ID, in.ClaimID)
	if err != nil {
		return nil, err
	}
	p, err := a.Store.Version(ctx, d.VersionID)
	if err != nil {
		return nil, err
	}
	node, _ := p.Node(d.Node)
	out := &doneOutput{Body: DoneDetail{
		Done: newDone(d.Done), Fields: formOf(p, node), Values: notNil(d.Values), Comments: newComments(d.Comments),
		Reviews: make([]Judgement, len(d.Reviews)),
	}}
	for i, r := range d.Reviews {
		out.Body.Reviews[i] = Judgement{
			Verdict: r.Verdict, Comments: newComments(r.Comments), Values: notNil(r.Values), At: r.At.UTC(),
		}
	}
	var corrections []form.Values
	for _, r := range d.Reviews {
		corrections = append(corrections, r.Values)
	}
	out.Body.Files, err = a.filesIn(ctx, d.OrgID, d.TaskID, out.Body.Fields, d.Values, corrections...)
	return out, err
}

func (a *api) getProgress(ctx context.Context, in *progressInput) (*progressOutput, error) {
	p, err := a.Store.Progress(ctx, caller(ctx).ID, time.Duration(in.Offset)*time.Minute)
	if err != nil {
		return nil, err
	}
	out := &progressOutput{Body: Progress{
		Today: p.Today, Week: p.Week, Total: p.Total, Accepted: p.Accepted, Returned: p.Returned, Days: make([]Day, len(p.Days)),
	}}
	for i, d := range p.Days {
		out.Body.Days[i] = Day{Date: d.Date.Format(time.DateOnly), Count: d.Count}
	}
	return out, nil
}
