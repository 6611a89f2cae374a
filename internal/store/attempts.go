package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// round is a submission with what the journal says that it sent back, and without what its
// author wrote: that may be megabytes, and a task may have hundreds of rounds. contents
// reads it of those that are shown.
type round struct {
	Node      string    `db:"node_key"`
	Iteration int       `db:"iteration"`
	Author    int64     `db:"author"`
	Verdict   string    `db:"verdict"`
	Seq       int64     `db:"seq"`
	CreatedAt time.Time `db:"created_at"`
	Returned  []string  `db:"returned"`
	Corrects  bool      `db:"corrects"` // it is a review's, with corrections
}

// rounds returns all that was handed in for a task and not taken back, in the
// order it was made.
func rounds(ctx context.Context, q querier, orgID, taskID int64) ([]round, error) {
	rows, _ := q.Query(ctx, `SELECT s.node_key, s.iteration, s.author, s.verdict, s.seq, s.created_at, e.returned,
			s.verdict <> '' AND s.values <> '{}' AS corrects
		FROM submissions s JOIN task_events e ON e.task_id = s.task_id AND e.seq = s.seq
		WHERE s.task_id = $1 AND s.org_id = $2 AND s.undone_at IS NULL ORDER BY s.seq`, taskID, orgID)
	return pgx.CollectRows(rows, pgx.RowToStructByName[round])
}

// attempt is a round of a subtask and the rejection that returned it, which is empty when
// an admin reopened the node instead.
type attempt struct {
	round

	rejection round
}

// attempts lists what was handed in for a subtask before a round of it, with
// the rejections between.
func attempts(p *pipeline.Pipeline, all []round, node string, before int) []attempt {
	var out []attempt
	for i, r := range all {
		if r.Node != node || r.Iteration >= before {
			continue
		}
		a := attempt{round: r}
		for _, later := range all[i+1:] {
			if later.Node == node {
				break
			}
			if later.sentBack(p, node) {
				a.rejection = later
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
func own(all []attempt, userID int64) []attempt {
	return slices.DeleteFunc(all, func(a attempt) bool { return a.Author != userID })
}

// piece is something of a history to read: the values of one submission and the comments of
// another, or its own, by their numbers. newer is how many of the same list are newer.
type piece struct {
	values, comments int64
	newer            int
}

// pieces are what to read of a list of attempts, oldest first.
func pieces(list []attempt) []piece {
	out := make([]piece, len(list))
	for i, a := range list {
		out[i] = piece{values: a.Seq, comments: a.rejection.Seq, newer: len(list) - 1 - i}
	}
	return out
}

// content is what people wrote: a piece that was read.
type content struct {
	Seq      int64       `db:"seq"` // of the values
	Values   form.Values `db:"values"`
	Comments []Comment   `db:"comments"`
}

// contentsSQL reads pieces in the order they are named in: $1 task, $2 organization, $3 whose
// values, $4 whose comments, $5 bytes. The comments of one rejection count for each of the
// subtasks that it returned, since they are shown with each.
var contentsSQL = newestSQL(`seq, values, comments`, `place`, `$5`, `SELECT v.seq, v.values, coalesce(c.comments, '[]') AS comments, o.place
	FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS o (said, answered, place)
	JOIN submissions v ON v.task_id = $1 AND v.org_id = $2 AND v.seq = o.said
	LEFT JOIN submissions c ON c.task_id = $1 AND c.org_id = $2 AND c.seq = o.answered`)

// contents reads pieces of a task's history, by the number of the submission that has the
// values. It reads as much as a task's page shows, the newest of each list before older
// ones; the others are missing, as they are there. The first is whole in any case.
func contents(ctx context.Context, q querier, orgID, taskID int64, all []piece) (map[int64]content, error) {
	out := map[int64]content{}
	if len(all) == 0 {
		return out, nil
	}
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.newer, b.newer), cmp.Compare(b.values, a.values))
	})
	var values, comments []int64
	for _, one := range all[:min(len(all), maxTimeline)] {
		values, comments = append(values, one.values), append(comments, one.comments)
	}
	rows, _ := q.Query(ctx, contentsSQL, taskID, orgID, values, comments, timelineBytes)
	read, err := pgx.CollectRows(rows, pgx.RowToStructByName[content])
	for _, c := range read {
		out[c.Seq] = c
	}
	return out, err
}

// shownAttempts are those of a list that were read.
func shownAttempts(list []attempt, read map[int64]content) []Attempt {
	var out []Attempt
	for _, a := range list {
		if c, ok := read[a.Seq]; ok {
			out = append(out, Attempt{
				Author: a.Author, Iteration: a.Iteration, Values: c.Values, At: a.CreatedAt,
				Verdict: a.rejection.Verdict, Comments: about(c.Comments, a.Node),
			})
		}
	}
	return out
}
