package console

import (
	"context"
	"slices"
	"time"

	"github.com/taskloom/taskloom/api/edge"
	"github.com/taskloom/taskloom/internal/cursor"
	"github.com/taskloom/taskloom/internal/store"
	"github.com/taskloom/taskloom/internal/task"
)

// ListedTask is a task of a list, with where it is now.
type ListedTask struct {
	Task
	Priority int      `json:"priority" doc:"Lower is served first."`
	Held     bool     `json:"held"`
	Version  int      `json:"version" doc:"Number of the version that the task was created with."`
	At       []TaskAt `json:"at" doc:"Its open nodes, in the order of the graph."`
}

// TaskAt is an open node of a task.
type TaskAt struct {
	Node           string     `json:"node"`
	Title          string     `json:"title"`
	Kind           string     `json:"kind" enum:"subtask,review"`
	Status         string     `json:"status" enum:"deferred,available,claimed,submitted,escalated,quarantined"`
	Iteration      int        `json:"iteration"`
	Person         *Person    `json:"person" doc:"Who holds it, or for whom it is reserved; else null."`
	Since          time.Time  `json:"since" doc:"When it came to this status."`
	LeaseExpiresAt *time.Time `json:"lease_expires_at"`
}

type listTasksInput struct {
	InPipeline
	edge.TaskPage
	TaskFilter
}

type taskListOutput struct {
	Body struct {
		Tasks      []ListedTask `json:"tasks" doc:"Newest first. Filters that few tasks meet can make a page short, even empty, while has_more is true: go on with next_cursor."`
		NextCursor *string      `json:"next_cursor"`
		HasMore    bool         `json:"has_more"`
	} `nameHint:"TaskList"`
}

func (a *api) listTasks(ctx context.Context, in *listTasksInput) (*taskListOutput, error) {
	m := membership(ctx)
	scope := cursor.Scope{OrgID: m.OrgID, PipelineID: in.PipelineID, Filter: "console status=" + in.Status + in.canonical()}
	before, err := in.Before(a.Cursors, scope)
	if err != nil {
		return nil, err
	}
	query := in.query
	query.Status, query.Limit, query.Before = task.Status(in.Status), in.Limit, before
	page, err := a.Store.SearchTasks(ctx, m.OrgID, in.PipelineID, query)
	if err != nil {
		return nil, err
	}
	out := &taskListOutput{}
	out.Body.HasMore = page.Next != 0
	if out.Body.Tasks, err = a.listed(ctx, m.OrgID, page.Tasks); err != nil {
		return nil, err
	}
	if page.Next != 0 {
		next := a.Cursors.Encode(scope, page.Next)
		out.Body.NextCursor = &next
	}
	return out, nil
}

// listed names people and nodes of found tasks.
func (a *api) listed(ctx context.Context, orgID int64, found []store.FoundTask) ([]ListedTask, error) {
	var ids []int64
	for _, t := range found {
		for _, n := range t.Open {
			if id := n.With(); id != nil {
				ids = append(ids, *id)
			}
		}
	}
	who, err := a.names(ctx, orgID, ids)
	if err != nil {
		return nil, err
	}
	out := make([]ListedTask, len(found))
	for i, t := range found {
		p, err := a.Store.Version(ctx, t.VersionID)
		if err != nil {
			return nil, err
		}
		out[i] = ListedTask{Task: newTask(t.Task), Priority: t.Priority, Held: t.Held, Version: t.VersionNumber, At: make([]TaskAt, len(t.Open))}
		slices.SortStableFunc(t.Open, func(a, b store.OpenNode) int { return p.Graph.Index(a.Node) - p.Graph.Index(b.Node) })
		for j, n := range t.Open {
			def, _ := p.Node(n.Node)
			out[i].At[j] = TaskAt{
				Node: n.Node, Title: def.Title, Kind: string(n.Kind), Status: string(n.Status), Iteration: n.Iteration,
				Person: who.maybe(n.With()), Since: n.Since.UTC(), LeaseExpiresAt: n.LeaseExpiresAt,
			}
		}
	}
	return out, nil
}
