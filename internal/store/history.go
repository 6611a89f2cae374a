package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/task"
)

// Done is something that a person handed in, with what became of it.
type Done struct {
	ClaimID    string        `db:"claim_id"`
	OrgID      int64         `db:"org_id"`
	PipelineID int64         `db:"pipeline_id"`
	VersionID  int64         `db:"version_id"`
	TaskID     int64         `db:"task_id"`
	Pipeline   string        `db:"pipeline"`
	Node       string        `db:"node_key"`
	Title      string        `db:"-"`
	Kind       pipeline.Kind `db:"kind"`
	Iteration  int           `db:"iteration"`
	Verdict    string        `db:"verdict"`
	At         time.Time     `db:"created_at"`
	Outcome    Outcome       `db:"-"`
	// UndoUntil is nil when it cannot be undone.
	UndoUntil *time.Time `db:"-"`

	Seq      int64           `db:"seq"`
	UndoneAt *time.Time      `db:"undone_at"`
	Recent   bool            `db:"recent"` // within UndoWindow
	Status   task.NodeStatus `db:"status"` // of the node now
	Round    int             `db:"round"`  // of the node now
}

// HistoryQuery selects a page of what a person handed in, newest first.
type HistoryQuery struct {
	UserID int64
	// PipelineID asks for one pipeline's; 0 for all.
	PipelineID int64
	// Before is the time that the page starts below; zero starts at the newest.
	Before time.Time
	// Limit is the most rows to return, at least 1. What was handed in at the
	// same microsecond as the last row comes with it.
	Limit int
}

// HistoryPage is a page of it; More says whether older ones may follow, which start below
// Next. It may hold less than the limit, or nothing, when much is from other pipelines.
type HistoryPage struct {
	Items []Done
	More  bool
	Next  time.Time
}

// historyFar is how many submissions one page goes by, whatever they are from.
const historyFar = 5000

const doneColumns = `s.claim_id::text AS claim_id, s.org_id, t.pipeline_id, t.version_id, s.task_id, p.name AS pipeline, s.node_key,
    n.kind, s.iteration, s.verdict, s.created_at, s.seq, s.undone_at, n.status, n.iteration AS round`

// historySQL walks down a person's submissions by their index. The LIMITs keep
// the planner from reading whole tables to join them, the CASE from believing
// that hardly any match, whence it would rather sort them all. $1 user, $2
// before (null: from the newest), $3 the pipelines to look at, $4 limit, $5 UndoWindow,
// $6 historyFar.
const historySQL = `SELECT ` + doneColumns + `, now() < s.created_at + $5::interval AS recent
    FROM (SELECT * FROM submissions s WHERE s.author = $1 AND s.created_at < coalesce($2, 'infinity'::timestamptz)
        ORDER BY s.created_at DESC FETCH FIRST $6 ROWS WITH TIES) s
    CROSS JOIN LATERAL (SELECT t.pipeline_id, t.version_id FROM tasks t WHERE t.id = s.task_id AND t.org_id = s.org_id LIMIT 1) t
    CROSS JOIN LATERAL (SELECT p.name FROM pipelines p WHERE p.id = t.pipeline_id AND p.org_id = s.org_id LIMIT 1) p
    CROSS JOIN LATERAL (SELECT n.kind, n.status, n.iteration FROM task_nodes n WHERE n.task_id = s.task_id AND n.key = s.node_key LIMIT 1) n
    WHERE CASE WHEN t.pipeline_id = ANY ($3) THEN true END
    ORDER BY s.created_at DESC FETCH FIRST $4 ROWS WITH TIES`

// historyEndSQL is where such a walk ends, unless everything does; $3 is one less than it
// goes by.
const historyEndSQL = `SELECT s.created_at FROM submissions s WHERE s.author = $1 AND s.created_at < coalesce($2, 'infinity'::timestamptz)
    ORDER BY s.created_at DESC OFFSET $3 LIMIT 1`

// History returns a page of what the person handed in, in the pipelines that
// they still belong to.
func (s *Store) History(ctx context.Context, q HistoryQuery) (HistoryPage, error) {
	places, err := s.workplaces(ctx, q.UserID, q.PipelineID)
	if err != nil {
		return HistoryPage{}, translate(err)
	}
	// One row more tells whether there is another page.
	rows, _ := s.pool.Query(ctx, historySQL, q.UserID, nullTime(q.Before), places, q.Limit+1, UndoWindow, historyFar)
	items, err := pgx.CollectRows(rows, pgx.RowToStructByName[Done])
	if err != nil {
		return HistoryPage{}, translate(err)
	}
	page := HistoryPage{Items: items}
	if len(items) > q.Limit {
		page = cutPage(items, q.Limit)
	} else if err := s.goesOn(ctx, q, &page); err != nil {
		return HistoryPage{}, translate(err)
	}
	return page, s.became(ctx, page.Items)
}

