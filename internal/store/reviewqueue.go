package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// ReviewQuery selects a page of the reviews that wait.
type ReviewQuery struct {
	// ByContributor orders by who did the work instead of by how long the
	// reviews wait.
	ByContributor bool
	// Contributor keeps the work of one person; 0 takes everybody's. Their
	// oldest task comes first.
	Contributor int64
	Limit       int
	// After is where the page before ended; zero starts at the front.
	After ReviewPosition
}

// Filter is all but the position, as a text: pages of one list share it.
func (q ReviewQuery) Filter() string {
	return fmt.Sprintf("reviews by_contributor=%v contributor=%d", q.ByContributor, q.Contributor)
}

// ReviewPosition is a place in the list: the waiting time or the person that
// orders it, then task and node.
type ReviewPosition struct {
	Opened time.Time `json:"o,omitzero"`
	Actor  int64     `json:"a,omitempty"`
	TaskID int64     `json:"t"`
	Node   string    `json:"n"`
}

// QueuedReview is a review that waits for a verdict.
type QueuedReview struct {
	TaskID int64
	Node   string
	Title  string
	// Since is when it began to wait.
	Since     time.Time
	Iteration int
	// Contributor is who did the reviewed work, 0 for nobody.
	Contributor int64
	// With is who holds it or for whom it is kept, 0 for nobody; Held tells the
	// two apart.
	With int64
	Held bool
}

// ReviewPage is a page of the list; Next is nil at its end.
type ReviewPage struct {
	Reviews []QueuedReview
	Next    *ReviewPosition
}

// reviewRow is a review as a query finds it, with the place in the list. For a
// list by contributor, Target is the subtask that it was found by. One that is Hidden
// keeps the walk's place, and nobody sees it.
type reviewRow struct {
	TaskID    int64
	Node      string
	Target    string
	Actor     int64
	Opened    time.Time
	Iteration int
	VersionID int64
	With      int64
	Held      bool
	Hidden    bool
}

// reviewColumns are those of reviewRow, but for Hidden, from the review n, the subtask %s
// and its actor %s.
const reviewColumns = `n.task_id, n.key, %s, %s, n.opened_at, n.iteration, t.version_id,
	coalesce(CASE WHEN n.status = 'claimed' AND n.lease_expires_at > now() THEN n.claimed_by
		WHEN n.status = 'available' AND n.reserved_until > now() THEN n.reserved_for END, 0),
	n.status = 'claimed' AND n.lease_expires_at > now()`

// The lists, from $4 on: the position, and in the end how many rows. $3 is the
// reader: what four eyes keep from them is hidden.
var (
	reviewsByAgeSQL = `SELECT ` + fmt.Sprintf(reviewColumns, `''`, `0::bigint`) + `, t.held OR NOT ` + notTheirsSQL + `
		FROM task_nodes n JOIN tasks t ON t.id = n.task_id
		WHERE n.pipeline_id = $1 AND n.org_id = $2 AND n.kind = 'review' AND n.status IN ('available', 'claimed')
			AND (n.opened_at, n.task_id, n.key) > ($4, $5, $6)
		ORDER BY n.opened_at, n.task_id, n.key LIMIT $7`

	reviewsByActorSQL = reviewsBySQL(`(s.actor, s.task_id, s.key) > ($4, $5, $6)`)
	reviewsOfActorSQL = reviewsBySQL(`s.actor = $4 AND (s.task_id, s.key) > ($5, $6)`)
)

// reviewsBySQL walks along the submitted work and joins the open reviews of
// its task; a row without a review is hidden.
func reviewsBySQL(from string) string {
	return `SELECT w.task_id, coalesce(r.key, ''), w.key, w.actor, coalesce(r.opened_at, 'epoch'), coalesce(r.iteration, 0),
			coalesce(r.version_id, 0), coalesce(r.who, 0), coalesce(r.held, false), r.key IS NULL
		FROM (SELECT s.task_id, s.key, s.actor FROM task_nodes s
			WHERE s.pipeline_id = $1 AND s.org_id = $2 AND s.kind = 'subtask' AND s.status = 'submitted' AND ` + from + `
			ORDER BY s.actor, s.task_id, s.key LIMIT $7) w
		LEFT JOIN LATERAL (SELECT ` + fmt.Sprintf(reviewColumns, `w.key`, `w.actor`) + `
			FROM task_nodes n JOIN tasks t ON t.id = n.task_id
			WHERE n.task_id = w.task_id AND n.kind = 'review' AND n.status IN ('available', 'claimed') AND NOT t.held AND ` + notTheirsSQL + `
		) r(task_id, key, target, actor, opened_at, iteration, version_id, who, held) ON true
		ORDER BY w.actor, w.task_id, w.key, r.key`
}

// reviewSteps is how much one page looks through at most, a list by age behind as many as
// it shows: not all submitted work has an open review, and not every review is for everybody.
var reviewSteps = []int{200, 2_000, 8_000}

