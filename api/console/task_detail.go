package console

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// TaskDetail is a task with all that happened to it.
type TaskDetail struct {
	Task
	PipelineID   int64            `json:"pipeline_id"`
	PipelineName string           `json:"pipeline_name"`
	ProjectID    int64            `json:"project_id"`
	Version      int              `json:"version" doc:"Number of the version that the task was created with."`
	Priority     int              `json:"priority" doc:"Lower is served first."`
	Held         bool             `json:"held"`
	Input        form.Values      `json:"input" doc:"Seeded values."`
	Answers      form.Values      `json:"answers" doc:"What people answered, as it counts now: the newest that was handed in, with what reviewers corrected."`
	Nodes        []TaskNode       `json:"nodes"`
	Submissions  []TaskSubmission `json:"submissions" doc:"Newest first."`
	Timeline     []TaskEvent      `json:"timeline" doc:"Newest first."`
	People       []Person         `json:"people" doc:"Everybody whose id occurs here."`
	Forms        []TaskForm       `json:"forms" doc:"Of the task's version, in its order."`
	Reviews      []TaskReviews    `json:"reviews" doc:"What each review checks."`
	Waiting      []WaitingFor     `json:"waiting" doc:"Why it is where it is; empty once it is over."`
	Run          TaskRun          `json:"run"`
	Files        []File           `json:"files" doc:"The files of the task."`
}

// TaskForm is a node with its form.
type TaskForm struct {
	Node   string  `json:"node"`
	Title  string  `json:"title"`
	Kind   string  `json:"kind" enum:"subtask,review"`
	Fields []Field `json:"fields" doc:"Empty for a review: it shows the forms that it checks."`
}

// TaskReviews is what a review checks.
type TaskReviews struct {
	Node    string         `json:"node" doc:"The review."`
	Targets []ReviewTarget `json:"targets"`
}

// ReviewTarget is a subtask under review.
type ReviewTarget struct {
	Node   string   `json:"node"`
	Fields []string `json:"fields" doc:"Names of the fields to check."`
}

// WaitingFor says why a task or one of its nodes does not go on.
type WaitingFor struct {
	Node    string `json:"node" doc:"Key of the node; empty for the task as a whole."`
	Code    string `json:"code" enum:"run,paused,held,queue,reserved,claimed,lapsed,upstream,automation,review,escalated,quarantined"`
	Message string `json:"message" doc:"In words, for people."`
}

// TaskRun is the task's run in Temporal.
type TaskRun struct {
	WorkflowID string `json:"workflow_id"`
	URL        string `json:"url" doc:"Shows the run in the Temporal Web UI; empty when the deployment names none."`
}

func (a *api) getTask(ctx context.Context, in *OnTask) (*taskDetailOutput, error) {
	m := membership(ctx)
	d, err := a.Store.TaskDetail(ctx, m.OrgID, m.PipelineID, in.TaskID)
	if err != nil {
		return nil, err
	}
	p, err := a.Store.Version(ctx, d.VersionID)
	if err != nil {
		return nil, err
	}
	out := TaskDetail{
		Task: newTask(d.Task), PipelineID: m.PipelineID, PipelineName: d.PipelineName, ProjectID: m.ProjectID,
		Version: d.VersionNumber, Priority: d.Priority, Held: d.Held, Input: notNil(d.Input), Answers: notNil(d.Answers),
		Nodes: make([]TaskNode, len(d.Nodes)), Submissions: make([]TaskSubmission, len(d.Submissions)),
		Timeline: make([]TaskEvent, len(d.Events)), Forms: forms(p), Reviews: reviewsOf(p), Run: a.run(in.TaskID),
	}
	for i, n := range d.Nodes {
		out.Nodes[i] = TaskNode{
			Node: n.Node, Kind: string(n.Kind), Status: string(n.Status), Iteration: n.Iteration,
			ClaimedBy: n.ClaimedBy, LeaseExpiresAt: n.LeaseExpiresAt, ReservedFor: n.ReservedFor,
			ReservedUntil: n.ReservedUntil, SLAEnds: n.SLAEnds, Reason: n.Reason,
		}
	}
	for i, s := range d.Submissions {
		out.Submissions[i] = newSubmission(s)
	}
	for i, e := range d.Events {
		out.Timeline[i] = TaskEvent{
			Seq: e.Seq, Kind: string(e.Kind), Node: e.Node, Iteration: e.Iteration, Actor: e.Actor,
			Outcome: e.Outcome, Reason: e.Reason, At: e.At.UTC(),
		}
	}
	who, err := a.names(ctx, m.OrgID, d.People())
	if err != nil {
		return nil, err
	}
	out.People = who.sorted()
	if out.Waiting, err = a.waiting(ctx, m, d, p, who); err != nil {
		return nil, err
	}
	out.Files, err = a.filesOf(ctx, m.OrgID, p, d)
	return &taskDetailOutput{Body: out}, err
}

// forms lists the nodes that people work on, with their forms.
func forms(p *pipeline.Pipeline) []TaskForm {
	out := []TaskForm{}
	for _, gn := range p.Graph.Nodes {
		n, _ := p.Node(gn.Key)
		if n.Kind != pipeline.KindSubtask && n.Kind != pipeline.KindReview {
			continue
		}
		f := TaskForm{Node: n.Key, Title: n.Title, Kind: string(n.Kind), Fields: make([]Field, len(n.Fields))}
		for i, field := range n.Fields {
			f.Fields[i] = newField(field)
		}
		out = append(out, f)
	}
	return out
}

// reviewsOf lists what the reviews check.
func reviewsOf(p *pipeline.Pipeline) []TaskReviews {
	out := []TaskReviews{}
	for _, gn := range p.Graph.Nodes {
		n, _ := p.Node(gn.Key)
		if n.Kind != pipeline.KindReview {
			continue
		}
		r := TaskReviews{Node: n.Key, Targets: make([]ReviewTarget, len(n.Reviews))}
		for i, t := range n.Reviews {
			r.Targets[i] = ReviewTarget{Node: t.Node, Fields: store.ReviewFields(p, t)}
		}
		out = append(out, r)
	}
	return out
}

// run says where operators find the task's run.
func (a *api) run(taskID int64) TaskRun {
	run := TaskRun{WorkflowID: fmt.Sprintf("task/%d", taskID)}
	if ui := strings.TrimSuffix(a.About.TemporalUIURL, "/"); ui != "" {
		run.URL = ui + "/namespaces/" + url.PathEscape(a.About.TemporalNamespace) + "/workflows/" + url.PathEscape(run.WorkflowID)
	}
	return run
}

// sorted lists people by their names.
func (n names) sorted() []Person {
	out := []Person{}
	for _, p := range n {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Person) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return int(a.ID - b.ID)
	})
	return out
}

// filesOf links the files of a task: those that it was created with and those
// that people uploaded for it.
func (a *api) filesOf(ctx context.Context, orgID int64, p *pipeline.Pipeline, d store.TaskDetail) ([]File, error) {
	var fields []Field
	for _, f := range p.Seed.Fields() {
		fields = append(fields, newField(f))
	}
	out, err := a.filesIn(ctx, orgID, d.ID, fields, d.Input)
	if err != nil || a.Objects == nil {
		return out, err
	}
	uploaded, err := a.Store.TaskFiles(ctx, orgID, d.ID, nil)
	if err != nil {
		return nil, err
	}
	linked, err := a.links(ctx, uploaded)
	return append(out, linked...), err
}
