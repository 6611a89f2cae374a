package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// maxWaiting bounds the list of nodes that wait for an admin.
const maxWaiting = 200

// Task is the status of a task.
type Task struct {
	ID          int64        `json:"id"`
	Status      string       `json:"status" enum:"pending,in_progress,finished,failed,paused,escalated,quarantined"`
	NodeSummary task.Summary `json:"node_summary"`
	CreatedAt   time.Time    `json:"created_at"`
	UpdatedAt   time.Time    `json:"updated_at"`
}

func newTask(t store.Task) Task {
	return Task{
		ID: t.ID, Status: string(t.Status), NodeSummary: t.Summary,
		CreatedAt: t.CreatedAt.UTC(), UpdatedAt: t.UpdatedAt.UTC(),
	}
}

// TaskNode is a node of one task.
type TaskNode struct {
	Node           string     `json:"node"`
	Kind           string     `json:"kind" enum:"subtask,review"`
	Status         string     `json:"status"`
	Iteration      int        `json:"iteration"`
	ClaimedBy      *int64     `json:"claimed_by"`
	LeaseExpiresAt *time.Time `json:"lease_expires_at"`
	ReservedFor    *int64     `json:"reserved_for"`
	ReservedUntil  *time.Time `json:"reserved_until"`
	SLAEnds        *time.Time `json:"sla_ends"`
	Reason         string     `json:"reason"`
}

// TaskSubmission is what somebody handed in.
type TaskSubmission struct {
	Node      string      `json:"node"`
	Iteration int         `json:"iteration"`
	Author    int64       `json:"author"`
	Verdict   string      `json:"verdict" doc:"Of a review: approve, reject or escalate; else empty."`
	Values    form.Values `json:"values"`
	Comments  []Comment   `json:"comments"`
	At        time.Time   `json:"at"`
	UndoneAt  *time.Time  `json:"undone_at" doc:"When its author took it back; null when it stands."`
}

// TaskEvent is one row of a task's journal.
type TaskEvent struct {
	Seq       int64     `json:"seq"`
	Kind      string    `json:"kind"`
	Node      string    `json:"node"`
	Iteration int       `json:"iteration"`
	Actor     *int64    `json:"actor"`
	Outcome   string    `json:"outcome"`
	Reason    string    `json:"reason"`
	At        time.Time `json:"at"`
}

// Counts says how much work a pipeline has.
type Counts struct {
	Available   int `json:"available" doc:"Subtasks that somebody may claim."`
	Claimed     int `json:"claimed" doc:"Subtasks and reviews that somebody holds."`
	InReview    int `json:"in_review" doc:"Reviews that wait for a reviewer."`
	Escalated   int `json:"escalated"`
	Quarantined int `json:"quarantined"`
	Finished    int `json:"finished" doc:"Finished tasks."`
	Failed      int `json:"failed" doc:"Failed tasks."`
	Open        int `json:"open" doc:"Tasks that are neither finished nor failed."`
	Total       int `json:"total" doc:"All tasks."`
}

// WaitingNode is a node that waits for an admin.
type WaitingNode struct {
	TaskID int64     `json:"task_id"`
	Node   string    `json:"node"`
	Kind   string    `json:"kind"`
	Status string    `json:"status" enum:"escalated,quarantined"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// OnTask is embedded by every operation on a task.
type OnTask struct {
	TaskID int64 `path:"task_id" minimum:"1"`
}

type taskDetailOutput struct{ Body TaskDetail }

type countsOutput struct{ Body Counts }

type waitingInput struct {
	InPipeline
	Status string `query:"status" enum:"escalated,quarantined" doc:"Only nodes of this status."`
}

type waitingOutput struct {
	Body struct {
		Nodes []WaitingNode `json:"nodes" doc:"Oldest task first, at most 200."`
	} `nameHint:"WaitingList"`
}

func (a *api) registerTasks() {
	a.registerReviews()
	tags := []string{"Tasks"}
	register(a, huma.Operation{
		OperationID: "getCounts", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/counts", Tags: tags, Summary: "Count the work",
	}, a.getCounts)
	register(a, huma.Operation{
		OperationID: "listPipelineTasks", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/tasks", Tags: tags,
		Summary: "List tasks", Description: "Newest first, narrowed by any of the filters together.", SkipValidateParams: true, Metadata: edge.Slow(),
	}, a.listTasks)
	register(a, huma.Operation{
		OperationID: "getTaskDetail", Method: http.MethodGet, Path: "/tasks/{task_id}", Tags: tags,
		Summary: "Get a task", Description: "With its nodes, submissions and timeline, and why it waits.",
	}, a.getTask)
	register(a, huma.Operation{
		OperationID: "listWaiting", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/waiting", Tags: tags,
		Summary: "List what waits for an admin", Description: "Escalated and quarantined nodes.",
	}, a.listWaiting)
}

func (a *api) getCounts(ctx context.Context, in *InPipeline) (*countsOutput, error) {
	c, err := a.Store.QueueCounts(ctx, membership(ctx).OrgID, in.PipelineID)
	return &countsOutput{Body: newCounts(c)}, err
}

func newSubmission(s store.SubmissionDetail) TaskSubmission {
	out := TaskSubmission{
		Node: s.Node, Iteration: s.Iteration, Author: s.Author, Verdict: s.Verdict,
		Values: notNil(s.Values), Comments: make([]Comment, len(s.Comments)), At: s.At.UTC(), UndoneAt: utc(s.UndoneAt),
	}
	for i, c := range s.Comments {
		out.Comments[i] = Comment(c)
	}
	return out
}

func (a *api) listWaiting(ctx context.Context, in *waitingInput) (*waitingOutput, error) {
	nodes, err := a.Store.Waiting(ctx, membership(ctx).OrgID, in.PipelineID, task.NodeStatus(in.Status), maxWaiting)
	if err != nil {
		return nil, err
	}
	out := &waitingOutput{}
	out.Body.Nodes = make([]WaitingNode, len(nodes))
	for i, n := range nodes {
		out.Body.Nodes[i] = WaitingNode{
			TaskID: n.TaskID, Node: n.Node, Kind: string(n.Kind), Status: string(n.Status), Reason: n.Reason, Since: n.Since.UTC(),
		}
	}
	return out, nil
}
