package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/pipeline"
)

// round is a submission with what the journal says that it sent back.
type round struct {
	submission

	Returned []string `db:"returned"`
}

// rounds returns all that was handed in for a task and not taken back, in the
// order it was made.
func rounds(ctx context.Context, q querier, orgID, taskID int64) ([]round, error) {
	rows, _ := q.Query(ctx, `SELECT s.node_key, s.iteration, s.author, s.verdict, s.values, s.comments, s.seq, s.created_at, e.returned
		FROM submissions s JOIN task_events e ON e.task_id = s.task_id AND e.seq = s.seq
		WHERE s.task_id = $1 AND s.org_id = $2 AND s.undone_at IS NULL ORDER BY s.seq`, taskID, orgID)
	return pgx.CollectRows(rows, pgx.RowToStructByName[round])
}

// attempts lists what was handed in for a subtask before a round of it, with
// the rejections between.
func attempts(p *pipeline.Pipeline, all []round, node string, before int) []Attempt {
	var out []Attempt
	for i, r := range all {
		if r.Node != node || r.Iteration >= before {
			continue
		}
		a := Attempt{Author: r.Author, Iteration: r.Iteration, Values: r.Values, At: r.CreatedAt}
		for _, later := range all[i+1:] {
			if later.Node == node {
				break
			}
			if later.sentBack(p, node) {
				a.Verdict, a.Comments = later.Verdict, about(later.Comments, node)
				break
			}
		}
		out = append(out, a)
	}
	return out
}

// sentBack reports whether the submission is a verdict that returned the
// subtask.
func (r round) sentBack(p *pipeline.Pipeline, node string) bool {
	return r.Verdict == VerdictReject && reviews(p, r.Node, node) &&
		(len(r.Returned) == 0 || slices.Contains(r.Returned, node))
}

// about keeps the comments on a subtask, and those on the work as a whole.
func about(comments []Comment, node string) []Comment {
	var out []Comment
	for _, c := range comments {
		if c.Node == "" || c.Node == node {
			out = append(out, c)
		}
	}
	return out
}

// own keeps a person's attempts.
func own(all []Attempt, userID int64) []Attempt {
	return slices.DeleteFunc(all, func(a Attempt) bool { return a.Author != userID })
}
