package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// TaskView is the answer of StateQuery.
type TaskView struct {
	Seq    int64                `json:"seq"`
	Status task.Status          `json:"status"`
	Nodes  []pipeline.NodeState `json:"nodes"`
	// Deadline is what happens next if nobody acts.
	Deadline *Due `json:"deadline,omitempty"`
}

func (r *taskRun) answerQueries(ctx workflow.Context) error {
	return workflow.SetQueryHandlerWithOptions(ctx, StateQuery, func() (TaskView, error) {
		v := TaskView{Seq: r.State.Seq, Status: r.State.Status(), Nodes: r.State.Nodes}
		if d := r.due(); !d.At.IsZero() {
			v.Deadline = &d
		}
		return v, nil
	}, workflow.QueryHandlerOptions{Description: "Where the task stands: its last event, its nodes, the next deadline."})
}

// labelOf is the TaskStateAttribute of a task status.
func labelOf(s task.Status) string {
	switch s {
	case task.Escalated:
		return TaskEscalated
	case task.Quarantined:
		return TaskQuarantined
	case task.Paused:
		return TaskPaused
	case task.Pending, task.InProgress, task.Finished, task.Failed:
	}
	return TaskActive
}

// describe shows an operator which node waits for whom and until when. It
// names people by id only and costs no history.
func (r *taskRun) describe(ctx workflow.Context) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n**%s** after event %d\n\n", TaskSummary(r.taskID, r.PipelineID, r.PipelineName),
		r.State.Status(), r.State.Seq)
	b.WriteString("| node | status | waits for | until |\n|---|---|---|---|\n")
	for _, n := range r.State.Nodes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", n.Key, n.Status, r.waitsFor(n), until(n))
	}
	workflow.SetCurrentDetails(ctx, b.String())
}

// waitsFor says who has to act for the node to move.
func (r *taskRun) waitsFor(n pipeline.NodeState) string {
	switch n.Status {
	case task.NodeAvailable:
		who := "a contributor"
		if i := r.Graph.Index(n.Key); i >= 0 && r.Graph.Nodes[i].Kind == pipeline.KindReview {
			who = "a reviewer"
		}
		if n.ReservedFor != 0 {
			return fmt.Sprintf("user %d, then %s", n.ReservedFor, who)
		}
		return who
	case task.NodeClaimed:
		for _, h := range r.Holders {
			if h.Node == n.Key && h.Claim == n.Claim {
				return fmt.Sprintf("user %d", h.User)
			}
		}
		return "whoever claimed it"
	case task.NodeSubmitted:
		return "a review"
	case task.NodeEscalated, task.NodeQuarantined:
		return "an admin (" + n.Reason + ")"
	case task.NodePending:
		return "earlier nodes"
	case task.NodeDeferred:
		return "automation"
	case task.NodeFinished, task.NodeNA:
	}
	return ""
}

func until(n pipeline.NodeState) string {
	at := n.SLAEnds
	if n.Status == task.NodeClaimed && !n.LeaseEnds.IsZero() && (at.IsZero() || n.LeaseEnds.Before(at)) {
		at = n.LeaseEnds
	}
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateTime) + " UTC"
}
