package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// NodeSummary counts the nodes of a task (spec section 3).
type NodeSummary struct {
	Total      int `json:"total" minimum:"0" maximum:"200" doc:"All nodes that apply to the task."`
	Finished   int `json:"finished" minimum:"0" maximum:"200" doc:"Done."`
	InProgress int `json:"in_progress" minimum:"0" maximum:"200" doc:"Available, claimed, submitted, escalated or quarantined."`
	Pending    int `json:"pending" minimum:"0" maximum:"200" doc:"Pending or deferred."`
}

// Task is the status of a task (spec section 2).
type Task struct {
	ID          int64       `json:"id" minimum:"1" doc:"What task_ids of a creation named."`
	Status      string      `json:"status" enum:"pending,in_progress,finished,failed,paused,escalated,quarantined" doc:"Where the task stands; finished and failed are final."`
	NodeSummary NodeSummary `json:"node_summary" doc:"The task's nodes, counted."`
	CreatedAt   time.Time   `json:"created_at" doc:"UTC."`
	UpdatedAt   time.Time   `json:"updated_at" doc:"When anything of the task itself last changed, UTC. It is not when status turns to or from paused with the workflow."`
}

func newTask(t store.Task) Task {
	return Task{
		ID: t.ID, Status: string(t.Status), NodeSummary: NodeSummary(t.Summary),
		CreatedAt: t.CreatedAt.UTC(), UpdatedAt: t.UpdatedAt.UTC(),
	}
}

// TaskPage is one page of a list (spec section 2).
type TaskPage struct {
	Tasks      []Task  `json:"tasks" maxItems:"200" doc:"Newest first."`
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor to get the next page; null on the last one."`
	HasMore    bool    `json:"has_more" doc:"Whether there is a next page."`

	doc []byte // all of it, encoded once for the entity tag and the answer
}

// Encoding returns the page as it is sent.
func (p TaskPage) Encoding() []byte { return p.doc }

// Conditional is embedded by operations that answer 304.
type Conditional struct {
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of an earlier answer; while nothing changed, the answer is 304."`
}

type taskInput struct {
	InWorkflow
	Conditional
	TaskID int64 `path:"task_id" minimum:"1" doc:"Id of the task, within the workflow."`
}

type listInput struct {
	InWorkflow
	Conditional
	edge.TaskPage
}

type taskOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   Task
}

type listOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   TaskPage
}

func (a *api) registerTasks() {
	huma.Register(a.huma, a.operation(huma.Operation{
		OperationID: "listTasks", Method: http.MethodGet, Path: "/workflows/{workflow_id}/tasks", Tags: []string{"Tasks"},
		Summary:     "List tasks",
		Description: "Newest first. A cursor keeps its place while tasks are created: no task is missed and none comes twice.",
		Responses:   notModified(), SkipValidateParams: true,
	}, http.StatusBadRequest, http.StatusNotFound), a.listTasks)
	huma.Register(a.huma, a.operation(huma.Operation{
		OperationID: "getTask", Method: http.MethodGet, Path: "/workflows/{workflow_id}/tasks/{task_id}", Tags: []string{"Tasks"},
		Summary:     "Get the status of a task",
		Description: "A task is looked up within the workflow of the path; one of another workflow is 404.",
		Responses:   notModified(),
	}, http.StatusNotFound), a.getTask)
}

func notModified() map[string]*huma.Response {
	return map[string]*huma.Response{"304": {Description: "Nothing changed since the answer whose ETag If-None-Match names."}}
}

func (a *api) getTask(ctx context.Context, in *taskInput) (*taskOutput, error) {
	t, err := a.Store.Task(ctx, caller(ctx).OrgID, in.WorkflowID, in.TaskID)
	if err != nil {
		return nil, absent(err, "task %d not found in workflow %d", in.TaskID, in.WorkflowID)
	}
	out := &taskOutput{Body: newTask(t)}
	out.Status, out.ETag, _, err = in.answer(out.Body)
	return out, err
}

func (a *api) listTasks(ctx context.Context, in *listInput) (*listOutput, error) {
	scope := cursor.Scope{OrgID: caller(ctx).OrgID, PipelineID: in.WorkflowID, Filter: "v1 status=" + in.Status}
	before, err := in.Before(a.Cursors, scope)
	if err != nil {
		return nil, err
	}
	query := store.TaskQuery{Status: task.Status(in.Status), Limit: in.Limit, Before: before}
	page, err := a.Store.ListTasks(ctx, scope.OrgID, in.WorkflowID, query)
	if err != nil {
		return nil, absent(err, "workflow %d not found", in.WorkflowID)
	}
	out := &listOutput{Body: TaskPage{Tasks: make([]Task, len(page.Tasks)), HasMore: page.More}}
	for i, t := range page.Tasks {
		out.Body.Tasks[i] = newTask(t)
	}
	if page.More {
		next := a.Cursors.Encode(scope, page.Tasks[len(page.Tasks)-1].ID)
		out.Body.NextCursor = &next
	}
	out.Status, out.ETag, out.Body.doc, err = in.answer(out.Body)
	return out, err
}

// answer encodes a body and tells whether the caller has it already.
func (c Conditional) answer(body any) (status int, tag string, doc []byte, err error) {
	if doc, err = edge.Encode(body); err != nil {
		return 0, "", nil, err
	}
	tag = edge.ETag(doc)
	if edge.Matches(c.IfNoneMatch, tag) {
		return http.StatusNotModified, tag, nil, nil
	}
	return http.StatusOK, tag, doc, nil
}
