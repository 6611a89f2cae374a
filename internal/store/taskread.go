package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/fault"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/planted"
	"github.com/taskloom/taskloom/internal/task"
)

// Task is where a task stands, as a poller sees it. Status is the effective
// one: paused while the pipeline is.
type Task struct {
	ID        int64
	Status    task.Status
	Summary   task.Summary
	CreatedAt time.Time
	UpdatedAt time.Time
}

// TaskQuery selects a page of tasks, newest first.
type TaskQuery struct {
	// Status filters by effective status; "" takes all.
	Status task.Status
	// Before is the id that the page starts below; 0 starts at the newest.
	Before int64
	// Limit is the most rows to return, at least 1.
	Limit int
}

// TaskPage is a page of tasks; More says whether older ones follow.
type TaskPage struct {
	Tasks []Task
	More  bool
}

const taskColumns = `t.id, t.status, t.n_total, t.n_finished, t.n_in_progress, t.n_pending, t.created_at, t.updated_at`

func scanTask(row pgx.CollectableRow, paused bool) (Task, error) {
	var t Task
	err := row.Scan(&t.ID, &t.Status, &t.Summary.Total, &t.Summary.Finished, &t.Summary.InProgress,
		&t.Summary.Pending, &t.CreatedAt, &t.UpdatedAt)
	t.Status = task.Effective(t.Status, paused)
	return t, err
}

// Task returns one task of a pipeline of the organization; NotFound otherwise,
// also when the task belongs to another pipeline (spec 4.4).
func (s *Store) Task(ctx context.Context, orgID, pipelineID, taskID int64) (Task, error) {
	if planted.Enabled && planted.Is(planted.TaskAnyOrg) {
		return s.taskAnyOrg(ctx, taskID)
	}
	var paused bool
	rows, _ := s.pool.Query(ctx, `SELECT `+taskColumns+`, p.status = $4
		FROM tasks t JOIN pipelines p ON p.id = t.pipeline_id AND p.org_id = t.org_id
		WHERE t.id = $1 AND t.pipeline_id = $2 AND t.org_id = $3`,
		taskID, pipelineID, orgID, pipeline.StatusPaused)
	t, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Task, error) {
		var t Task
		err := row.Scan(&t.ID, &t.Status, &t.Summary.Total, &t.Summary.Finished, &t.Summary.InProgress,
			&t.Summary.Pending, &t.CreatedAt, &t.UpdatedAt, &paused)
		return t, err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Task{}, taskNotFound(taskID)
	}
	t.Status = task.Effective(t.Status, paused)
	return t, translate(err)
}

// ListTasks returns a page of a pipeline's tasks by keyset: its cost depends
// on the page, not on how many tasks there are. Whether the pipeline is paused
// decides what a filter means; the page is asked for in the same round trip as
// if it were not, and once more in the rare case that it is.
func (s *Store) ListTasks(ctx context.Context, orgID, pipelineID int64, q TaskQuery) (TaskPage, error) {
	var paused bool
	var tasks []Task
	read := func(rows pgx.Rows) (err error) {
		tasks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Task, error) { return scanTask(row, paused) })
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`SELECT status = $3 FROM pipelines WHERE id = $1 AND org_id = $2`, pipelineID, orgID, pipeline.StatusPaused).
		QueryRow(func(row pgx.Row) error { return row.Scan(&paused) })
	if sql, args, some := pageSQL(orgID, pipelineID, q, false); some {
		b.Queue(sql, args...).Query(read)
	}
	err := s.pool.SendBatch(ctx, b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return TaskPage{}, fault.New(fault.NotFound, "pipeline %d not found", pipelineID)
	}
	if err == nil && paused && q.Status != "" {
		tasks = nil
		if sql, args, some := pageSQL(orgID, pipelineID, q, true); some {
			rows, _ := s.pool.Query(ctx, sql, args...)
			err = read(rows)
		}
	}
	if err != nil {
		return TaskPage{}, translate(err)
	}
	page := TaskPage{Tasks: tasks}
	if len(tasks) > q.Limit {
		page.Tasks, page.More = tasks[:q.Limit], true
	}
	if page.Tasks == nil {
		page.Tasks = []Task{}
	}
	return page, nil
}

// pageSQL builds the page's query: without a filter one walk down the
// pipeline's index; with one, a walk per stored status, merged. One row more
// than the limit tells whether there is another page.
func pageSQL(orgID, pipelineID int64, q TaskQuery, paused bool) (sql string, args []any, some bool) {
	before := q.Before
	if before <= 0 {
		before = 1<<63 - 1
	}
	args = []any{pipelineID, orgID, before, q.Limit + 1}
	// Whose the tasks are is asked of the pipeline alone, before any is read. With
	// a condition on the tasks' own organization, Postgres expects few rows for one
	// that has few, and plans to read all tasks there are to find them.
	const walk = `SELECT ` + taskColumns + ` FROM tasks t
		WHERE t.pipeline_id = $1 AND EXISTS (SELECT FROM pipelines p WHERE p.id = $1 AND p.org_id = $2) AND `
	if q.Status == "" {
		return walk + `t.id < $3 ORDER BY t.id DESC LIMIT $4`, args, true
	}
	stored := task.StoredFor(q.Status, paused)
	parts := make([]string, len(stored))
	for i, st := range stored {
		args = append(args, st)
		parts[i] = fmt.Sprintf(`(`+walk+`-t.id > -$3::bigint AND t.status = $%d ORDER BY -t.id LIMIT $4)`, len(args))
	}
	switch len(parts) {
	case 0:
		return "", nil, false
	case 1:
		return parts[0], args, true
	}
	return `SELECT * FROM (` + strings.Join(parts, " UNION ALL ") + `) t ORDER BY t.id DESC LIMIT $4`, args, true
}