// ReviewQueue lists the reviews of the member's pipeline that wait for a
// verdict: free ones, and those that somebody holds.
func (s *Store) ReviewQueue(ctx context.Context, m Member, q ReviewQuery) (ReviewPage, error) {
	return s.reviewQueue(ctx, m, q, reviewSteps)
}

func (s *Store) reviewQueue(ctx context.Context, m Member, q ReviewQuery, steps []int) (ReviewPage, error) {
	out := ReviewPage{Reviews: []QueuedReview{}}
	sql := reviewsByActorSQL
	if q.Contributor == 0 && !q.ByContributor {
		steps, sql = append([]int{q.Limit + 1}, steps...), reviewsByAgeSQL
	}
	at := q.After
	for _, step := range steps {
		args := []any{m.PipelineID, m.OrgID, m.UserID, at.Opened, at.TaskID, at.Node, step}
		switch {
		case q.Contributor != 0:
			sql, args[3] = reviewsOfActorSQL, q.Contributor
		case q.ByContributor:
			args[3] = at.Actor
		}
		rows, _ := s.pool.Query(ctx, sql, args...)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[reviewRow])
		if err != nil {
			return out, translate(err)
		}
		more, err := s.addReviews(ctx, m.OrgID, q, at, found, &out)
		if err != nil || more {
			return out, err
		}
		if walked(found) < step {
			out.Next = nil
			return out, nil
		}
		at = position(found[len(found)-1])
		out.Next = &at
	}
	return out, nil
}

// walked counts the places that the rows took, not the reviews found there.
func walked(rows []reviewRow) int {
	n := 0
	for i, r := range rows {
		if i == 0 || r.Target == "" || r.TaskID != rows[i-1].TaskID || r.Target != rows[i-1].Target {
			n++
		}
	}
	return n
}

func position(r reviewRow) ReviewPosition {
	if r.Target != "" {
		return ReviewPosition{Actor: r.Actor, TaskID: r.TaskID, Node: r.Target}
	}
	return ReviewPosition{Opened: r.Opened, TaskID: r.TaskID, Node: r.Node}
}

// addReviews puts the rows behind last that belong there onto the page. It reports whether
// the page is full and more follows; Next then says where.
func (s *Store) addReviews(
	ctx context.Context, orgID int64, q ReviewQuery, last ReviewPosition, rows []reviewRow, out *ReviewPage,
) (more bool, err error) {
	actors, err := s.submitters(ctx, orgID, rows)
	if err != nil {
		return false, err
	}
	for i, r := range rows {
		// All reviews that were found at one place go on one page.
		if same := i > 0 && position(rows[i-1]) == position(r); len(out.Reviews) >= q.Limit && !same {
			out.Next = &last
			return true, nil
		}
		last = position(r)
		if r.Hidden {
			continue
		}
		p, err := s.Version(ctx, r.VersionID)
		if err != nil {
			return false, err
		}
		node, _ := p.Node(r.Node)
		target := reviewedBy(node, actors[r.TaskID], q.Contributor)
		if r.Target != "" && r.Target != target {
			continue // listed where its first subtask is
		}
		out.Reviews = append(out.Reviews, QueuedReview{
			TaskID: r.TaskID, Node: r.Node, Title: node.Title, Since: r.Opened, Iteration: r.Iteration,
			Contributor: actors[r.TaskID][target], With: r.With, Held: r.Held,
		})
	}
	return false, nil
}

// reviewedBy is the first subtask under review that somebody, or the one
// person, submitted; "" when none is.
func reviewedBy(review pipeline.Node, actors map[string]int64, person int64) string {
	i := slices.IndexFunc(review.Reviews, func(t pipeline.Target) bool {
		actor, ok := actors[t.Node]
		return ok && (person == 0 || actor == person)
	})
	if i < 0 {
		return ""
	}
	return review.Reviews[i].Node
}

// submitters tells who did the work that waits for a verdict, by task and node.
func (s *Store) submitters(ctx context.Context, orgID int64, rows []reviewRow) (map[int64]map[string]int64, error) {
	var ids []int64
	for _, r := range rows {
		if !r.Hidden {
			ids = append(ids, r.TaskID)
		}
	}
	found, _ := s.pool.Query(ctx, `SELECT task_id, key, actor FROM task_nodes
		WHERE task_id = ANY ($1) AND org_id = $2 AND kind = 'subtask' AND status = 'submitted' AND actor IS NOT NULL`, ids, orgID)
	out := map[int64]map[string]int64{}
	var taskID, actor int64
	var key string
	_, err := pgx.ForEachRow(found, []any{&taskID, &key, &actor}, func() error {
		if out[taskID] == nil {
			out[taskID] = map[string]int64{}
		}
		out[taskID][key] = actor
		return nil
	})
	return out, translate(err)
}
