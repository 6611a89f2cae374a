package console

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskloom/taskloom/internal/store"
)

// Reason is why an admin does something, for the task's timeline.
type Reason struct {
	Reason string `json:"reason,omitempty" maxLength:"1000"`
}

// text returns the reason of an optional body.
func (r *Reason) text() string {
	if r == nil {
		return ""
	}
	return r.Reason
}

// OnNode is embedded by every operation on a node of a task.
type OnNode struct {
	OnTask
	Key string `path:"key" maxLength:"64" doc:"Key of the node."`
}

type nodeInput struct {
	OnNode
	Body *Reason
}

type releaseNodeInput struct {
	OnNode
	Body *struct {
		Reason string `json:"reason,omitempty" maxLength:"1000"`
		HeldBy int64  `json:"held_by,omitempty" minimum:"1" doc:"Who was seen with it, by their id. 409 when somebody else holds it by now; without, whoever it is."`
	} `nameHint:"ReleaseNodeRequest"`
}

type resolveInput struct {
	OnNode
	Body struct {
		Outcome string `json:"outcome" enum:"requeue,accept,skip" doc:"Open the node again, take what was submitted, or go on without the node."`
		Reason  string `json:"reason,omitempty" maxLength:"1000"`
	} `nameHint:"ResolveRequest"`
}

type taskInput struct {
	OnTask
	Body *Reason
}

func (a *api) registerTaskAdmin() {
	a.registerTaskBulk()
	node := func(id, verb, summary string, do nodeCommand) {
		register(a, huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: "/tasks/{task_id}/nodes/{key}/" + verb,
			Tags: []string{"Tasks"}, Summary: summary,
		}, onNode(do), http.StatusConflict)
	}
	node("escalateNode", "escalate", "Escalate a node", a.Store.Escalate)
	node("quarantineNode", "quarantine", "Set a node aside", a.Store.Quarantine)
	register(a, huma.Operation{
		OperationID: "releaseNode", Method: http.MethodPost, Path: "/tasks/{task_id}/nodes/{key}/release",
		Tags: []string{"Tasks"}, Summary: "End the claim on a node: it goes back to the queue, the draft stays",
	}, a.releaseNode, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "resolveNode", Method: http.MethodPost, Path: "/tasks/{task_id}/nodes/{key}/resolve",
		Tags: []string{"Tasks"}, Summary: "Resolve an escalated or quarantined node",
	}, a.resolveNode, http.StatusConflict)
	whole := func(id, verb, summary string, do taskCommand) {
		register(a, huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: "/tasks/{task_id}/" + verb, Tags: []string{"Tasks"}, Summary: summary,
		}, onTask(do), http.StatusConflict)
	}
	whole("holdTask", "hold", "Hold a task: nobody can claim its nodes", a.Store.Hold)
	whole("unholdTask", "unhold", "Let a held task go on", a.Store.Unhold)
	whole("failTask", "fail", "Fail a task for good", a.Store.FailTask)
}

type (
	nodeCommand func(ctx context.Context, m store.Member, taskID int64, node, reason string) error
	taskCommand func(ctx context.Context, m store.Member, taskID int64, reason string) error
)

func onNode(do nodeCommand) func(context.Context, *nodeInput) (*struct{}, error) {
	return func(ctx context.Context, in *nodeInput) (*struct{}, error) {
		return nil, do(ctx, membership(ctx), in.TaskID, in.Key, in.Body.text())
	}
}

func onTask(do taskCommand) func(context.Context, *taskInput) (*struct{}, error) {
	return func(ctx context.Context, in *taskInput) (*struct{}, error) {
		return nil, do(ctx, membership(ctx), in.TaskID, in.Body.text())
	}
}

func (a *api) releaseNode(ctx context.Context, in *releaseNodeInput) (*struct{}, error) {
	reason, heldBy := "", int64(0)
	if in.Body != nil {
		reason, heldBy = in.Body.Reason, in.Body.HeldBy
	}
	return nil, a.Store.ReleaseNode(ctx, membership(ctx), in.TaskID, in.Key, heldBy, reason)
}

func (a *api) resolveNode(ctx context.Context, in *resolveInput) (*struct{}, error) {
	return nil, a.Store.Resolve(ctx, membership(ctx), in.TaskID, in.Key, in.Body.Outcome, in.Body.Reason)
}