// goesOn says where the page after one that is not full starts, when there are more
// submissions than it went by.
func (s *Store) goesOn(ctx context.Context, q HistoryQuery, page *HistoryPage) error {
	err := s.pool.QueryRow(ctx, historyEndSQL, q.UserID, nullTime(q.Before), historyFar-1).Scan(&page.Next)
	if noRows(err) {
		return nil
	}
	page.More = err == nil
	// What was handed in this moment is newer, and may have moved the end into the page.
	if n := len(page.Items); n > 0 && page.Items[n-1].At.Before(page.Next) {
		page.Next = page.Items[n-1].At
	}
	return err
}

// cutPage takes as many rows as fit, and those of the last one's time: the next
// page starts below it.
func cutPage(items []Done, limit int) HistoryPage {
	last := items[limit-1].At
	for limit < len(items) && items[limit].At.Equal(last) {
		limit++
	}
	return HistoryPage{Items: items[:limit], More: true, Next: last}
}

// workplaces lists the pipelines that the person belongs to: all, or the one.
func (s *Store) workplaces(ctx context.Context, userID, pipelineID int64) ([]int64, error) {
	rows, _ := s.pool.Query(ctx, `SELECT p.id FROM org_members om JOIN pipelines p ON p.org_id = om.org_id
		LEFT JOIN project_members pm ON pm.org_id = p.org_id AND pm.project_id = p.project_id AND pm.user_id = om.user_id
		WHERE om.user_id = $1 AND om.removed_at IS NULL AND (om.role = 'org_admin' OR pm.user_id IS NOT NULL)`, userID)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if pipelineID != 0 {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return id != pipelineID })
	}
	return ids, err
}

// became fills in titles, outcomes and until when each can be undone.
func (s *Store) became(ctx context.Context, items []Done) error {
	tasks := make([]int64, len(items))
	orgs := make([]int64, len(items))
	for i, d := range items {
		tasks[i], orgs[i] = d.TaskID, d.OrgID
	}
	approvals, err := s.approvals(ctx, orgs, tasks)
	if err != nil {
		return translate(err)
	}
	for i := range items {
		d := &items[i]
		p, err := s.Version(ctx, d.VersionID)
		if err != nil {
			return err
		}
		node, _ := p.Node(d.Node)
		d.Title = node.Title
		d.Outcome = d.outcome(p, approvals[d.TaskID])
		if !d.Recent || d.UndoneAt != nil || d.Status != task.NodeSubmitted {
			continue
		}
		c := Claim{ID: d.ClaimID, OrgID: d.OrgID, VersionID: d.VersionID, TaskID: d.TaskID, Node: d.Node}
		if d.UndoUntil, err = s.undoUntil(ctx, c, d.Seq, d.At); err != nil {
			return err
		}
	}
	return nil
}

// approval is the newest one by a review of a task: of those that corrected a field, or of
// those that corrected nothing.
type approval struct {
	TaskID int64  `db:"task_id"`
	Node   string `db:"node_key"` // the review
	Field  string `db:"field"`    // "" where nothing was corrected
	Seq    int64  `db:"seq"`
}

// approvals returns the approvals of the tasks that stand, as far as outcomes need them: the
// newest ones, however many there were. What they say, which may be megabytes each, stays in
// Postgres.
func (s *Store) approvals(ctx context.Context, orgs, tasks []int64) (map[int64][]approval, error) {
	rows, _ := s.pool.Query(ctx, `SELECT s.task_id, s.node_key, coalesce(k.field, '') AS field, max(s.seq) AS seq
		FROM submissions s LEFT JOIN LATERAL jsonb_object_keys(s.values) AS k (field) ON true
		WHERE s.task_id = ANY ($1) AND s.org_id = ANY ($2) AND s.verdict = 'approve' AND s.undone_at IS NULL
		GROUP BY s.task_id, s.node_key, k.field`, tasks, orgs)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[approval])
	out := map[int64][]approval{}
	for _, a := range all {
		out[a.TaskID] = append(out[a.TaskID], a)
	}
	return out, err
}
