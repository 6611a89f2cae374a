package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// TaskDetail is a task with its nodes, submissions and journal.
type TaskDetail struct {
	Task
	PipelineName  string
	VersionID     int64
	VersionNumber int
	Priority      int
	Input         form.Values
	// Answers are what people's words for the fields of the task are now.
	Answers form.Values
	Held    bool
	// Touched says that any node was ever claimed.
	Touched     bool
	Nodes       []NodeDetail
	Events      []EventDetail
	Submissions []SubmissionDetail
}

// NodeDetail is one node of a task: what it waits for, whom and until when.
type NodeDetail struct {
	Node           string          `db:"key"`
	Kind           pipeline.Kind   `db:"kind"`
	Status         task.NodeStatus `db:"status"`
	Iteration      int             `db:"iteration"`
	ClaimedBy      *int64          `db:"claimed_by"`
	LeaseExpiresAt *time.Time      `db:"lease_expires_at"`
	ReservedFor    *int64          `db:"reserved_for"`
	ReservedUntil  *time.Time      `db:"reserved_until"`
	ReservedNow    bool            `db:"reserved_now"`
	Lapsed         bool            `db:"lapsed"` // claimed, and the lease has ended
	// Free says of a lapsed one that somebody else is given it: no step before it is open.
	Free    bool       `db:"free"`
	SLAEnds *time.Time `db:"sla_at"`
	Reason  string     `db:"reason"`
}

// EventDetail is one row of the journal.
type EventDetail struct {
	Seq       int64              `db:"seq"`
	Kind      pipeline.EventKind `db:"kind"`
	Node      string             `db:"node_key"`
	Iteration int                `db:"iteration"`
	Actor     *int64             `db:"actor"`
	Outcome   string             `db:"outcome"`
	Reason    string             `db:"reason"`
	At        time.Time          `db:"created_at"`
}

// SubmissionDetail is one submission or verdict.
type SubmissionDetail struct {
	Node      string      `db:"node_key"`
	Iteration int         `db:"iteration"`
	Author    int64       `db:"author"`
	Verdict   string      `db:"verdict"`
	Values    form.Values `db:"values"`
	Comments  []Comment   `db:"comments"`
	At        time.Time   `db:"created_at"`
	// UndoneAt is when its author took it back.
	UndoneAt *time.Time `db:"undone_at"`
}

// maxTimeline is how many of a task's newest journal rows and submissions a
// detail shows, the latter up to timelineBytes of JSON: a submission may have
// megabytes, and be taken back and handed in again and again. The same holds for
// the histories that people see of their work.
const (
	maxTimeline   = 500
	timelineBytes = 8 << 20
)

// timelineSQL reads the submissions of a detail: $1 task, $2 organization, $3 maxTimeline,
// $4 timelineBytes.
var timelineSQL = newestSQL(`node_key, iteration, author, verdict, values, comments, created_at, undone_at`, `seq DESC`, `$4`,
	`SELECT * FROM submissions WHERE task_id = $1 AND org_id = $2 ORDER BY seq DESC LIMIT $3`)

// newestSQL reads columns of what another query finds, values and comments among them, in an
// order that begins with the newest, up to so many bytes of JSON. The first row is there in
// any case. The values of the rows beyond never leave Postgres.
func newestSQL(columns, order, most, query string) string {
	return `SELECT ` + columns + ` FROM (
			SELECT *, row_number() OVER newest AS n, sum(octet_length(values::text) + octet_length(comments::text)) OVER newest AS bytes
			FROM (` + query + `) recent WINDOW newest AS (ORDER BY ` + order + `)) s
		WHERE n = 1 OR bytes <= ` + most + ` ORDER BY ` + order
}

// TaskDetail returns a task of a pipeline of the organization with all that
// happened to it; NotFound otherwise.
func (s *Store) TaskDetail(ctx context.Context, orgID, pipelineID, taskID int64) (TaskDetail, error) {
	t, err := s.Task(ctx, orgID, pipelineID, taskID)
	if err != nil {
		return TaskDetail{}, err
	}
	d := TaskDetail{Task: t}
	err = s.pool.QueryRow(ctx, `SELECT t.version_id, v.number, p.name, t.priority, t.input, `+heldSQL("t")+`, t.touched FROM tasks t
		JOIN pipelines p ON p.id = t.pipeline_id JOIN pipeline_versions v ON v.id = t.version_id
		WHERE t.id = $1 AND t.org_id = $2`, taskID, orgID).
		Scan(&d.VersionID, &d.VersionNumber, &d.PipelineName, &d.Priority, &d.Input, &d.Held, &d.Touched)
	if err != nil {
		return TaskDetail{}, translate(err)
	}
	rows, _ := s.pool.Query(ctx, `SELECT key, kind, status, iteration, claimed_by, lease_expires_at, reserved_for, reserved_until,
			coalesce(status = 'available' AND reserved_until > now(), false) AS reserved_now,
			status = 'claimed' AND lease_expires_at <= now() AS lapsed, coalesce(`+lapsedOfSQL+`, false) AS free,
			sla_at, reason FROM task_nodes n WHERE task_id = $1 AND org_id = $2 ORDER BY key`, taskID, orgID)
	if d.Nodes, err = pgx.CollectRows(rows, pgx.RowToStructByName[NodeDetail]); err != nil {
		return TaskDetail{}, translate(err)
	}
	rows, _ = s.pool.Query(ctx, `SELECT e.seq, e.kind, e.node_key, e.iteration, e.actor, e.outcome, e.reason, e.created_at
		FROM task_events e JOIN tasks t ON t.id = e.task_id AND t.org_id = $2
		WHERE e.task_id = $1 ORDER BY e.seq DESC LIMIT $3`, taskID, orgID, maxTimeline)
	if d.Events, err = pgx.CollectRows(rows, pgx.RowToStructByName[EventDetail]); err != nil {
		return TaskDetail{}, translate(err)
	}
	rows, _ = s.pool.Query(ctx, timelineSQL, taskID, orgID, maxTimeline, timelineBytes)
	if d.Submissions, err = pgx.CollectRows(rows, pgx.RowToStructByName[SubmissionDetail]); err != nil {
		return TaskDetail{}, translate(err)
	}
	d.Answers, err = s.peoplesAnswers(ctx, Claim{OrgID: orgID, VersionID: d.VersionID, TaskID: taskID})
	return d, translate(err)
}

// peoplesAnswers are those of a task that people gave: what counts of all that was handed
// in, as it counts for the task's way.
func (s *Store) peoplesAnswers(ctx context.Context, c Claim) (form.Values, error) {
	p, known, err := s.claimAnswers(ctx, c)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range p.Seed.Fields() {
		if f.Input == form.Contributor {
			names = append(names, f.Name)
		}
	}
	return only(known.values, names), nil
}
