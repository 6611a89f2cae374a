package console

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/store"
)

// Queue is the work of one kind in one pipeline, as it is for the caller. No
// number goes beyond store.CountMost, so that a long queue costs no more than
// a short one.
type Queue struct {
	OrgID           int64  `json:"org_id"`
	ProjectID       int64  `json:"project_id"`
	Project         string `json:"project"`
	PipelineID      int64  `json:"pipeline_id"`
	Pipeline        string `json:"pipeline"`
	Status          string `json:"status" enum:"ACTIVE,PAUSED"`
	Role            string `json:"role" enum:"contributor,reviewer"`
	Available       int    `json:"available" doc:"What the caller could claim now, without what is kept for them; 100 means that or more."`
	Returned        int    `json:"returned" doc:"What is kept for the caller: work that came back to them. 100 means that or more."`
	Mine            int    `json:"mine" doc:"What the caller holds."`
	ClaimedByOthers int    `json:"claimed_by_others" doc:"100 means that or more."`
}

type queuesOutput struct {
	Body struct {
		Queues []Queue `json:"queues" doc:"By project and pipeline; a pipeline with subtasks and reviews has up to two."`
	} `nameHint:"QueueList"`
}

// QueueState says what a queue holds for the caller, and why it holds no more.
type QueueState struct {
	Available int           `json:"available" doc:"As in the list of queues."`
	Returned  int           `json:"returned"`
	Mine      int           `json:"mine"`
	Reasons   []QueueReason `json:"reasons" doc:"Why there is not more, the most telling one first. Empty when nothing stands in the way."`
}

// QueueReason is one cause why work is not there for the caller.
type QueueReason struct {
	Code    string     `json:"code" enum:"paused,claimed,reserved,own_work,skipped,held,upstream,escalated,done,no_tasks"`
	Count   int        `json:"count" doc:"How many nodes, or tasks with done; 100 means that or more."`
	Message string     `json:"message" doc:"For people."`
	NextAt  *time.Time `json:"next_at,omitempty" doc:"When the first of them may become free by itself: with claimed and reserved."`
}

type queueStateInput struct {
	InPipeline
	Role string `query:"role" enum:"contributor,reviewer" default:"contributor"`
}

type queueStateOutput struct{ Body QueueState }

type resetSkipsOutput struct {
	Body struct {
		Reset int `json:"reset" doc:"How many skipped nodes are served again."`
	} `nameHint:"SkipsReset"`
}

func (a *api) registerQueues() {
	register(a, huma.Operation{
		OperationID: "listQueues", Method: http.MethodGet, Path: "/queues", Tags: []string{"Work"},
		Summary: "List my queues", Description: "Every active or paused pipeline in which the caller can work, by role.",
	}, a.listQueues)
	register(a, huma.Operation{
		OperationID: "explainQueue", Method: http.MethodGet, Path: "/pipelines/{pipeline_id}/queue", Tags: []string{"Work"},
		Summary: "Explain a queue", Description: "What it holds for the caller, and why it holds no more.",
	}, a.explainQueue)
	register(a, huma.Operation{
		OperationID: "resetSkips", Method: http.MethodPost, Path: "/pipelines/{pipeline_id}/queue/reset", Tags: []string{"Work"},
		Summary: "Bring skipped work back", Description: "The queue serves again what the caller skipped in this pipeline.",
	}, a.resetSkips)
}

func (a *api) listQueues(ctx context.Context, _ *struct{}) (*queuesOutput, error) {
	queues, err := a.Store.Queues(ctx, caller(ctx).ID)
	if err != nil {
		return nil, err
	}
	out := &queuesOutput{}
	out.Body.Queues = make([]Queue, len(queues))
	for i, q := range queues {
		out.Body.Queues[i] = Queue{
			OrgID: q.OrgID, ProjectID: q.ProjectID, Project: q.Project, PipelineID: q.PipelineID, Pipeline: q.Pipeline,
			Status: q.Status, Role: roles[q.Kind], Available: q.Available, Returned: q.Returned, Mine: q.Mine,
			ClaimedByOthers: q.ClaimedByOthers,
		}
	}
	return out, nil
}

func (a *api) explainQueue(ctx context.Context, in *queueStateInput) (*queueStateOutput, error) {
	m, kind := membership(ctx), kinds[in.Role]
	if !m.CanWork(kind) {
		return nil, fault.New(fault.Forbidden, "your role in this project does not let you work as a %s", in.Role)
	}
	q, err := a.Store.ExplainQueue(ctx, m, kind)
	if err != nil {
		return nil, err
	}
	out := &queueStateOutput{Body: QueueState{
		Available: q.Available, Returned: q.Returned, Mine: q.Mine, Reasons: make([]QueueReason, len(q.Reasons)),
	}}
	for i, r := range q.Reasons {
		out.Body.Reasons[i] = newQueueReason(r)
	}
	return out, nil
}

func newQueueReason(r store.QueueReason) QueueReason {
	return QueueReason{Code: r.Code, Count: r.Count, Message: r.Message(), NextAt: utc(r.NextAt)}
}

func (a *api) resetSkips(ctx context.Context, _ *InPipeline) (*resetSkipsOutput, error) {
	n, err := a.Store.ResetSkips(ctx, membership(ctx))
	if err != nil {
		return nil, err
	}
	out := &resetSkipsOutput{}
	out.Body.Reset = n
	return out, nil
}

// utc is a time of the database in UTC, nil when there is none.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
