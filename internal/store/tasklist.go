package store

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// TaskSearch selects a page of tasks by any of these together, newest first.
type TaskSearch struct {
	TaskQuery
	// Node keeps tasks that are at this node: it is open, or of NodeStatus.
	Node string
	// NodeStatus keeps tasks with a node of this status.
	NodeStatus task.NodeStatus
	// Person keeps tasks of which this person holds a node.
	Person int64
	// ID keeps one task.
	ID       int64
	Priority *int
	Held     *bool
	// CreatedAfter is inclusive, CreatedBefore is not; zero means no bound.
	CreatedAfter, CreatedBefore time.Time
}

// FoundTask is a task of a list, with where it is now.
type FoundTask struct {
	Task
	Priority      int
	Held          bool
	VersionID     int64
	VersionNumber int
	Open          []OpenNode
}

// OpenNode is a node of a task that is at work or waits for somebody.
type OpenNode struct {
	TaskID    int64
	Node      string
	Kind      pipeline.Kind
	Status    task.NodeStatus
	Iteration int
	ClaimedBy *int64
	// ReservedFor is who alone may claim it now.
	ReservedFor    *int64
	Since          time.Time
	LeaseExpiresAt *time.Time
}

// With is who holds the node or for whom it is kept, nil for nobody.
func (n OpenNode) With() *int64 {
	if n.ClaimedBy != nil {
		return n.ClaimedBy
	}
	return n.ReservedFor
}

// FoundTasks is a page of a search. Next is where the next one begins (its
// TaskQuery.Before), 0 at the end.
type FoundTasks struct {
	Tasks []FoundTask
	Next  int64
}

// What one page looks through at most, in growing steps: filters that no index
// answers together look at one task after the other. A page that finds less
// than its limit within that says where to go on.
var searchSteps = []int{100, 500, 4_000, 16_000}

// SearchTasks returns a page of a pipeline's tasks. What it costs is bounded,
// however many tasks there are and whatever the filters are.
func (s *Store) SearchTasks(ctx context.Context, orgID, pipelineID int64, q TaskSearch) (FoundTasks, error) {
	return s.searchTasks(ctx, orgID, pipelineID, q, searchSteps)
}

func (s *Store) searchTasks(ctx context.Context, orgID, pipelineID int64, q TaskSearch, steps []int) (FoundTasks, error) {
	out := FoundTasks{Tasks: []FoundTask{}}
	w := walk{org: orgID, pipeline: pipelineID, q: q, before: q.Before}
	if w.before <= 0 {
		w.before = math.MaxInt64
	}
	if some, err := s.bounds(ctx, &w); err != nil || !some {
		return out, err
	}
	if !w.filtered() {
		steps = []int{q.Limit + 1}
	}
	for i, step := range steps {
		w.step = step
		sql, args := w.sql()
		rows, _ := s.pool.Query(ctx, sql, args...)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return out, translate(err)
		}
		found, err := s.filter(ctx, w, ids, q.Limit+1-len(out.Tasks))
		if err != nil {
			return out, translate(err)
		}
		out.Tasks = append(out.Tasks, found...)
		if len(out.Tasks) > q.Limit {
			out.Tasks = out.Tasks[:q.Limit]
			out.Next = out.Tasks[q.Limit-1].ID
			break
		}
		if len(ids) < step {
			break
		}
		w.before = ids[len(ids)-1]
		if i == len(steps)-1 {
			out.Next = w.before
		}
	}
	return out, translate(s.openNodes(ctx, orgID, out.Tasks))
}

// creationSlack is how far ids and creation times may disagree: how long a
// creation can take.
const creationSlack = 10 * time.Minute

// bounds finds out what the pipeline's status makes of the filter, and between
// which ids its times lie; false when no task can match.
func (s *Store) bounds(ctx context.Context, w *walk) (some bool, err error) {
	var low, high int64
	err = s.pool.QueryRow(ctx, `SELECT status = $3,
			CASE WHEN $4::timestamptz IS NULL THEN 0 ELSE task_id_at(id, $4, -$6::interval) END,
			CASE WHEN $5::timestamptz IS NULL THEN $7::bigint ELSE task_id_at(id, $5, $6::interval) END
		FROM pipelines WHERE id = $1 AND org_id = $2`, w.pipeline, w.org, pipeline.StatusPaused,
		nullTime(w.q.CreatedAfter), nullTime(w.q.CreatedBefore), creationSlack, int64(math.MaxInt64)).Scan(&w.paused, &low, &high)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, fault.New(fault.NotFound, "pipeline %d not found", w.pipeline)
	}
	if err != nil {
		return false, translate(err)
	}
	w.low, w.before = low, min(w.before, high)
	w.stored = w.statuses()
	return len(w.stored) > 0 && w.low < w.before, nil
}

// statuses are the stored statuses that a matching task can have.
func (w *walk) statuses() []task.Status {
	stored := task.Statuses()
	if w.q.Status != "" {
		stored = task.StoredFor(w.q.Status, w.paused)
	}
	// Only what is over has nothing open, and node statuses decide about those
	// that need an admin.
	var can []task.Status
	switch w.q.NodeStatus {
	case "":
		if w.q.Node == "" && w.q.Person == 0 {
			return stored
		}
	case task.NodeFinished, task.NodeNA:
		return stored
	case task.NodeQuarantined:
		can = []task.Status{task.Quarantined}
	case task.NodeEscalated:
		can = []task.Status{task.Escalated, task.Quarantined}
	default:
	}
	return slices.DeleteFunc(stored, func(s task.Status) bool {
		return s.Terminal() || can != nil && !slices.Contains(can, s)
	})
}

// filter reads the tasks that match, of the ids that a walk came by.
func (s *Store) filter(ctx context.Context, w walk, ids []int64, limit int) ([]FoundTask, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	sql, args := w.filterSQL(ids, limit)
	rows, _ := s.pool.Query(ctx, sql, args...)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (FoundTask, error) {
		var t FoundTask
		err := row.Scan(&t.ID, &t.Status, &t.Summary.Total, &t.Summary.Finished, &t.Summary.InProgress,
			&t.Summary.Pending, &t.CreatedAt, &t.UpdatedAt, &t.Priority, &t.Held, &t.VersionID, &t.VersionNumber)
		t.Status = task.Effective(t.Status, w.paused)
		return t, err
	})
}

// The journal knows since when a node is as it is: by the event that wrote it.
const openNodesSQL = `SELECT n.task_id, n.key, n.kind, n.status, n.iteration, n.claimed_by,
		CASE WHEN n.reserved_until > now() THEN n.reserved_for END, e.created_at, n.lease_expires_at
	FROM task_nodes n JOIN task_events e ON e.task_id = n.task_id AND e.seq = n.last_seq
	WHERE n.task_id = ANY ($1) AND n.org_id = $2
		AND n.status IN ('deferred', 'available', 'claimed', 'submitted', 'escalated', 'quarantined')
	ORDER BY n.task_id, n.key`

// openNodes fills in where the tasks are.
func (s *Store) openNodes(ctx context.Context, orgID int64, tasks []FoundTask) error {
	if len(tasks) == 0 {
		return nil
	}
	ids, at := make([]int64, len(tasks)), map[int64]int{}
	for i, t := range tasks {
		ids[i], at[t.ID] = t.ID, i
	}
	rows, _ := s.pool.Query(ctx, openNodesSQL, ids, orgID)
	nodes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[OpenNode])
	for _, n := range nodes {
		t := &tasks[at[n.TaskID]]
		t.Open = append(t.Open, n)
	}
	return err
}
