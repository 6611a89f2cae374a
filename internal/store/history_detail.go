package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/taskloom/taskloom/internal/form"
	"github.com/taskloom/taskloom/internal/pipeline"
)

// DoneDetail is something that a person handed in, with its content.
type DoneDetail struct {
	Done
	// Values are what the form shows, with what was handed in.
	Values   form.Values
	Comments []Comment
	// Reviews are the verdicts on it, oldest first.
	Reviews []Judgement
}

// Judgement is a verdict on a submission.
type Judgement struct {
	Verdict  string
	Comments []Comment
	Values   form.Values
	At       time.Time
}

const doneSQL = `SELECT ` + doneColumns + `, now() < s.created_at + $3::interval AS recent FROM submissions s
    JOIN tasks t ON t.id = s.task_id AND t.org_id = s.org_id
    JOIN pipelines p ON p.id = t.pipeline_id AND p.org_id = t.org_id
    JOIN task_nodes n ON n.task_id = s.task_id AND n.key = s.node_key
    WHERE s.claim_id = $1 AND s.author = $2 AND ` + memberSQL

// Submission returns what the person handed in under a claim; NotFound when it
// is not theirs, or where they no longer belong.
func (s *Store) Submission(ctx context.Context, userID int64, claimID string) (DoneDetail, error) {
	if _, ok := taskOfClaim(claimID); !ok {
		return DoneDetail{}, claimNotFound(claimID)
	}
	rows, _ := s.pool.Query(ctx, doneSQL, claimID, userID, UndoWindow)
	one, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Done])
	if errors.Is(err, pgx.ErrNoRows) {
		return DoneDetail{}, claimNotFound(claimID)
	}
	if err != nil {
		return DoneDetail{}, translate(err)
	}
	items := []Done{one}
	if err := s.became(ctx, items); err != nil {
		return DoneDetail{}, err
	}
	d := DoneDetail{Done: items[0]}
	err = s.content(ctx, &d)
	return d, translate(err)
}

// content fills in what the form showed when it was handed in, and what
// reviews said since.
func (s *Store) content(ctx context.Context, d *DoneDetail) error {
	p, err := s.Version(ctx, d.VersionID)
	if err != nil {
		return err
	}
	var input, values form.Values
	err = s.pool.QueryRow(ctx, `SELECT t.input, s.values, s.comments FROM submissions s JOIN tasks t ON t.id = s.task_id AND t.org_id = s.org_id
		WHERE s.claim_id = $1 AND s.org_id = $2`, d.ClaimID, d.OrgID).Scan(&input, &values, &d.Comments)
	if err != nil {
		return err
	}
	all, err := rounds(ctx, s.pool, d.OrgID, d.TaskID)
	if err != nil {
		return err
	}
	var then []submission
	for _, r := range all {
		if r.Seq < d.Seq {
			then = append(then, r.submission)
		}
	}
	known := answers(p, input, then)
	if d.Kind == pipeline.KindSubtask {
		d.Values = only(known, shown(p.Form(d.Node)))
		d.Reviews = judgements(p, all, d.Done)
		maps.Copy(d.Values, values)
		return nil
	}
	if len(values) > 0 {
		node, _ := p.Node(d.Node)
		var targets []string
		for _, t := range node.Reviews {
			targets = append(targets, t.Node)
		}
		correct(p, d.Node, known, values, targets)
	}
	d.Values = underReview(p, d.Node, known)
	return nil
}

// underReview keeps the values on the forms that a review checks.
func underReview(p *pipeline.Pipeline, review string, values form.Values) form.Values {
	out := form.Values{}
	node, _ := p.Node(review)
	for _, t := range node.Reviews {
		maps.Copy(out, ownFields(p, t.Node, values))
	}
	return out
}

// judgements lists the verdicts on a subtask's submission, up to its next one.
func judgements(p *pipeline.Pipeline, all []round, d Done) []Judgement {
	var out []Judgement
	for _, r := range all {
		switch {
		case d.UndoneAt != nil, r.Seq <= d.Seq:
			continue
		case r.Node == d.Node:
			return out
		case !reviews(p, r.Node, d.Node), r.Verdict == VerdictReject && len(r.Returned) > 0 && !slices.Contains(r.Returned, d.Node):
			continue
		}
		out = append(out, Judgement{
			Verdict: r.Verdict, Comments: about(r.Comments, d.Node), Values: ownFields(p, d.Node, r.Values), At: r.CreatedAt,
		})
	}
	return out
}
